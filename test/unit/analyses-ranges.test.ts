import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Ranges } from '../../src/ir/analyses/ranges.js';
import type { Kernel, Launch } from '../../src/ir/kernel.js';
import { isOp } from '../../src/ir/ops/index.js';
import { parseModule } from '../../src/ir/parser.js';
import { evaluateExtent } from '../../src/ir/symbolic.js';
import type { GenericOp, Region, Value } from '../../src/ir/value.js';
import { walk } from '../../src/ir/walk.js';

function parsed(dims: string, grid: string, ops: string): { kernel: Kernel; launch: Launch } {
  const { module, diagnostics } = parseModule(`kernel @k { ${dims} launch @k grid(${grid}) { ${ops} } }`, 'k.kir');
  expect(diagnostics).toEqual([]);
  const [kernel] = module!.kernels;
  return { kernel: kernel!, launch: kernel!.launches[0]! };
}

/** What is known of the value named `e`. */
function knownOf(dims: string, grid: string, ops: string) {
  const { kernel, launch } = parsed(dims, grid, ops);
  let e: Value | undefined;
  walk(launch.body, (op) => {
    for (const r of op.results) if (r.hint === 'e') e = r;
  });
  const ranges = new Ranges(kernel, launch);
  const { low, high } = ranges.of(e!);
  // The largest number that it is proven to be at least.
  let [least, beyond] = [low, high + 1];
  while (beyond - least > 1) {
    const middle = Math.floor((least + beyond) / 2);
    if (ranges.atLeast(e!, middle)) least = middle;
    else beyond = middle;
  }
  return { low, high, multipleOf: ranges.multipleOf(e!), atLeast: least };
}

const block = `%n = dim {name = "n"} : i32 %i = program_id {axis = "i"} : i32 %c = constant {value = 64} : i32
  %s = mul %i, %c : i32 %e = sub %n, %s : i32`;

describe('elements from the start of a block to the end of the array', () => {
  test('are a whole block at least, where the extent is a multiple of it', () => {
    expect(knownOf('dim n multiple_of(64)', 'i = cdiv(n, 64)', block)).toMatchObject({ atLeast: 64, multipleOf: 64 });
    expect(knownOf('dim n multiple_of(192)', 'i = cdiv(n, 64)', block)).toMatchObject({ atLeast: 64 });
  });

  test('are one at least, where nothing is promised', () => {
    expect(knownOf('dim n', 'i = cdiv(n, 64)', block)).toMatchObject({ atLeast: 1, multipleOf: 1 });
    expect(knownOf('dim n multiple_of(32)', 'i = cdiv(n, 64)', block)).toMatchObject({ atLeast: 1, multipleOf: 32 });
  });

  test('may be none, where the grid is larger than the array needs', () => {
    expect(knownOf('dim n multiple_of(64)', 'i = (cdiv(n, 64) + 1)', block)).toMatchObject({ atLeast: 0 });
    expect(knownOf('dim n multiple_of(64) dim m', 'i = cdiv(m, 64)', block).atLeast).toBeLessThan(0);
  });

  test('are known by numbers alone', () => {
    const fixed = block.replace('dim {name = "n"}', 'constant {value = 1000}');
    expect(knownOf('', 'i = cdiv(1000, 64)', fixed)).toMatchObject({ low: 40, high: 1000, atLeast: 40 });
    expect(knownOf('dim n min(200) max(300)', 'i = 2', block)).toMatchObject({ low: 136, high: 300, atLeast: 136 });
  });

  test('of a part of a block are a whole part', () => {
    const parts = `%n = dim {name = "n"} : i32 %i = program_id {axis = "i"} : i32 %c = constant {value = 128} : i32
      %s = mul %i, %c : i32 %0 = constant {value = 0} : i32 %4 = constant {value = 4} : i32 %1 = constant {value = 1} : i32
      %32 = constant {value = 32} : i32
      for %0, %4, %1 (%j: i32) { %q = mul %j, %32 : i32 %t = add %s, %q : i32 %e = sub %n, %t : i32 yield }`;
    expect(knownOf('dim n multiple_of(128)', 'i = cdiv(n, 128)', parts)).toMatchObject({ atLeast: 32, multipleOf: 32 });
    expect(knownOf('dim n multiple_of(64)', 'i = cdiv(n, 128)', parts).atLeast).toBeLessThan(1);
  });
});

describe('loops', () => {
  const loop = (from: string, to: string, step: number, body: string): string =>
    `%n = dim {name = "n"} : i32 %0 = constant {value = 0} : i32 %1 = constant {value = 1} : i32
     %64 = constant {value = 64} : i32 %by = constant {value = ${step}} : i32 %i = program_id {axis = "i"} : i32
     %first = mul %i, %64 : i32 %past = add %first, %64 : i32 %blocks = cdiv %n, %64 : i32
     %seen = min %n, %past : i32 %some = cdiv %seen, %64 : i32
     for %${from}, %${to}, %by (%k: i32) { ${body} yield }`;

  test('that count blocks leave a whole one', () => {
    const rest = '%s = mul %k, %64 : i32 %e = sub %n, %s : i32';
    expect(knownOf('dim n multiple_of(64)', 'i = 1', loop('0', 'blocks', 1, rest))).toMatchObject({ atLeast: 64 });
    expect(knownOf('dim n multiple_of(64)', 'i = 1', loop('i', 'blocks', 1, rest))).toMatchObject({ atLeast: 64 });
    expect(knownOf('dim n', 'i = 1', loop('0', 'blocks', 1, rest))).toMatchObject({ atLeast: 1 });
  });

  test('that go in steps of a block leave a whole one', () => {
    const rest = '%e = sub %n, %k : i32';
    expect(knownOf('dim n multiple_of(64)', 'i = 1', loop('0', 'n', 64, rest))).toMatchObject({ atLeast: 64 });
    expect(knownOf('dim n multiple_of(64)', 'i = 1', loop('1', 'n', 64, rest))).toMatchObject({ atLeast: 1 });
    expect(knownOf('dim n multiple_of(64)', 'i = 1', loop('0', 'n', 48, rest))).toMatchObject({ atLeast: 16 });
  });

  test('that end early, at the smaller of two bounds, leave a whole block', () => {
    const rest = '%s = mul %k, %64 : i32 %e = sub %n, %s : i32';
    expect(knownOf('dim n multiple_of(64)', 'i = cdiv(n, 64)', loop('0', 'some', 1, rest))).toMatchObject({
      atLeast: 64,
    });
  });
});

describe('arithmetic', () => {
  const of = (ops: string, dims = 'dim n', grid = '') =>
    knownOf(
      dims,
      grid,
      `%n = dim {name = "n"} : i32 %7 = constant {value = 7} : i32 %m = constant {value = -7} : i32 ${ops}`,
    );

  test('that could wrap is known by its powers of two only', () => {
    expect(of('%c = constant {value = 48} : i32 %e = mul %n, %c : i32')).toEqual({
      low: -(2 ** 31),
      high: 2 ** 31 - 1,
      multipleOf: 16,
      atLeast: -(2 ** 31),
    });
    expect(of('%c = constant {value = 48} : i32 %e = mul %n, %c : i32', 'dim n max(1000)')).toMatchObject({
      low: 0,
      high: 48000,
      multipleOf: 48,
    });
    expect(of('%e = add %n, %7 : i32')).toMatchObject({ low: -(2 ** 31) });
  });

  test('of quotients and remainders has the bounds of its operands', () => {
    expect(of('%e = floor_div %m, %7 : i32')).toMatchObject({ low: -1, high: -1 });
    expect(of('%e = mod %n, %7 : i32')).toMatchObject({ low: 0, high: 6 });
    expect(of('%e = div %n, %7 : i32', 'dim n max(20)')).toMatchObject({ low: 0, high: 2 });
    expect(of('%e = mod %n, %7 : i32', 'dim n multiple_of(21)')).toMatchObject({ low: 0, high: 0, multipleOf: 0 });
    expect(of('%x = cdiv %n, %7 : i32 %y = mul %x, %7 : i32 %e = sub %y, %n : i32', 'dim n max(1000)')).toMatchObject({
      atLeast: 0,
    });
  });

  test('of minima and maxima knows which is which', () => {
    expect(of('%x = min %n, %7 : i32 %e = sub %7, %x : i32')).toMatchObject({ low: 0, high: 7, atLeast: 0 });
    expect(of('%x = max %n, %7 : i32 %e = sub %x, %n : i32', 'dim n max(100)')).toMatchObject({ atLeast: 0 });
    expect(of('%e = min %n, %7 : i32', 'dim n min(9)')).toMatchObject({ low: 7, high: 7 });
  });
});

/** Evaluates the i32 scalars of a launch for every program and every trip, as 32-bit arithmetic gives them. */
function everyValue(launch: Launch, dims: ReadonlyMap<string, number>, see: (v: Value, x: number) => void): void {
  const [axis] = launch.grid;
  const size = evaluateExtent(axis!.extent, dims);
  const values = new Map<Value, number>();
  const run = (region: Region): void => {
    for (const op of region.ops) step(op);
  };
  const step = (op: GenericOp): void => {
    const of = (group: string): number => values.get((op.operands as Record<string, Value>)[group]!)!;
    if (isOp(op, 'for')) {
      for (let k = of('from'); k < of('to'); k += of('step')) {
        values.set(op.regions[0]!.args[0]!, k);
        see(op.regions[0]!.args[0]!, k);
        run(op.regions[0]!);
      }
      return;
    }
    if (op.results.length === 0) return;
    const [a, b] = 'left' in op.operands ? [of('left'), of('right')] : [0, 0];
    const x = {
      constant: () => op.attrs.value as number,
      dim: () => dims.get(op.attrs.name as string)!,
      program_id: () => values.get(op.results[0]!)!,
      num_programs: () => size,
      add: () => a + b,
      sub: () => a - b,
      mul: () => Math.imul(a, b),
      floor_div: () => Math.floor(a / b),
      cdiv: () => Math.ceil(a / b),
      mod: () => a - b * Math.floor(a / b),
      div: () => Math.trunc(a / b),
      rem: () => a % b,
      min: () => Math.min(a, b),
      max: () => Math.max(a, b),
    }[op.name]!();
    values.set(op.results[0]!, x | 0);
    see(op.results[0]!, x | 0);
  };
  for (let id = 0; id < size; id++) {
    for (const op of launch.body.ops) if (isOp(op, 'program_id')) values.set(op.results[0]!, id);
    run(launch.body);
  }
}

test('what is known of random arithmetic holds for every program and trip', () => {
  const constants = [-3, -1, 0, 1, 2, 5, 8, 12, 64, 100000, 2 ** 30];
  const names = ['add', 'sub', 'mul', 'floor_div', 'cdiv', 'mod', 'div', 'rem', 'min', 'max'];
  const divides = new Set(['floor_div', 'cdiv', 'mod', 'div', 'rem']);
  const step = fc.tuple(fc.constantFrom(...names), fc.nat(100), fc.nat(100));
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 3, maxLength: 24 }),
      fc.nat(12),
      fc.constantFrom(1, 2, 4, 6, 8),
      fc.constantFrom(1, 2, 3, 8),
      fc.constantFrom(1, 2, 3, 8),
      (steps, times, multiple, blockSize, loopStep) => {
        const n = times * multiple;
        const values = ['n', 'i', 'p', ...constants.map((_, c) => `c${c}`)];
        const body = steps.slice(steps.length / 2);
        const write = (list: typeof steps, prefix: string): string =>
          list
            .map(([name, a, b], at) => {
              const left = values[a % values.length]!;
              // Division by zero is unspecified; divide by a constant that is not 0.
              const right = divides.has(name) ? `c${3 + (b % (constants.length - 3))}` : values[b % values.length]!;
              values.push(`${prefix}${at}`);
              return `%${prefix}${at} = ${name} %${left}, %${right} : i32`;
            })
            .join('\n');
        const before = write(steps.slice(0, steps.length / 2), 'u');
        const bound = values[(steps[0]![1] * 7) % values.length]!;
        values.push('k');
        const { kernel, launch } = parsed(
          `dim n multiple_of(${multiple}) max(96)`,
          `i = cdiv(n, ${blockSize})`,
          `%n = dim {name = "n"} : i32 %i = program_id {axis = "i"} : i32 %p = num_programs {axis = "i"} : i32
          ${constants.map((c, at) => `%c${at} = constant {value = ${c}} : i32`).join('\n')}
          ${before}
          %cap = constant {value = 40} : i32 %to = min %${bound}, %cap : i32 %by = constant {value = ${loopStep}} : i32
          for %c2, %to, %by (%k: i32) { ${write(body, 'w')} yield }`,
        );
        const ranges = new Ranges(kernel, launch);
        everyValue(launch, new Map([['n', n]]), (v, x) => {
          const { low, high } = ranges.of(v);
          const multipleOf = ranges.multipleOf(v);
          const holds = low <= x && x <= high && (multipleOf === 0 ? x === 0 : x % multipleOf === 0);
          if (!holds || ranges.atLeast(v, x + 1))
            throw new Error(
              `%${v.hint} is ${x} with n=${n}, but ${JSON.stringify({ low, high, multipleOf })} was claimed`,
            );
        });
      },
    ),
    { seed: 20261201, numRuns: 300 },
  );
});

describe('promises', () => {
  const promising = (promise: string): string => `%n = dim {name = "n"} : i32 %m = dim {name = "m"} : i32
    %a = constant {value = 100} : i32 %b = constant {value = 7} : i32 ${promise}`;

  test('of a multiple hold for what is computed from it', () => {
    const ops = promising('%p = multiple_of %n {multiple = 16} : i32 %q = mul %p, %b : i32 %e = add %q, %p : i32');
    expect(knownOf('dim n max(1000) dim m', '', ops)).toMatchObject({ low: 0, multipleOf: 128 });
    const both = promising('%p = multiple_of %n {multiple = 6} : i32 %e = multiple_of %p {multiple = 4} : i32');
    expect(knownOf('dim n dim m', '', both)).toMatchObject({ multipleOf: 12 });
  });

  test('of bounds hold in the whole launch, before and behind', () => {
    const at = (op: string): string => promising(`%e = sub %n, %b : i32 %c = ${op} %n, %a : bool assume %c`);
    expect(knownOf('dim n dim m', '', at('lt'))).toMatchObject({ low: -7, high: 92 });
    expect(knownOf('dim n dim m', '', at('le'))).toMatchObject({ low: -7, high: 93 });
    expect(knownOf('dim n dim m', '', at('gt'))).toMatchObject({ low: 94, atLeast: 94 });
    expect(knownOf('dim n dim m', '', at('ge'))).toMatchObject({ low: 93, atLeast: 93 });
    expect(knownOf('dim n dim m', '', at('eq'))).toMatchObject({ low: 93, high: 93 });
    const both = promising(`%e = sub %n, %b : i32 %c = le %n, %a : bool %d = ge %n, %b : bool
      %f = and %c, %d : bool assume %f`);
    expect(knownOf('dim n dim m', '', both)).toMatchObject({ low: 0, high: 93 });
  });

  test('that only hold in a branch bind nothing outside of it', () => {
    const inside = promising(`%e = sub %n, %b : i32 %d = lt %m, %a : bool
      if %d () { %c = lt %n, %a : bool assume %c yield } () { yield }`);
    expect(knownOf('dim n max(1000) dim m', '', inside)).toMatchObject({ high: 993 });
  });
});
