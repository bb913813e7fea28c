import { describe, expect, test } from '@jest/globals';
import { fileLoc, unknownLoc } from '../../src/diagnostics/location.js';
import { RegionBuilder } from '../../src/ir/builder.js';
import { bool, f32, i32 } from '../../src/ir/dtypes.js';
import type { ArrayParam, Kernel, Param } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import { argument, symbolic } from '../../src/ir/symbolic.js';
import { indexType, refType, type Type, tileType } from '../../src/ir/types.js';
import { type GenericOp, type Region, value } from '../../src/ir/value.js';
import { verifyKernel } from '../../src/ir/verifier.js';

const place = fileLoc('k.kernel.ts', 7, 3);

function kernelOf(body: Region, parts: Partial<Kernel> = {}): Kernel {
  return {
    name: 'k',
    dims: [],
    params: [],
    launches: [{ name: 'k', grid: [], backendParams: [], body, loc: unknownLoc }],
    loc: unknownLoc,
    ...parts,
  };
}

const faultsOf = (kernel: Kernel): string[] => verifyKernel(kernel).map((d) => d.message);
const empty: Region = { args: [], ops: [] };

const op = (name: string, parts: Partial<GenericOp> = {}): GenericOp => ({
  name,
  operands: {},
  attrs: {},
  results: [],
  regions: [],
  loc: place,
  ...parts,
});
const constant = (type: Type, attrs: GenericOp['attrs'] = { value: 0 }): GenericOp =>
  op('constant', { attrs, results: [value(type)] });

describe('types that cannot be', () => {
  test.each([
    [tileType(i32, [1, 1, 1, 1, 1, 1, 1]), 'i32[1, 1, 1, 1, 1, 1, 1] has 7 axes, at most 6 can be'],
    [tileType(i32, [4, 0]), 'i32[4, 0] needs extents from 1 to 2147483647'],
    [tileType(i32, [1.5]), 'i32[1.5] needs extents from 1 to 2147483647'],
    [tileType(i32, [65536, 65536]), 'i32[65536, 65536] has more than 2147483647 elements'],
  ])('%j', (type, fault) => {
    const [diagnostic, ...more] = verifyKernel(kernelOf({ args: [], ops: [constant(type)] }));
    expect(more).toEqual([]);
    expect(diagnostic).toMatchObject({ code: 'TW0112', message: fault, loc: place });
  });

  const array = (parts: Partial<ArrayParam>): Kernel => {
    const param: Param = {
      kind: 'array',
      role: 'in',
      name: 'x',
      value: value(refType('gmem', f32, [4])),
      loc: place,
      ...parts,
    };
    return kernelOf(empty, { params: [param] });
  };

  test('of arrays: an extent may be 0, not less', () => {
    expect(faultsOf(array({ value: value(refType('gmem', f32, [0])) }))).toEqual([]);
    expect(faultsOf(array({ value: value(refType('gmem', f32, [-1])) }))).toEqual([
      'ref<gmem f32[-1]> needs extents from 0 to 2147483647',
    ]);
  });

  test('roles that do not fit', () => {
    expect(faultsOf(array({ role: 'out', aliasOf: 'y' }))).toEqual([
      "'x' is 'out', so it cannot share the memory of 'y'",
    ]);
    expect(faultsOf(array({ role: 'inout', aliasOf: 'y' }))).toEqual([]);
    expect(faultsOf(array({ role: 'inout', zeroed: true }))).toEqual([
      "'x' is 'inout', so what it holds cannot be zeroed first",
    ]);
    expect(faultsOf(array({ role: 'temp', zeroed: true }))).toEqual([]);
  });
});

test('names in extents, grids and costs are dims or integer scalars', () => {
  const scalar = (name: string, dtype: typeof i32 | typeof f32): Param => ({
    kind: 'scalar',
    name,
    value: value(tileType(dtype)),
    loc: place,
  });
  const kernel = kernelOf(empty, {
    params: [scalar('count', i32), scalar('scale', f32)],
    cost: { flops: symbolic('mul', argument('count'), argument('scale')) },
  });
  expect(faultsOf(kernel)).toEqual(["dim 'scale' is not defined here"]);
});

describe('ops that were built wrong', () => {
  const faultsOfOps = (...ops: GenericOp[]): string[] => faultsOf(kernelOf({ args: [], ops }));
  const x = constant(tileType(f32, [4]), { value: 1 });
  const [v] = x.results;

  test('attributes of the wrong kind', () => {
    expect(faultsOfOps(constant(indexType, { value: 'one' }))).toEqual([
      "attribute 'value' of 'constant' must be a number",
    ]);
    expect(faultsOfOps(x, op('reduce', { operands: { input: v }, attrs: { axis: 0.5, kind: 'mean' } }))).toEqual([
      "attribute 'kind' of 'reduce' must be one of sum, prod, max, min, max_num, min_num, argmax, argmin, any, all",
      "attribute 'axis' of 'reduce' must be an integer",
    ]);
    expect(faultsOfOps(x, op('neg', { operands: { input: v }, attrs: { fast: 'contract' } }))).toEqual([
      "attribute 'fast' of 'neg' must be a list of approx, contract, reassociate, widen",
    ]);
    expect(
      faultsOfOps(x, op('neg', { operands: { input: v }, attrs: { fast: ['contract'] }, results: [value(v!.type)] })),
    ).toEqual([]);
  });

  test('operands of the wrong arity', () => {
    expect(faultsOfOps(x, op('neg', { operands: { input: [v!] }, results: [value(v!.type)] }))).toEqual([
      "'neg' needs one value for 'input'",
    ]);
    expect(faultsOfOps(constant(indexType), op('extent_mask', { operands: { extents: v } }))).toContain(
      "'extent_mask' needs a list of values for 'extents'",
    );
  });

  test('an op that the table does not have', () => {
    expect(faultsOfOps(op('conjure'))).toEqual(["op 'conjure' is not defined here"]);
  });

  test('every fault of every op is reported, each at its op', () => {
    const stray = value(tileType(f32, [4]), 'stray');
    const elsewhere = fileLoc('k.kernel.ts', 9, 1);
    const diagnostics = verifyKernel(
      kernelOf({
        args: [],
        ops: [
          op('neg', { operands: { input: stray }, results: [value(tileType(f32, [8]))] }),
          op('dim', { attrs: { name: 'n' }, results: [value(indexType)], loc: elsewhere }),
        ],
      }),
    );
    expect(diagnostics.map((d) => [d.code, d.loc])).toEqual([
      ['TW0102', place],
      ['TW0004', place],
      ['TW0002', elsewhere],
    ]);
  });
});

test('regions nest 200 deep, and are followed no further', () => {
  const nested = (depth: number): Kernel => {
    const condition = constant(tileType(bool), { value: 1 });
    const end: GenericOp = op('yield');
    let region: Region = { args: [], ops: [end] };
    for (let i = 2; i < depth; i++)
      region = {
        args: [],
        ops: [
          op('if', { operands: { condition: condition.results[0] }, regions: [region, { args: [], ops: [end] }] }),
          end,
        ],
      };
    const outer = op('if', {
      operands: { condition: condition.results[0] },
      regions: [region, { args: [], ops: [end] }],
    });
    return kernelOf({ args: [], ops: [condition, outer] });
  };
  expect(faultsOf(nested(200))).toEqual([]);
  expect(faultsOf(nested(201))).toEqual(['regions nest more than 200 deep']);
  expect(faultsOf(nested(20_000))).toEqual(['regions nest more than 200 deep']);
});

test('a value of one launch is not in scope in the next', () => {
  const first = new RegionBuilder();
  const n = first.emit('constant', {}, { value: 1 }, place, { types: [indexType] });
  const second = new RegionBuilder();
  second.append(op('neg', { operands: { input: n }, results: [value(indexType)] }));
  const launch = (name: string, body: Region) => ({ name, grid: [], backendParams: [], body, loc: unknownLoc });
  const launches = [launch('a', first.finish()), launch('b', second.finish())];
  expect(faultsOf(kernelOf(empty, { launches }))).toEqual([
    "'neg' uses a value of type i32 that is not defined before it in a region around it",
  ]);
});

test('what the host computes for an extent agrees with the device, also by zero', () => {
  expect(symbolic('cdiv', 5, 0)).toBe(0);
  expect(symbolic('floor_div', -7, 2)).toBe(-4);
  expect(symbolic('mod', -7, 2)).toBe(1);
  const text = 'kernel @k { dim n in %x: ref<gmem f32[floor_div(4, 0)]> launch @k grid(i = cdiv(n, 0)) { } }';
  expect(parseModule(text, 'k.kir').module!.kernels.flatMap((k) => verifyKernel(k))).toEqual([]);
});
