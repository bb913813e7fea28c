import { describe, expect, test } from '@jest/globals';
import {
  array,
  blockProgram,
  blockSpec,
  cdiv,
  choice,
  dim,
  dtypes,
  element,
  f16,
  f32,
  grid,
  i32,
  kernel,
  makeNdArray,
  pallasCall,
  perTarget,
  scalar,
  sequence,
  shapeDtype,
} from 'tilewright';
import * as pltriton from 'tilewright/triton';
import { findingOf } from '../support/kernels.js';

/** Wrong on purpose: what JavaScript lets through. */
// biome-ignore lint/suspicious/noExplicitAny: the mistakes here are ones that TypeScript would catch
type Wrong = any;
// biome-ignore lint/suspicious/noExplicitAny: as above
const wrong = (x: unknown): any => x;

const host = makeNdArray(f32, [64]);
const captured = 'TW1026 at %: the kernel uses a host array f32[64] from its surroundings';

/** Rows of a mistake in a declaration. */
const declared = (rows: readonly (readonly [what: string, work: () => unknown, finding: string])[]): void => {
  test.each(rows)('%s', async (_, work, finding) => {
    expect(await findingOf(work)).toBe(finding);
  });
};

const n = dim('n');
const g = grid({ i: cdiv(n, 64) });
const v = array(f32, [n]).block([64], [g.i]);
const good = { grid: g, inputs: { x: v }, outputs: { z: v } };
const program = (spec: object): unknown => blockProgram(wrong({ ...good, ...spec }), () => {});

describe('declarations', () => {
  declared([
    ['a dim without a name', () => dim(''), 'TW1023 at dim: a dim has a name, got ""'],
    [
      'a promise that does not exist',
      () => dim('n', wrong({ multiple: 4 })),
      "TW1013 at dim: 'dim' has no option 'multiple'",
    ],
    [
      'promises that exclude each other',
      () => dim('n', { min: 5, max: 4 }),
      "TW1023 at dim: dim 'n' cannot be at least 5 and at most 4",
    ],
    ['a dtype of text', () => array(wrong('f32'), [4]), 'TW1013 at array: \'array\' takes a dtype, got "f32"'],
    ['a shape that is no list', () => array(f32, wrong(4)), 'TW1013 at array: a shape is a list of extents, got 4'],
    [
      'a negative extent',
      () => array(f32, [-1]),
      'TW1023 at array: an array extent must be an integer from 0 up or a dim, got -1',
    ],
    [
      'an extent of a grid axis',
      () =>
        kernel('k', {}, () =>
          blockProgram({ grid: g, inputs: {}, outputs: { z: array(f32, [g.i]) } }, () => {}),
        ).trace(),
      "TW1023 at array: grid axis 'i' has no value on the host",
    ],
    [
      'a block of no elements',
      () => array(f32, [4]).block([0], [0]),
      'TW1023 at block: a block extent must be an integer from 1 up or a dim, got 0',
    ],
    [
      'a block index that is a fraction',
      () => array(f32, [4]).block([1], [0.5]),
      'TW1023 at block: a block index must be an integer from 0 up or a dim, got 0.5',
    ],
    [
      'a block index that is a host array',
      () => array(f32, [4]).block([1], [wrong(host)]),
      'TW1026 at block: the kernel uses a host array f32[64] from its surroundings',
    ],
    [
      'element(…) of a dim',
      () => array(f32, [4]).block([element(wrong(n))], [0]),
      'TW1023 at block: element(…) takes an integer from 1 up, got i32',
    ],
    [
      'a scalar without a dtype',
      () => scalar(wrong(undefined)),
      "TW1013 at scalar: 'scalar' takes a dtype, got undefined",
    ],
    [
      'a grid that is a list',
      () => grid(wrong([4])),
      'TW1013 at grid: a grid is a record of axes and their extents, got a list',
    ],
    [
      'a grid of a fraction',
      () => grid({ i: 1.5 }),
      "TW1023 at grid: the extent of grid axis 'i' must be an integer from 0 up or a dim, got 1.5",
    ],
    [
      'a sequential axis that is none',
      () => grid({ i: 4 }, { sequential: wrong(['j']) }),
      'TW1016 at grid: "j" is not an axis of the grid',
    ],
    [
      'no grid',
      () => program({ grid: { i: 4 } }),
      'TW1013 at blockProgram: the grid of a program is what grid({ … }) gives, got an object',
    ],
    [
      'an input that is no declaration',
      () => program({ inputs: { x: f32 } }),
      "TW1013 at blockProgram: 'x' must be declared with array(…) or scalar(…), got the dtype f32",
    ],
    [
      'an input that is a host array',
      () => program({ inputs: { x: host } }),
      'TW1026 at blockProgram: the kernel uses a host array f32[64] from its surroundings',
    ],
    [
      'an output that is a scalar',
      () => program({ outputs: { z: scalar(f32) } }),
      "TW1013 at blockProgram: 'z' must be declared with array(…), got an object",
    ],
    [
      'a program option that does not exist',
      () => program({ alias: {} }),
      "TW1013 at blockProgram: 'blockProgram' has no option 'alias'",
    ],
    [
      'a fastMath flag that does not exist',
      () => program({ fastMath: { fast: true } }),
      "TW1013 at blockProgram: 'fastMath' has no option 'fast'",
    ],
    [
      'a fastMath flag that is no boolean',
      () => program({ fastMath: { approx: 1 } }),
      "TW1013 at blockProgram: 'approx' is true or false, got 1",
    ],
    [
      'zeroing what is no output',
      () => program({ zeroed: ['q'] }),
      'TW1013 at blockProgram: \'zeroed\' names "q", which is no output',
    ],
    [
      'an alias of no output',
      () => program({ aliases: { q: 'x' } }),
      "TW1025 at blockProgram: output 'q' cannot alias 'x': there is no output of that name",
    ],
    [
      'an alias that starts as zeros',
      () => kernel('k', {}, () => wrong(program({ aliases: { z: 'x' }, zeroed: ['z'] }))).trace(),
      "TW1025 at array: output 'z' cannot alias 'x': it starts as zeros, which would overwrite the input",
    ],
    [
      'compilerParams of nothing',
      () => program({ compilerParams: {} }),
      "TW1013 at blockProgram: the back end of 'compilerParams' is one of 'triton', 'mosaic_gpu', got undefined",
    ],
    [
      'compilerParams twice for one back end',
      () => program({ compilerParams: [new pltriton.CompilerParams(), new pltriton.CompilerParams()] }),
      "TW1031 at blockProgram: 'compilerParams' names 'triton' twice",
    ],
    [
      'half a warp',
      () => new pltriton.CompilerParams({ numWarps: 0.5 }),
      "TW1013 at new: 'numWarps' is an integer from 1 up, got 0.5",
    ],
    [
      'an option of another back end',
      () => new pltriton.CompilerParams(wrong({ approxMath: true })),
      "TW1013 at new: 'triton CompilerParams' has no option 'approxMath'",
    ],
    [
      'a cost that is no count',
      () => program({ costEstimate: { flops: 1.5 } }),
      "TW1013 at blockProgram: 'flops' of a cost estimate is an integer from 0 up, or made of dims, got 1.5",
    ],
    [
      'metadata that is no text',
      () => program({ metadata: { a: 1 } }),
      "TW1013 at blockProgram: metadata is text, 'a' is not, got 1",
    ],
    [
      'debug that is no boolean',
      () => program({ debug: 'yes' }),
      'TW1013 at blockProgram: \'debug\' is true or false, got "yes"',
    ],
    [
      'no body',
      () => blockProgram(good, wrong(undefined)),
      "TW1013 at blockProgram: 'blockProgram' takes a body: ({ x, … }) => { … }, got undefined",
    ],
    [
      'a sequence of nothing',
      () => sequence({ temps: {} }, []),
      "TW1013 at sequence: 'sequence' takes a list of programs, got a list",
    ],
    [
      'a sequence of kernels',
      () => sequence({ temps: {} }, [wrong(f32)]),
      "TW1013 at sequence: 'sequence' takes programs, as blockProgram(…) gives them, got the dtype f32",
    ],
    [
      'a temporary that is no array',
      () => sequence({ temps: { t: wrong(f32) } }, []),
      "TW1013 at sequence: 't' must be declared with array(…), got the dtype f32",
    ],
  ]);
});

describe('kernels', () => {
  const k = kernel('k', { block: 64, dtype: dtypes(f32, f16) }, () =>
    blockProgram(good, ({ x, z }) => z.store(x.load())),
  );
  declared([
    [
      'a name that is no text',
      () => kernel(wrong(1), {}, () => wrong(0)),
      "TW1013 at kernel: 'kernel' takes a name, got 1",
    ],
    [
      'a parameter of a list',
      () => kernel('k', wrong({ p: [1] }), () => wrong(0)),
      "TW1013 at kernel: parameter 'p' is a number, boolean, text, dtype, choice(…) or dtypes(…), got a list",
    ],
    [
      'no setup',
      () => kernel('k', {}, wrong({})),
      "TW1013 at kernel: 'kernel' takes a setup function: (params) => blockProgram(…), got an object",
    ],
    [
      'a setup that gives something else',
      () => kernel('k', {}, () => wrong(f32)).trace(),
      "TW1030 at kernel: the setup of kernel 'k' must return a program, got the dtype f32",
    ],
    [
      'an async setup',
      () =>
        kernel(
          'k',
          {},
          wrong(async () => {}),
        ).trace(),
      "TW1028 at kernel: the setup of kernel 'k' must not be async",
    ],
    [
      'a choice of nothing',
      () => choice([]),
      "TW1013 at choice: 'choice' takes a list of at least one value, got a list",
    ],
    ['dtypes that are text', () => dtypes(wrong('f32')), 'TW1013 at dtypes: \'dtypes\' takes dtypes, got "f32"'],
    [
      'a target’s value for no parameter',
      () => kernel('k', perTarget({ cpu: wrong({ bn: 1 }) }, { bm: 1 }), () => wrong(0)),
      "TW1040 at kernel: kernel 'k' has no parameter 'bn'",
    ],
    [
      'a value of another kind',
      () => k.with({ block: wrong('64') }),
      'TW1041 at : parameter \'block\' must be a number, got "64"',
    ],
    [
      'a value that is not finite',
      () => k.with({ block: Number.NaN }),
      "TW1041 at : parameter 'block' must be a number, got NaN",
    ],
    [
      'a dtype that is not among them',
      () => k.with({ dtype: wrong(i32) }),
      "TW1041 at : parameter 'dtype' must be one of f32, f16, got i32",
    ],
    [
      'a kernel that traces itself',
      () => {
        const self: Wrong = kernel('self', {}, () => self.trace());
        return self.trace();
      },
      "TW1029 at trace: kernel 'self' is traced inside of kernel 'self'",
    ],
    [
      'something thrown that is no error',
      () =>
        kernel('k', {}, () => {
          throw 'no';
        }).trace(),
      'TW1403 at kernel: uncaught exception: "no"',
    ],
  ]);
});

describe('pallasCall', () => {
  const struct = shapeDtype([64], f32);
  const whole = { kernel: (x: Wrong, o: Wrong) => o.store(x.load()), outShape: struct };
  const call = (options: object, ...inputs: Wrong[]) =>
    pallasCall(wrong({ ...whole, ...options }))(...(inputs.length ? inputs : [struct])).trace();
  declared([
    [
      'an option that does not exist',
      () => call({ gridSpec: {} }),
      "TW1013 at pallasCall: 'pallasCall' has no option 'gridSpec'",
    ],
    [
      'no kernel',
      () => call({ kernel: undefined }),
      "TW1013 at pallasCall: 'kernel' of pallasCall takes the refs of inputs and outputs: (x, o) => { … }, got undefined",
    ],
    [
      'an output shape that is none',
      () => call({ outShape: f32 }),
      "TW1013 at pallasCall: 'out0' is a shapeDtype(…), got the dtype f32",
    ],
    ['an input shape that is none', () => call({}, 64), "TW1013 at pallasCall: 'in0' is a shapeDtype(…), got 64"],
    [
      'a grid of a fraction',
      () => call({ grid: [1.5] }),
      "TW1023 at pallasCall: the extent of grid axis 'i0' must be an integer from 0 up or a dim, got 1.5",
    ],
    [
      'specs that are no list',
      () => call({ inSpecs: blockSpec() }),
      "TW1013 at pallasCall: 'inSpecs' is a list of block specs, got an object",
    ],
    [
      'fewer specs than inputs',
      () => call({ inSpecs: [] }),
      'TW1016 at pallasCall: each of 1 inputs has a block spec, got 0',
    ],
    [
      'more specs than outputs',
      () => call({ outSpecs: [blockSpec(), blockSpec()] }),
      'TW1016 at pallasCall: each of 1 outputs has a block spec, got 2',
    ],
    [
      'a block of another rank',
      () => call({ inSpecs: [blockSpec([8, 8], () => [0, 0])] }),
      'TW1021 at blockSpec: the block has 2 dimensions, the array has 1',
    ],
    [
      'an index map of another rank',
      () => call({ inSpecs: [blockSpec([8], () => [0, 0])] }),
      'TW1022 at blockSpec: the index map has 2 indices, the block has 1 dimension',
    ],
    [
      'an index map that gives a number',
      () =>
        call({
          inSpecs: [
            blockSpec(
              [8],
              wrong(() => 0),
            ),
          ],
        }),
      'TW1022 at blockSpec: the index map has 1 index, the block has 1 dimension',
    ],
    [
      'an index map that gives a fraction',
      () => call({ inSpecs: [blockSpec([8], () => [0.5])] }),
      'TW1023 at blockSpec: a block index must be an integer from 0 up or a dim, got 0.5',
    ],
    [
      'an index map that gives a host array',
      () =>
        call({
          inSpecs: [
            blockSpec(
              [8],
              wrong(() => [host]),
            ),
          ],
        }),
      'TW1026 at blockSpec: the kernel uses a host array f32[64] from its surroundings',
    ],
    [
      'an index map that is none',
      () => call({ inSpecs: [blockSpec([8], wrong([0]))] }),
      "TW1013 at blockSpec: the index map of 'in0' is a function: (i) => [i], got a list",
    ],
    [
      'a block dimension of text',
      () => call({ inSpecs: [blockSpec([wrong('8')], () => [0])] }),
      'TW1023 at blockSpec: a block extent must be an integer from 1 up or a dim, got "8"',
    ],
    [
      'an alias of an input out of range',
      () => call({ inputOutputAliases: { 1: 0 } }),
      "TW1025 at pallasCall: output 'out0' cannot alias 'in1': there is no input 1 among 1",
    ],
    [
      'an alias of an output out of range',
      () => call({ inputOutputAliases: { 0: 2 } }),
      "TW1025 at pallasCall: output 'out2' cannot alias 'in0': there is no output 2 among 1",
    ],
    [
      'an alias taken twice',
      () => call({ inputOutputAliases: { 0: 0, 1: 0 } }, struct, struct),
      "TW1025 at pallasCall: output 'out0' cannot alias 'in1': it has taken over 'in0' already",
    ],
    [
      'an alias of another dtype',
      () => call({ inputOutputAliases: { 0: 0 } }, shapeDtype([64], i32)),
      "TW1025 at shapeDtype: output 'out0' cannot alias 'in0': dtype and extents must be the same",
    ],
    [
      'a kernel that returns a value',
      () =>
        call({
          kernel: (x: Wrong, o: Wrong) => {
            o.store(x.load());
            return o;
          },
        }),
      'TW1027 at pallasCall: a kernel body must return nothing',
    ],
    [
      'a kernel that captures an array',
      () => call({ kernel: (x: Wrong, o: Wrong) => o.store(x.load().add(host)) }),
      captured.replace('%', 'add'),
    ],
    [
      'an output that is never stored',
      () => call({ kernel: (x: Wrong) => void x.load() }),
      "TW1020 at shapeDtype: output 'out0' of kernel 'kernel' is never stored",
    ],
    [
      'scratch',
      () => call({ scratchShapes: [struct] }),
      "TW1031 at pallasCall: 'scratchShapes' needs an explicit program",
    ],
    ['a name that is no text', () => call({ name: 3 }), "TW1013 at pallasCall: 'name' is text, got 3"],
    [
      'interpret that is no boolean',
      () => call({ interpret: 'gpu' }),
      'TW1013 at pallasCall: \'interpret\' is true or false, got "gpu"',
    ],
  ]);
});

describe('perTarget', () => {
  const k = kernel(
    'k',
    perTarget(
      {
        cuda: ({ dtype }) => ({ bm: dtype === f32 ? 64 : 128 }),
        hip: { bm: 32, bk: 8 },
        sm_90: { bk: 64 },
        gfx942: { bm: 16 },
        cpu: { bk: 4 },
      },
      { dtype: dtypes(f32, f16), bm: 256, bk: 16 },
    ),
    () => wrong(0),
  );
  test.each([
    ['cpu:native', { bm: 256, bk: 4 }],
    ['sm_80', { bm: 64, bk: 16 }],
    ['sm_90a', { bm: 64, bk: 64 }],
    ['gfx90a', { bm: 32, bk: 8 }],
    ['gfx942', { bm: 16, bk: 8 }],
    [undefined, { bm: 256, bk: 16 }],
  ])('%s: its own before its vendor, that before the defaults', (target, expected) => {
    expect(k.values(target)).toEqual({ dtype: f32, ...expected });
  });
  test('what is given goes before all, and functions see it', () => {
    expect(k.with({ dtype: f16 }).values('sm_80')).toEqual({ dtype: f16, bm: 128, bk: 16 });
    expect(k.with({ dtype: f16, bm: 8 }).values('sm_90a')).toEqual({ dtype: f16, bm: 8, bk: 64 });
  });
});
