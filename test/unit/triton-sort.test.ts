import { expect, test } from '@jest/globals';
import { array, blockProgram, dim, ds, f32, grid, i32, kernel, sort, topK } from 'tilewright';
import { runPasses } from '../../src/ir/pass.js';
import { loweringPipeline } from '../../src/ir/passes/index.js';
import { findGpuTarget } from '../../src/lowering/gpu-target.js';
import { lowerToTriton } from '../../src/lowering/triton/index.js';

test('a sort is a network of choices in Triton, which has no op for it', () => {
  const n = dim('n');
  const k = kernel('sorted', {}, () =>
    blockProgram(
      {
        grid: grid({}),
        inputs: { x: array(f32, [n]) },
        outputs: { y: array(f32, [n]), p: array(i32, [n]), t: array(f32, [4]) },
      },
      ({ x, y, p, t }) => {
        const block = x.at(ds(0, 16)).load();
        const { values, positions } = sort(block, 0);
        y.at(ds(0, 16)).store(values);
        p.at(ds(0, 16)).store(positions);
        t.store(topK(block, 4, 0).values);
      },
    ),
  );
  const lowered = runPasses(k.trace().kernel, loweringPipeline);
  const [launch] = lowerToTriton(lowered, { target: findGpuTarget('sm_90a')! });
  // 4 + 3 + 2 + 1 rounds, of values and positions each, twice; and the first four of the second sort.
  expect(launch!.text.match(/tt\.gather/g)!.length).toBeGreaterThanOrEqual(40);
});
