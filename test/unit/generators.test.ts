/** What the generators of random kernels reach. */

import { expect, test } from '@jest/globals';
import { opNames } from '../../src/ir/ops/index.js';
import { warpgroupOpNames } from '../../src/ir/ops/warpgroup.js';
import { walk } from '../../src/ir/walk.js';
import { randomKernel } from '../support/random-kernel.js';
import { randomProgram } from '../support/random-program.js';

test('random kernels have every op of the table but those of explicit programs', () => {
  const seen = new Set<string>();
  const look = ({ kernel }: { readonly kernel: ReturnType<typeof randomKernel>['kernel'] }): void => {
    for (const { body } of kernel.launches) walk(body, (op) => seen.add(op.name));
  };
  for (let seed = 0; seed < 300; seed++) look(randomKernel(seed, 14));
  for (let seed = 0; seed < 20; seed++) look(randomProgram(seed, 12));
  expect(opNames.filter((name) => !seen.has(name) && !warpgroupOpNames.has(name))).toEqual([]);
});
