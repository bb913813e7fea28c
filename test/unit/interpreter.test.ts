import { describe, expect, test } from '@jest/globals';
import { bindArguments, type HostValue } from '../../src/api/bind.js';
import { type NdArray, toRegisters } from '../../src/api/nd-array.js';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { primaryLoc } from '../../src/diagnostics/location.js';
import { RaggedAnalysis } from '../../src/ir/analyses/ragged.js';
import { bf16, f8e4m3fn, f16, f32, f64, i4, i8, i32, i64, u8 } from '../../src/ir/dtypes.js';
import { Thread } from '../../src/ir/interpreter/engine.js';
import { type InterpretOptions, interpretKernel } from '../../src/ir/interpreter/index.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { nd } from '../../src/testing/index.js';
import { diagnosticsOf } from '../support/thrown.js';

/** A verified kernel from declarations and the body of one launch; `grid` as in the text. */
function kernelOf(declarations: string, body: string, grid = ''): Kernel {
  const lines = body.trim().split('\n');
  const text = `kernel @k {\n${declarations.trim()}\nlaunch @k grid(${grid}) {\n${lines.join('\n')}\n}\n}\n`;
  const { module, diagnostics } = parseModule(text, 'k.kir');
  expect(diagnostics).toEqual([]);
  const kernel = module!.kernels[0]!;
  expect(verifyKernel(kernel)).toEqual([]);
  return kernel;
}

function interpret(
  kernel: Kernel,
  given: Record<string, HostValue> = {},
  options?: InterpretOptions,
): Record<string, (number | bigint)[]> {
  const bound = bindArguments(kernel, given);
  interpretKernel(kernel, bound, options);
  return Object.fromEntries([...bound.arrays].map(([name, a]) => [name, elements(a)]));
}

const elements = (a: NdArray): (number | bigint)[] => Array.from(toRegisters(a) as Float64Array);

/** Code, line in the `.kir` text and message of the one thing that a run is stopped for. */
async function stopped(kernel: Kernel, given: Record<string, HostValue>, options?: InterpretOptions): Promise<string> {
  const found: readonly Diagnostic[] = await diagnosticsOf(() => interpret(kernel, given, options));
  expect(found.length).toBe(1);
  return `${found[0]!.code} line ${primaryLoc(found[0]!.loc)?.line}: ${found[0]!.message}`;
}

const zero = '%zero = constant {value = 0} : i32';

describe('programs', () => {
  const counting = (grid: string, axes: readonly string[]): Kernel =>
    kernelOf(
      `out %order: ref<gmem i32[${axes.map((_, i) => [3, 2, 2][i]).join(', ')}]>\nout %count: ref<gmem i32[1]>`,
      `
      ${zero}
      %one = constant {value = 1} : i32
      ${axes.map((a) => `%${a} = program_id {axis = "${a}"} : i32`).join('\n')}
      %old = atomic_rmw %count, %one index(%zero) {kind = add, order = relaxed, scope = device} : i32
      store %order, %old index(${axes.map((a) => `%${a}`).join(', ')}) {axes = []}`,
      grid,
    );

  test('run one after the other, the last axis fastest', () => {
    expect(interpret(counting('i = 3, j = 2', ['i', 'j'])).order).toEqual([0, 1, 2, 3, 4, 5]);
    expect(interpret(counting('i = 3, j = 2, k = 2', ['i', 'j', 'k'])).order).toEqual([...Array(12).keys()]);
  });
  test('of an empty grid do not run', () => {
    expect(interpret(counting('i = 3, j = 0', ['i', 'j'])).count).toEqual([0]);
  });
  test('of a grid without axes run once', () => {
    const kernel = kernelOf(
      'out %y: ref<gmem i32[1]>',
      `${zero}\n%c = constant {value = 7} : i32[1]\nstore %y, %c index(%zero)`,
    );
    expect(interpret(kernel).y).toEqual([7]);
  });
  test('know the size of the grid and the dims', () => {
    const kernel = kernelOf(
      'dim n\nin %x: ref<gmem f32[n]>\nout %y: ref<gmem i32[cdiv(n, 4), 2]>',
      `
      ${zero}
      %one = constant {value = 1} : i32
      %i = program_id {axis = "i"} : i32
      %programs = num_programs {axis = "i"} : i32
      %n = dim {name = "n"} : i32
      store %y, %programs index(%i, %zero) {axes = []}
      store %y, %n index(%i, %one) {axes = []}`,
      'i = cdiv(n, 4)',
    );
    expect(interpret(kernel, { x: nd.zeros(f32, [9]) }).y).toEqual([3, 9, 3, 9, 3, 9]);
  });
  test('stop between two of them when the caller says so', () => {
    let asked = 0;
    const { count } = interpret(counting('i = 3, j = 2', ['i', 'j']), {}, { cancelled: () => ++asked > 4 });
    expect(count).toEqual([4]);
  });
});

test('launches run in order over the same arrays', () => {
  const { module } = parseModule(
    `kernel @k {
      out %y: ref<gmem i32[2]>
      temp %t: ref<gmem i32[2]>
      launch @first grid() {
        %0 = constant {value = 0} : i32
        %1 = iota {axis = 0} : i32[2]
        store %t, %1 index(%0)
      }
      launch @second grid() {
        %0 = constant {value = 0} : i32
        %1 = load %t index(%0) : i32[2]
        %2 = add %1, %1 : i32[2]
        store %y, %2 index(%0)
      }
    }`,
    'k.kir',
  );
  expect(interpret(module!.kernels[0]!).y).toEqual([0, 2]);
});

describe('scalar arguments', () => {
  test.each([
    { d: f16, given: 0.1, got: 0.0999755859375 },
    { d: bf16, given: 0.1, got: 0.10009765625 },
    { d: f8e4m3fn, given: 1000, got: 448 },
    { d: f32, given: 0.1, got: Math.fround(0.1) },
    { d: f64, given: 0.1, got: 0.1 },
    { d: i8, given: -5, got: -5 },
    { d: i4, given: -8, got: -8 },
  ])('$d.name $given arrives as $got: rounded to what the dtype holds', ({ d, given, got }) => {
    const kernel = kernelOf(
      `scalar %a: ${d.name}\nout %y: ref<gmem f64[1]>`,
      `${zero}\n%b = cast %a : f64\nstore %y, %b index(%zero) {axes = []}`,
    );
    expect(interpret(kernel, { a: given }).y).toEqual([got]);
  });
  test('64-bit integers arrive whole', () => {
    const kernel = kernelOf(
      'scalar %a: i64\nout %y: ref<gmem i64[1]>',
      `${zero}\nstore %y, %a index(%zero) {axes = []}`,
    );
    expect(interpret(kernel, { a: 2n ** 62n + 1n }).y).toEqual([2n ** 62n + 1n]);
  });
});

describe('loads and stores', () => {
  const matrix = nd.arange(i32, [3, 5]);
  /** Copies a block of a 3 by 5 matrix to a 2 by 2 output. */
  const copy = (attributes = '', operands = '', extra = ''): Kernel =>
    kernelOf(
      'scalar %r: i32\nscalar %c: i32\nin %x: ref<gmem i32[3, 5]>\nout %y: ref<gmem i32[2, 2]>',
      `
      ${zero}
      ${extra}
      %b = load %x index(%r, %c) ${operands} ${attributes}: i32[2, 2]
      store %y, %b index(%zero, %zero)`,
    );

  test('move a block', () => {
    expect(interpret(copy(), { x: matrix, r: 1, c: 3 }).y).toEqual([8, 9, 13, 14]);
  });
  test('move a line along one axis, with a stride', () => {
    const kernel = kernelOf(
      'in %x: ref<gmem i32[3, 5]>\nout %y: ref<gmem i32[3, 2]>',
      `
      ${zero}
      %two = constant {value = 2} : i32
      %one = constant {value = 1} : i32
      %column = load %x index(%zero, %two) {axes = [0]} : i32[3]
      store %y, %column index(%zero, %one) {axes = [0]}`,
    );
    expect(interpret(kernel, { x: matrix }).y).toEqual([0, 2, 0, 7, 0, 12]);
  });

  test.each([
    [2, 0, "TW5001 line 9: load of 'x' is out of bounds: index 3 on axis 0 of extent 3, in program ()"],
    [0, 4, "TW5001 line 9: load of 'x' is out of bounds: index 5 on axis 1 of extent 5, in program ()"],
    [-1, 0, "TW5001 line 9: load of 'x' is out of bounds: index -1 on axis 0 of extent 3, in program ()"],
    [
      0,
      2147483647,
      "TW5001 line 9: load of 'x' is out of bounds: index 2147483647 on axis 1 of extent 5, in program ()",
    ],
  ])('a block at %i, %i is stopped', async (r, c, message) => {
    expect(await stopped(copy(), { x: matrix, r, c })).toBe(message);
  });

  test('a store out of bounds is stopped, and names its program', async () => {
    const kernel = kernelOf(
      'out %y: ref<gmem f32[5]>',
      `
      %i = program_id {axis = "i"} : i32
      %j = program_id {axis = "j"} : i32
      %two = constant {value = 2} : i32
      %at = mul %i, %two : i32
      %v = constant {value = 1} : f32[2]
      store %y, %v index(%at)`,
      'i = 3, j = 1',
    );
    expect(await stopped(kernel, {})).toBe(
      "TW5001 line 9: store of 'y' is out of bounds: index 5 on axis 0 of extent 5, in program (i=2, j=0)",
    );
  });

  test('elements beyond a stated extent are not touched, however far out they lie', () => {
    const kernel = copy(
      '',
      'valid(%rows, %cols)',
      '%rows = constant {value = 1} : i32\n%cols = constant {value = 1} : i32',
    );
    const y = interpret(kernel, { x: matrix, r: 2, c: 4 }).y!;
    expect(y).toEqual([14, 0, 0, 0]);
    const none = copy(
      '',
      'valid(%rows, %cols)',
      '%rows = constant {value = -7} : i32\n%cols = constant {value = 2} : i32',
    );
    expect(interpret(none, { x: matrix, r: 100, c: -100 }).y).toEqual([0, 0, 0, 0]);
  });

  test('elements that a mask hides are not touched; the others must lie within', async () => {
    const masked = (value: string): Kernel =>
      copy(
        '',
        'mask(%m) other(%o)',
        `%columns = iota {axis = 1} : i32[2, 2]\n%bound = constant {value = ${value}} : i32[2, 2]\n%m = lt %columns, %bound : bool[2, 2]\n%o = constant {value = -1} : i32`,
      );
    expect(interpret(masked('1'), { x: matrix, r: 0, c: 4 }).y).toEqual([4, -1, 9, -1]);
    expect(interpret(masked('0'), { x: matrix, r: 50, c: 50 }).y).toEqual([-1, -1, -1, -1]);
    expect(await stopped(masked('2'), { x: matrix, r: 0, c: 4 })).toContain('index 5 on axis 1 of extent 5');
  });

  test('what a mask hides without `other` shows when it leaks', () => {
    const leak = (dtype: string): Kernel =>
      kernelOf(
        `in %x: ref<gmem ${dtype}[2]>\nout %y: ref<gmem ${dtype}[2]>`,
        `
        ${zero}
        %i = iota {axis = 0} : i32[2]
        %z = constant {value = 0} : i32[2]
        %m = eq %i, %z : bool[2]
        %v = load %x index(%zero) mask(%m) : ${dtype}[2]
        store %y, %v index(%zero)`,
      );
    expect(interpret(leak('f32'), { x: nd.from(f32, [2], [5, 6]) }).y).toEqual([5, Number.NaN]);
    expect(interpret(leak('i32'), { x: nd.from(i32, [2], [5, 6]) }).y).toEqual([5, -(2 ** 31)]);
    expect(interpret(leak('i64'), { x: nd.from(i64, [2], [5, 6]) }).y).toEqual([5n, -(2n ** 63n)]);
  });

  test('4-bit elements are written without their neighbours', () => {
    const kernel = kernelOf(
      'in %x: ref<gmem i4[5]>\nout %y: ref<gmem i4[5]>',
      `
      %one = constant {value = 1} : i32
      %v = load %x index(%one) : i4[3]
      store %y, %v index(%one)`,
    );
    expect(interpret(kernel, { x: nd.from(i4, [5], [1, -2, 3, -4, 5]) }).y).toEqual([0, -2, 3, -4, 0]);
  });

  test('an array of no elements is left alone by blocks that are valid nowhere', () => {
    const kernel = kernelOf(
      'dim n\nin %x: ref<gmem f32[n]>\nout %y: ref<gmem f32[1]>',
      `
      ${zero}
      %n = dim {name = "n"} : i32
      %v = load %x index(%zero) valid(%n) : f32[4]
      %s = reduce %v {axis = 0, kind = sum} : f32
      store %y, %s index(%zero) {axes = []}`,
    );
    expect(interpret(kernel, { x: nd.zeros(f32, [0]) }).y).toEqual([0]);
    expect(interpret(kernel, { x: nd.from(f32, [3], [1, 2, 4]) }).y).toEqual([7]);
  });
});

describe('ragged tiles', () => {
  const reduced = (kind: string, dtype = 'f32'): Kernel =>
    kernelOf(
      `dim n\nin %x: ref<gmem ${dtype}[n]>\nout %y: ref<gmem ${kind.startsWith('arg') ? 'i32' : dtype}[1]>`,
      `
      ${zero}
      %n = dim {name = "n"} : i32
      %v = load %x index(%zero) valid(%n) : ${dtype}[8]
      %s = reduce %v {axis = 0, kind = ${kind}} : ${kind.startsWith('arg') ? 'i32' : dtype}
      store %y, %s index(%zero) {axes = []}`,
    );
  test.each([
    ['sum', 8],
    ['prod', -8],
    ['max', 8],
    ['min', -1],
    ['argmax', 2],
    ['argmin', 1],
  ])('a %s takes what is valid', (kind, expected) => {
    expect(interpret(reduced(kind), { x: nd.from(f32, [3], [1, -1, 8]) }).y).toEqual([expected]);
  });

  test('a dot takes what is valid of the contracted axis on both sides, whatever lies beyond', () => {
    const kernel = kernelOf(
      'dim k\nin %a: ref<gmem f32[2, k]>\nin %b: ref<gmem f32[k, 2]>\nout %c: ref<gmem f32[2, 2]>',
      `
      ${zero}
      %two = constant {value = 2} : i32
      %k = dim {name = "k"} : i32
      %x = load %a index(%zero, %zero) valid(%two, %k) : f32[2, 4]
      %y = load %b index(%zero, %zero) valid(%k, %two) : f32[4, 2]
      %d = dot %x, %y {precision = ieee} : f32[2, 2]
      store %c, %d index(%zero, %zero)`,
    );
    const a = nd.from(f32, [2, 3], [1, 2, 3, 4, 5, 6]);
    const b = nd.from(f32, [3, 2], [1, 0, 0, 1, 1, 1]);
    expect(interpret(kernel, { a, b }).c).toEqual([4, 5, 10, 11]);
  });

  test('a store drops what its tile is not valid for', () => {
    const kernel = kernelOf(
      'dim n\nin %x: ref<gmem f32[n]>\nout %y: ref<gmem f32[8]>',
      `
      ${zero}
      %n = dim {name = "n"} : i32
      %v = load %x index(%zero) valid(%n) : f32[8]
      %one = constant {value = 1} : f32[8]
      %w = add %v, %one : f32[8]
      store %y, %w index(%zero)`,
    );
    expect(interpret(kernel, { x: nd.from(f32, [2], [1, 2]) }).y).toEqual([2, 3, 0, 0, 0, 0, 0, 0]);
  });
});

test('a ragged mask hides what it is not valid for', () => {
  const kernel = kernelOf(
    'dim n\nin %x: ref<gmem f32[n]>\nin %z: ref<gmem f32[4]>\nout %y: ref<gmem f32[4]>\nout %g: ref<gmem f32[4]>',
    `
    ${zero}
    %n = dim {name = "n"} : i32
    %v = load %x index(%zero) valid(%n) : f32[4]
    %m = eq %v, %v : bool[4]
    %w = load %z index(%zero) : f32[4]
    store %y, %w index(%zero) mask(%m)
    %i = iota {axis = 0} : i32[4]
    scatter %g, %w index(%i) mask(%m)`,
  );
  const { y, g } = interpret(kernel, { x: nd.from(f32, [2], [1, 1]), z: nd.from(f32, [4], [5, 6, 7, 8]) });
  expect([y, g]).toEqual([
    [5, 6, 0, 0],
    [5, 6, 0, 0],
  ]);
});

describe('elements addressed one by one', () => {
  const gather = (operands = ''): Kernel =>
    kernelOf(
      'in %x: ref<gmem f32[2, 3]>\nin %r: ref<gmem i32[4]>\nin %c: ref<gmem i64[4]>\nout %y: ref<gmem f32[4]>',
      `
      ${zero}
      %i = load %r index(%zero) : i32[4]
      %j = load %c index(%zero) : i64[4]
      %z = constant {value = 0} : i32[4]
      %m = ge %i, %z : bool[4]
      %o = constant {value = 9} : f32
      %v = gather %x index(%i, %j) ${operands} : f32[4]
      store %y, %v index(%zero)`,
    );
  const x = nd.arange(f32, [2, 3]);
  const c = nd.from(i64, [4], [0, 2, 1, 0]);

  test('gather reads each', () => {
    expect(interpret(gather(), { x, c, r: nd.from(i32, [4], [1, 0, 1, 0]) }).y).toEqual([3, 2, 4, 0]);
  });
  test('an index outside of the array is stopped, unless it is masked', async () => {
    const r = nd.from(i32, [4], [1, 0, -1, 0]);
    expect(await stopped(gather(), { x, c, r })).toBe(
      "TW5001 line 13: gather of 'x' is out of bounds: index -1 on axis 0 of extent 2, in program ()",
    );
    expect(interpret(gather('mask(%m) other(%o)'), { x, c, r }).y).toEqual([3, 2, 9, 0]);
  });

  const atomic = (dtype: string, kind: string): Kernel =>
    kernelOf(
      `in %v: ref<gmem ${dtype}[3]>\nout %y: ref<gmem ${dtype}[1]>\nout %old: ref<gmem ${dtype}[3]>`,
      `
      ${zero}
      %at = constant {value = 0} : i32[3]
      %x = load %v index(%zero) : ${dtype}[3]
      %o = atomic_rmw %y, %x index(%at) {kind = ${kind}, order = relaxed, scope = device} : ${dtype}[3]
      store %old, %o index(%zero)`,
    );
  test('atomics on one address happen one after the other and give the old values', () => {
    const { y, old } = interpret(atomic('i32', 'add'), { v: nd.from(i32, [3], [1, 2, 4]) });
    expect([y, old]).toEqual([[7], [0, 1, 3]]);
    expect(interpret(atomic('u8', 'add'), { v: nd.from(u8, [3], [200, 50, 10]) }).y).toEqual([4]);
    expect(interpret(atomic('i4', 'add'), { v: nd.from(i4, [3], [7, 1, 1]) }).y).toEqual([-7]);
    expect(interpret(atomic('f8e4m3fn', 'add'), { v: nd.from(f8e4m3fn, [3], [448, 448, 1]) }).y).toEqual([448]);
    expect(interpret(atomic('i64', 'max'), { v: nd.from(i64, [3], [5, 2n ** 60n, 7]) }).y).toEqual([2n ** 60n]);
    expect(interpret(atomic('i32', 'exchange'), { v: nd.from(i32, [3], [5, 6, 7]) }).old).toEqual([0, 5, 6]);
    expect(interpret(atomic('i32', 'xor'), { v: nd.from(i32, [3], [1, 3, 8]) }).y).toEqual([10]);
  });
  test('atomics of f16 round after each addition; of floats, max and min keep NaN and order the zeros', () => {
    expect(interpret(atomic('f16', 'add'), { v: nd.from(f16, [3], [2048, 1, 1]) }).y).toEqual([2048]);
    const { NaN: nan } = Number;
    expect(interpret(atomic('f32', 'max'), { v: nd.from(f32, [3], [1, nan, 5]) }).y).toEqual([nan]);
    expect(interpret(atomic('f32', 'min'), { v: nd.from(f32, [3], [0, -0, 0]) }).y).toEqual([-0]);
  });
});

describe('control flow', () => {
  const sum = kernelOf(
    'scalar %from: i32\nscalar %to: i32\nscalar %step: i32\nout %y: ref<gmem i32[2]>',
    `
    ${zero}
    %one = constant {value = 1} : i32
    %s, %n = for %from, %to, %step init(%zero, %zero) : i32, i32 (%k: i32, %acc: i32, %trips: i32) {
      %a = add %acc, %k : i32
      %t = add %trips, %one : i32
      yield values(%a, %t)
    }
    store %y, %s index(%zero) {axes = []}
    store %y, %n index(%one) {axes = []}`,
  );
  test.each([
    [0, 5, 1, [10, 5]],
    [2, 9, 3, [15, 3]],
    [5, 5, 1, [0, 0]],
    [5, -5, 1, [0, 0]],
    [-3, 0, 2, [-4, 2]],
    [2147483645, 2147483647, 2, [2147483645, 1]],
  ])('for %i to %i by %i', (from, to, step, y) => {
    expect(interpret(sum, { from, to, step }).y).toEqual(y);
  });
  test.each([0, -1])('a step of %i is stopped', async (step) => {
    expect(await stopped(sum, { from: 0, to: 3, step })).toBe(
      `TW5003 line 9: loop step is ${step} in program (); it must be at least 1`,
    );
  });

  test('while looks at its condition first; values change places at once', () => {
    const gcd = kernelOf(
      'scalar %a: i32\nscalar %b: i32\nout %y: ref<gmem i32[1]>',
      `
      ${zero}
      %x, %r = while init(%a, %b) : i32, i32 (%p: i32, %q: i32) {
        %more = ne %q, %zero : bool
        condition %more
      } (%u: i32, %v: i32) {
        %w = rem %u, %v : i32
        yield values(%v, %w)
      }
      store %y, %x index(%zero) {axes = []}`,
    );
    expect(interpret(gcd, { a: 84, b: 36 }).y).toEqual([12]);
    expect(interpret(gcd, { a: 5, b: 0 }).y).toEqual([5]);
  });

  test('if runs one side only', () => {
    const kernel = kernelOf(
      'scalar %a: i32\nout %y: ref<gmem i32[3]>',
      `
      ${zero}
      %one = constant {value = 1} : i32
      %two = constant {value = 2} : i32
      %seven = constant {value = 7} : i32
      %positive = gt %a, %zero : bool
      %v = if %positive : i32 () {
        store %y, %seven index(%one) {axes = []}
        yield values(%a)
      } () {
        store %y, %seven index(%two) {axes = []}
        %n = neg %a : i32
        yield values(%n)
      }
      store %y, %v index(%zero) {axes = []}`,
    );
    expect(interpret(kernel, { a: 3 }).y).toEqual([3, 7, 0]);
    expect(interpret(kernel, { a: -4 }).y).toEqual([4, 0, 7]);
  });

  test('a loop that never ends is stopped at its own line', async () => {
    const forever = kernelOf(
      'out %y: ref<gmem i32[1]>',
      `
      ${zero}
      %true = constant {value = 1} : bool
      %x = while init(%zero) : i32 (%p: i32) {
        condition %true
      } (%u: i32) {
        yield values(%u)
      }
      store %y, %x index(%zero) {axes = []}`,
    );
    expect(await stopped(forever, {}, { maxSteps: 1000 })).toBe(
      'TW5002 line 6: stopped after 1000 steps in program ()',
    );
    expect((await diagnosticsOf(() => interpret(forever, {}, { maxSteps: 10 })))[0]!.help).toContain('--max-steps');
  });
});

describe('threads', () => {
  /** Adds its number to a counter, trip by trip, by a load and a store: what interleaving shows in. */
  const kernel = kernelOf(
    'out %y: ref<gmem i32[1]>',
    `
    ${zero}
    %i = program_id {axis = "i"} : i32
    %three = constant {value = 3} : i32
    %one = constant {value = 1} : i32
    for %zero, %three, %one (%k: i32) {
      %old = load %y index(%zero) {axes = []} : i32
      %new = add %old, %one : i32
      store %y, %new index(%zero) {axes = []}
      yield
    }`,
    'i = 2',
  );
  const start = (): { threads: Thread[]; counter: Int32Array } => {
    const [launch] = kernel.launches;
    const counter = new Int32Array(1);
    const params = new Map([[kernel.params[0]!.value, { name: 'y', dtype: i32, shape: [1], data: counter }]]);
    const never = (): never => {
      throw new Error('not expected');
    };
    const threads = [0, 1].map(
      (i) =>
        new Thread(
          launch!.body,
          params as never,
          {
            dims: new Map(),
            ids: new Map([['i', i]]),
            grid: new Map([['i', 2]]),
            program: { number: i, shown: `(i=${i})` },
            outOfBounds: never,
            badStep: never,
            emptyReduction: never,
            failedAssertion: never,
            brokenPromise: never,
            print: never,
          },
          new RaggedAnalysis(launch!),
        ),
    );
    return { threads, counter };
  };

  test('one after the other count every trip', () => {
    const { threads, counter } = start();
    for (const t of threads) while (!t.done) t.step();
    expect([...counter]).toEqual([6]);
  });

  test('are suspended between any two ops: in step they lose each other’s trips', () => {
    const { threads, counter } = start();
    while (threads.some((t) => !t.done)) for (const t of threads) if (!t.done) t.step();
    expect([...counter]).toEqual([3]);
  });

  test('say what they do next', () => {
    const [thread] = start().threads;
    const names: string[] = [];
    while (!thread!.done) {
      names.push(thread!.nextOp?.name ?? 'end');
      thread!.step();
    }
    const trip = ['load', 'add', 'store', 'yield'];
    expect(names).toEqual(['constant', 'program_id', 'constant', 'constant', 'for', ...trip, ...trip, ...trip, 'end']);
  });
});
