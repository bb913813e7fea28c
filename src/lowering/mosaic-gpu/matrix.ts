/** Loops over matrices that are no plain pipeline: products with blocks that TMA fetches a step ahead, rows reduced in registers. */

import type { DType } from '../../ir/dtypes.js';
import { reduceIdentity } from '../../ir/ops/contraction.js';
import { terminatorValues } from '../../ir/ops/control.js';
import { isOp, type OpOf } from '../../ir/ops/index.js';
import type { TileType } from '../../ir/types.js';
import type { GenericOp, Value } from '../../ir/value.js';
import { unsupportedOp } from '../rule-table.js';
import { isScalar, type Program, type Tile } from './program.js';
import { awaitSlot, blockOf, fillSlot, isShared, makeRing } from './shared.js';
import { elementType, literal, optimizationBarrier, vectorType } from './text.js';

/** Slots of the ring of a loop: what is used, and what is fetched for the next step. */
const slots = 2;

/** Loads a matrix ahead of everything else, and waits for it. */
export function emitMatrixLoad(program: Program, op: OpOf<'load'>): void {
  const ring = makeRing(program, [op], 1);
  const zero = program.out.int(0);
  fillSlot(program, ring, zero);
  awaitSlot(program, ring, zero, program.out.let('arith.constant false'));
}

/** The vectors that a carried value starts as. */
function startOf(program: Program, value: Value, like: Value): readonly string[] {
  const { shape, dtype } = value.type as TileType;
  const tile = program.tile(value);
  if (tile.kind === 'vectors') return tile.vectors;
  const panels = panelsOf(like);
  return program
    .vectors(tile, dtype, panels.shape, panels.count)
    .map((v) =>
      shape.length === 2 ? program.out.let(optimizationBarrier(v, vectorType(panels.shape, elementType(dtype)))) : v,
    );
}

/** How a carried value lies: in panels of 64 columns, as products with blocks of that width give it. */
function panelsOf(value: Value): { shape: readonly number[]; count: number } {
  const { shape } = value.type as TileType;
  const [rows = 1, columns] = shape;
  if (columns === undefined || columns % 64 !== 0) return { shape, count: 1 };
  return { shape: [rows, 64], count: columns / 64 };
}

export type Emit = (op: GenericOp) => void;

/** A loop that carries vectors. Loads of matrices in it are fetched a step ahead. */
export function emitLoop(program: Program, loop: OpOf<'for'>, emit: Emit): void {
  const { definition, out } = program;
  const [body] = loop.regions as [OpOf<'for'>['regions'][number]];
  const { from, step, init = [] } = loop.operands;
  const constant = (v: Value): number | undefined => {
    const op = definition(v);
    return isOp(op, 'constant') ? Number(op.attrs.value) : undefined;
  };
  const loads = body.ops.filter((op): op is OpOf<'load'> => isOp(op, 'load') && isShared(op));
  if (loads.length > 0 && (constant(from) !== 0 || constant(step) !== 1))
    unsupportedOp('loops over matrices that do not count from 0 by 1, with mosaic_gpu');
  if (loads.length > 0 && program.depth > 0) unsupportedOp('loops over matrices in loops, with mosaic_gpu');
  if (init.some(isScalar)) unsupportedOp('loops that carry scalars, with mosaic_gpu');
  const [counter, ...args] = body.args as [Value, ...Value[]];
  const ring = loads.length > 0 ? makeRing(program, loads, slots) : undefined;
  const trips = program.scalar(loop.operands.to);
  const [first, by] = [program.scalar(from), program.scalar(step)];
  const one = out.int(1);

  /** Fetches the blocks of a trip, where there is one. */
  const fetch = (trip: string): void => {
    if (!ring) return;
    const inside = program.out.nested();
    const more = program.out.let(`arith.cmpi slt, ${trip}, ${trips} : i32`);
    program.within(inside, () => {
      program.bind(counter, trip);
      fillSlot(program, ring, program.out.let(`arith.andi ${trip}, ${one} : i32`));
    });
    program.out.region(`scf.if ${more}`, inside);
  };
  fetch(first);

  const starts = init.map((v, i) => startOf(program, v, args[i]!));
  const types = args.map((v) => {
    const { shape } = panelsOf(v);
    return vectorType(shape, elementType((v.type as TileType).dtype));
  });
  const names = starts.map((panels) => panels.map(() => out.fresh()));
  const trip = out.fresh();
  const inside = out.nested();
  const flat = starts.flatMap((panels, i) => panels.map(() => types[i]!));
  program.within(inside, () => {
    program.depth++;
    program.bind(counter, trip);
    args.forEach((arg, i) => program.tiles.set(arg, vectorsOf(names[i]!, panelsOf(arg).shape)));
    const o = program.out;
    if (ring) {
      const slot = o.let(`arith.andi ${trip}, ${one} : i32`);
      const turn = o.let(`arith.shrui ${trip}, ${one} : i32`);
      const parity = o.let(`arith.trunci ${o.let(`arith.andi ${turn}, ${one} : i32`)} : i32 to i1`);
      // The products of the trip before are done, so its slot is free.
      fetch(o.let(`arith.addi ${trip}, ${one} : i32`));
      awaitSlot(program, ring, slot, parity);
    }
    for (const op of body.ops) if (!loads.includes(op as OpOf<'load'>) && op.name !== 'yield') emit(op);
    const ends = terminatorValues(body).flatMap((v, i) => {
      const { shape, count } = panelsOf(args[i]!);
      return program.vectors(program.tile(v), (v.type as TileType).dtype, shape, count);
    });
    o.add(`scf.yield ${ends.join(', ')} : ${flat.join(', ')}`);
    program.depth--;
  });
  const result = out.fresh();
  const carried = names.flatMap((panels, i) => panels.map((name, p) => `${name} = ${starts[i]![p]}`)).join(', ');
  out.region(
    `${result}${flat.length > 1 ? `:${flat.length}` : ''} = scf.for ${trip} = ${first} to ${trips} step ${by} iter_args(${carried}) -> (${flat.join(', ')}) : i32`,
    inside,
  );
  let at = 0;
  loop.results.forEach((value, i) => {
    const panels = names[i]!.map(() => (flat.length > 1 ? `${result}#${at++}` : result));
    program.tiles.set(value, vectorsOf(panels, panelsOf(args[i]!).shape));
  });
}

const vectorsOf = (vectors: readonly string[], shape: readonly number[]): Tile => ({ kind: 'vectors', vectors, shape });

/** A product: the left side in shared memory or in registers, the right side in shared memory. */
export function emitDot(program: Program, op: OpOf<'dot'>): void {
  const { out } = program;
  const { a, b, acc } = op.operands;
  const { shape, dtype } = a.type;
  const [m, k] = shape as [number, number];
  const n = b.type.shape.at(-1)!;
  if (shape.length !== 2 || m % 64 !== 0)
    unsupportedOp(`dot of ${m} rows with mosaic_gpu: wgmma takes multiples of 64`);
  if (k % 64 !== 0 || n % 8 !== 0)
    unsupportedOp(`dot of [${m}, ${k}] · [${k}, ${n}] with mosaic_gpu: depths come in multiples of 64`);
  const right = blockOf(program, b);
  if (!right) return unsupportedOp('dot whose right side is not loaded, with mosaic_gpu');
  const left = blockOf(program, a);
  if (left?.transposed) unsupportedOp('dot of a transposed left side, with mosaic_gpu');
  const width = right.transposed ? right.rows : right.width;
  const count = n / width;
  const sums = vectorType([m, width], 'f32');
  const before: Tile = acc ? program.tile(acc) : { kind: 'splat', scalar: '', constant: '0.0' };
  const held = program.vectors(before, (op.results[0]!.type as TileType).dtype, [m, width], count);
  let now = held.map((v) => out.let(optimizationBarrier(v, sums), op.loc));

  const element = elementType(dtype);
  const product = (sum: string, x: string, xType: string, y: string, yType: string): string =>
    out.let(`mosaic_gpu.wgmma accumulator(${sum} : ${sums}) a(${x} : ${xType}) b(${y} : ${yType}) -> ${sums}`, op.loc);
  const flip = (panel: string): readonly [string, string] => {
    const type = right.panelType.replace(
      /^memref<(\d+)x(\d+)x(\w+), strided<\[(\d+), 1\]/,
      (_, r, c, e, s) => `memref<${c}x${r}x${e}, strided<[1, ${s}]`,
    );
    return [out.let(`memref.transpose ${panel} (r, c) -> (c, r) : ${right.panelType} to ${type}`), type];
  };
  const products: (() => void)[] = [];
  if (left) {
    if (!right.transposed && left.panels.length > 1)
      unsupportedOp(
        'dot of a block wider than 64 with one that is not transposed, outside of a pipeline, with mosaic_gpu',
      );
    left.panels.forEach((x, i) => {
      const operands: readonly (readonly [string, string])[] = right.transposed
        ? [flip(right.panels[i]!)]
        : right.panels.map((p) => [p, right.panelType] as const);
      products.push(() => {
        now = now.map((sum, j) => product(sum, x, left.panelType, ...operands[j]!));
      });
    });
  } else {
    if (right.transposed && right.panels.length > 1)
      unsupportedOp('dot of registers with a transposed block wider than 64, with mosaic_gpu');
    const tile = program.tile(a);
    const [vector, ...more] = program.vectors(tile, dtype, [m, k], 1);
    if (more.length > 0) unsupportedOp('dot of registers in several panels, with mosaic_gpu');
    const type = vectorType([m, k], element);
    const x = out.let(optimizationBarrier(vector!, type), op.loc);
    const operands = right.transposed
      ? [flip(right.panels[0]!)]
      : right.panels.map((p) => [p, right.panelType] as const);
    products.push(() => {
      now = now.map((sum, j) => product(sum, x, type, ...operands[j]!));
    });
  }
  out.add('nvvm.wgmma.fence.aligned');
  for (const work of products) work();
  out.add('nvvm.wgmma.commit.group.sync.aligned');
  out.add('nvvm.wgmma.wait.group.sync.aligned 0');
  const results = now.map((v) => out.let(optimizationBarrier(v, sums), op.loc));
  program.tiles.set(op.results[0]!, vectorsOf(results, [m, width]));
}

const kinds: Readonly<Record<string, string>> = { sum: 'add', max: 'maximumf', min: 'minimumf' };

/** Reduces each row. */
export function emitRowReduce(program: Program, op: OpOf<'reduce'>): void {
  const { input } = op.operands;
  const { dtype, shape } = input.type;
  const kind = kinds[op.attrs.kind];
  if (kind === undefined || dtype.name !== 'f32' || shape.length !== 2 || op.attrs.axis !== 1)
    return unsupportedOp(
      `'reduce' (${op.attrs.kind}, axis ${op.attrs.axis}) of a matrix of ${dtype.name} with mosaic_gpu`,
    );
  const tile = program.tile(input);
  if (tile.kind !== 'vectors') return unsupportedOp("'reduce' of a matrix of one value, with mosaic_gpu");
  const { out } = program;
  const [rows] = shape as [number];
  const result = vectorType([rows], 'f32');
  const identity = literal(Number(reduceIdentity(op.attrs.kind, dtype)), dtype as DType);
  let sum = out.let(`arith.constant dense<${identity}> : ${result}`);
  for (const panel of tile.vectors)
    sum = out.let(
      `vector.multi_reduction <${kind}>, ${panel}, ${sum} [1] : ${vectorType(tile.shape, 'f32')} to ${result}`,
      op.loc,
    );
  program.tiles.set(op.results[0]!, vectorsOf([sum], [rows]));
}
