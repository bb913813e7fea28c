import { describe, expect, test } from '@jest/globals';
import { fromNumbers, makeNdArray, toRegisters } from '../../src/api/nd-array.js';
import { dtypes } from '../../src/ir/dtypes.js';
import { type Buffer, interpretKernel } from '../../src/ir/interpreter/index.js';
import { parseModule } from '../../src/ir/parser.js';
import { runPasses } from '../../src/ir/pass.js';
import { loweringPipeline, passRegistry } from '../../src/ir/passes/index.js';
import { walk } from '../../src/ir/walk.js';

const [expand] = passRegistry.get('expand')!;

/** Values and positions of a sort of `n` of the block's elements, as it is and out of simpler ops. */
function sorted(
  dtype: 'f32' | 'i32' | 'u8' | 'bool',
  x: readonly number[],
  block: number,
  attrs: string,
  keep = block,
) {
  const text = `kernel @k { dim n in %x: ref<gmem ${dtype}[n, 2]> out %y: ref<gmem ${dtype}[${keep}, 2]>
    out %p: ref<gmem i32[${keep}, 2]> launch @k grid() {
    %c0 = constant {value = 0} : i32 %two = constant {value = 2} : i32 %n = dim {name = "n"} : i32
    %v = load %x index(%c0, %c0) valid(%n, %two) : ${dtype}[${block}, 2]
    %s, %q = sort %v {axis = 0${attrs}} : ${dtype}[${keep}, 2], i32[${keep}, 2]
    store %y, %s index(%c0, %c0) store %p, %q index(%c0, %c0) } }`;
  const { module, diagnostics } = parseModule(text, 'k.kir');
  expect(diagnostics).toEqual([]);
  const [kernel] = module!.kernels;
  const expanded = runPasses(kernel!, [...loweringPipeline, expand!, passRegistry.get('dce')![0]!]);
  walk(expanded.launches[0]!.body, (op) => expect(op.name).not.toBe('sort'));
  return [kernel!, expanded].map((k) => {
    const [y, p] = [makeNdArray(dtypes[dtype], [keep, 2]), makeNdArray(dtypes.i32, [keep, 2])];
    const arrays = { x: fromNumbers(dtypes[dtype], [x.length / 2, 2], x), y, p };
    interpretKernel(k, {
      dims: new Map([['n', x.length / 2]]),
      scalars: new Map(),
      arrays: new Map(Object.entries(arrays)) as ReadonlyMap<string, Omit<Buffer, 'name'>>,
    });
    const valid = Math.min(keep, attrs.includes('keep') ? keep : x.length / 2) * 2;
    return [y, p].map((a) => [...toRegisters(a)].slice(0, valid));
  });
}

describe('a sort out of choices and comparisons', () => {
  const values = (n: number): number[] => Array.from({ length: 2 * n }, (_, i) => ((i * 31) % 17) - 8);
  test.each([
    [1, 1],
    [2, 2],
    [5, 5],
    [5, 8],
    [16, 16],
    [13, 37],
  ])('%i elements of %i', (n, block) => {
    for (const attrs of ['', ', descending = true']) {
      const [before, after] = sorted('f32', values(n), block, attrs);
      expect(after).toEqual(before);
    }
  });

  test('equal values, NaN, zeros and the ends of integers', () => {
    const special = [Number.NaN, 0, 1, -0, Number.NaN, 0, 1, -0, -Infinity, Infinity, 0, Number.NaN, 1, 1];
    for (const attrs of ['', ', descending = true', ', descending = true, keep = 5', ', keep = 8']) {
      const keep = Number(/keep = (\d)/.exec(attrs)?.[1] ?? 8);
      const [before, after] = sorted('f32', special, 8, attrs, keep);
      expect(after).toEqual(before);
      const [integers, network] = sorted('i32', [2 ** 31 - 1, -(2 ** 31), 5, 5, -1, 2 ** 31 - 1, 5, 0], 8, attrs, keep);
      expect(network).toEqual(integers);
      const [bytes, small] = sorted('u8', [255, 0, 3, 255, 0, 3], 8, attrs, keep);
      expect(small).toEqual(bytes);
      const [flags, bits] = sorted('bool', [1, 0, 0, 1, 1, 1, 0, 0], 8, attrs, keep);
      expect(bits).toEqual(flags);
    }
  });
});
