/** The golden kernels of the interpreter, with their numbers, as the CPU runs them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseModule } from '../../src/ir/parser.js';
import { casesOf, expectedOutputs, runGolden } from '../support/golden-run.js';
import { describeTool } from '../support/tools.js';

const folder = join(import.meta.dirname, '../golden/interpret');

describeTool('mlir', 'golden kernels on the CPU', () => {
  const cases = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return casesOf(text.slice(text.indexOf('\n') + 1)).map((c) => {
      const [kernel] = parseModule(c.text, file).module!.kernels;
      return { name: `${file}, ${kernel!.name}`, text: c.text, kernel: kernel! };
    });
  });

  test.each(cases)('$name', async ({ kernel, text }) => {
    const outputs = await runGolden(kernel, text);
    if (outputs) expect(outputs).toEqual(expectedOutputs(text));
  });
});
