/** Lowers a kernel to MLIR for the CPU: per launch one entry that runs a range of programs, and the program itself. */

import { type Loc, primaryLoc, unknownLoc } from '../../diagnostics/location.js';
import type { DType } from '../../ir/dtypes.js';
import type { ArrayParam, Kernel, Launch } from '../../ir/kernel.js';
import type { FastMathFlag } from '../../ir/ops/elementwise.js';
import type { Extent } from '../../ir/symbolic.js';
import type { Value } from '../../ir/value.js';
import { walk } from '../../ir/walk.js';
import { type MlirOp, type MlirValue, mlirOp, mlirString } from '../mlir.js';
import { withOpLocation } from '../rule-table.js';
import { Arena } from './arena.js';
import { elemOf } from './arithmetic.js';
import { Emitter, type Lanes, pointer } from './emitter.js';
import { NestEmitter } from './nest.js';
import { RegionLowering } from './program.js';
import { loadLanes } from './storage.js';
import { type ArrayPlace, Tiles } from './tiles.js';
import type { VectorUnit } from './vector-unit.js';

export interface CpuOptions {
  readonly target: string;
  readonly unit: VectorUnit;
  /** Symbol of each launch, in order; see the launch plan. */
  readonly symbols: readonly string[];
}

export interface CpuModule {
  readonly module: MlirOp;
  /** Scratch bytes per thread of each launch. */
  readonly scratchBytes: readonly number[];
}

/** Registers that one step of an elementwise loop fills. */
const registersPerStep = 4;

/**
 * @param kernel after `legalize-ragged`: raggedness is explicit.
 * @throws CompileError where an op or dtype has no CPU lowering, at the user's line.
 */
export function lowerToCpu(kernel: Kernel, options: CpuOptions): CpuModule {
  const functions: MlirOp[] = [];
  const symbols = new Map<string, MlirOp>();
  const scratchBytes: number[] = [];
  kernel.launches.forEach((launch, i) => {
    const { ops, bytes } = lowerLaunch(kernel, launch, options.symbols[i]!, options, symbols);
    functions.push(...ops);
    scratchBytes.push(bytes);
  });
  // mlir-opt's line-info pass crashes on a module whose location is a call.
  const loc = primaryLoc(kernel.loc) ?? unknownLoc;
  const module = mlirOp('builtin.module', { regions: [{ args: [], ops: [...symbols.values(), ...functions] }] }, loc);
  return { module, scratchBytes };
}

/** Names of dims and integer scalars with their values inside a function. */
type Extents = ReadonlyMap<string, MlirValue>;

function emitExtent(e: Emitter, extent: Extent, args: Extents): MlirValue {
  if (typeof extent === 'number') return e.i64(extent);
  if (extent.kind === 'argument') return args.get(extent.name)!;
  const [a, b] = [emitExtent(e, extent.left, args), emitExtent(e, extent.right, args)];
  const op = (name: string, ...operands: MlirValue[]): MlirValue => e.op(`arith.${name}`, { operands, types: ['i64'] });
  // Extents are never negative and divisors are positive, so truncation rounds down.
  switch (extent.kind) {
    case 'add':
      return e.addIndex(a, b);
    case 'sub':
      return op('subi', a, b);
    case 'mul':
      return e.mulIndex(a, b);
    case 'floor_div':
      return e.divIndex(a, b);
    case 'mod':
      return e.remIndex(a, b);
    case 'cdiv':
      return e.divIndex(e.addIndex(e.addIndex(a, b), e.i64(-1)), b);
    case 'min':
      return op('minsi', a, b);
    case 'max':
      return op('maxsi', a, b);
  }
}

function lowerLaunch(
  kernel: Kernel,
  launch: Launch,
  symbol: string,
  options: CpuOptions,
  symbols: Map<string, MlirOp>,
): { ops: MlirOp[]; bytes: number } {
  const arrays = kernel.params.filter((p): p is ArrayParam => p.kind === 'array');
  const scalars = kernel.params.filter((p) => p.kind === 'scalar');
  const program = `${symbol}.program`;
  const argTypes = [
    ...arrays.map(() => pointer),
    ...kernel.dims.map(() => 'i64'),
    ...scalars.map((s) => elemOf(s.value.type.dtype)),
    pointer,
    'i64',
  ];

  let widens = false;
  walk(launch.body, ({ attrs }) => {
    widens ||= (attrs as { fast?: readonly FastMathFlag[] }).fast?.includes('widen') ?? false;
  });
  const e = new Emitter(options.unit, symbols, widens);
  e.loc = launch.loc;
  const args = argTypes.map((type) => ({ type }));
  const take = <T>(n: T[]): MlirValue[] => args.splice(0, n.length);
  const all = [...args];
  const bases = take(arrays);
  const dims = take([...kernel.dims]);
  const scalarValues = take(scalars);
  const [arena, linear] = args;

  const extents = new Map<string, MlirValue>(kernel.dims.map((d, i) => [d.name, dims[i]!]));
  scalars.forEach((s, i) => {
    const { dtype } = s.value.type;
    const lanes: Lanes = { value: scalarValues[i]!, elem: elemOf(dtype), width: 1 };
    if (dtype.cls === 'int') extents.set(s.name, e.toIndex(lanes, dtype.signed));
  });
  const places = new Map<Value, ArrayPlace>(
    arrays.map((p, i) => {
      const { shape, dtype } = p.value.type;
      const strides: MlirValue[] = [];
      for (let axis = shape.length - 1, stride = e.i64(1); axis >= 0; axis--) {
        strides[axis] = stride;
        if (axis > 0)
          stride =
            strides[axis] === e.i64(1)
              ? emitExtent(e, shape[axis]!, extents)
              : e.mulIndex(stride, emitExtent(e, shape[axis]!, extents));
      }
      return [p.value, { base: bases[i]!, strides, dtype }];
    }),
  );
  const asIndex = (value: MlirValue): Lanes => e.convert('arith.trunci', { value, elem: 'i64', width: 1 }, 'i32');
  const grid = new Map<string, Lanes>();
  const ids = new Map<string, Lanes>();
  let rest = linear!;
  for (const { name, extent } of [...launch.grid].reverse()) {
    const size = emitExtent(e, extent, extents);
    grid.set(name, asIndex(size));
    const last = launch.grid[0]!.name === name;
    ids.set(name, asIndex(last ? rest : e.remIndex(rest, size)));
    if (!last) rest = e.divIndex(rest, size);
  }

  const tiles = new Tiles(e, places, arena!);
  scalars.forEach((s, i) =>
    tiles.set(s.value, {
      kind: 'scalar',
      lanes: { value: scalarValues[i]!, elem: elemOf(s.value.type.dtype), width: 1 },
    }),
  );
  const memory = new Arena();
  const lanes = options.unit.bytes / 4;
  const context = {
    tiles,
    arena: memory,
    unit: options.unit,
    nests: new NestEmitter(tiles, lanes * registersPerStep, lanes),
    dims: new Map([...kernel.dims].map((d, i) => [d.name, asIndex(dims[i]!)])),
    ids,
    grid,
  };
  withOpLocation(
    () => e.loc,
    options.target,
    () => new RegionLowering(context, launch.body).lower(() => undefined),
  );
  e.loc = launch.loc;
  e.ops('func.return', {});

  const argAttrs = argTypes.map((t, i) =>
    t === pointer && (i < arrays.length || i === arrays.length + kernel.dims.length + scalars.length)
      ? '{llvm.noalias, llvm.nonnull}'
      : '{}',
  );
  const programOp = mlirOp(
    'func.func',
    {
      properties: {
        sym_name: mlirString(program),
        sym_visibility: '"private"',
        function_type: `(${argTypes.join(', ')}) -> ()`,
        arg_attrs: `[${argAttrs.join(', ')}]`,
      },
      // Else the optimiser makes calls of the C library out of copying loops: slower for rows, and one more dependency.
      attributes: { passthrough: '["no-builtins"]' },
      regions: [{ args: all, ops: e.body() }],
    },
    launch.loc,
  );
  const entry = emitEntry(
    options.unit,
    {
      symbol,
      program,
      arrays: arrays.length,
      dims: kernel.dims.length,
      scalars: scalars.map((s) => s.value.type.dtype),
    },
    launch.loc,
  );
  return { ops: [programOp, entry], bytes: memory.bytes };
}

/** `void SYMBOL(void *const *pointers, const int64_t *scalars, void *scratch, int64_t lo, int64_t hi)`. */
function emitEntry(
  unit: VectorUnit,
  shape: { symbol: string; program: string; arrays: number; dims: number; scalars: readonly DType[] },
  loc: Loc,
): MlirOp {
  const e = new Emitter(unit);
  e.loc = loc;
  const types = [pointer, pointer, pointer, 'i64', 'i64'];
  const args = types.map((type) => ({ type }));
  const [pointers, slots, scratch, low, high] = args;
  const loaded = Array.from({ length: shape.arrays }, (_, i) =>
    e.loadMemory(e.address(pointers!, e.i64(i), pointer), pointer, 1, 8),
  );
  const dims = Array.from({ length: shape.dims }, (_, i) =>
    e.loadMemory(e.address(slots!, e.i64(i), 'i64'), 'i64', 1, 8),
  );
  // A scalar's own bits lie at the start of its slot.
  const scalars = shape.scalars.map(
    (dtype, i) => loadLanes(e, e.address(slots!, e.i64(shape.dims + i), 'i64'), dtype, 1).value,
  );
  e.for(low!, high!, e.i64(1), [], (pid) => {
    e.ops('func.call', {
      operands: [...loaded, ...dims, ...scalars, scratch!, pid],
      properties: { callee: `@${mlirString(shape.program)}` },
    });
    return [];
  });
  e.ops('func.return', {});
  return mlirOp(
    'func.func',
    {
      properties: { sym_name: mlirString(shape.symbol), function_type: `(${types.join(', ')}) -> ()` },
      regions: [{ args, ops: e.body() }],
    },
    loc,
  );
}
