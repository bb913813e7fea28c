/**
 * What TypeScript accepts and refuses of the front end. Compiled by `npm run typecheck`, never run: a mistake that is no
 * longer an error makes its `@ts-expect-error` an error, and a type that has drifted fails its `same`.
 */

import {
  all,
  array,
  assertTrue,
  atomic,
  type BF16,
  type Bool,
  bf16,
  blockProgram,
  bool,
  cdiv,
  choice,
  concatenate,
  type Dims,
  dim,
  dot,
  ds,
  dtypes,
  type Extent,
  element,
  extract,
  type F16,
  type F32,
  type F64,
  f16,
  f32,
  f64,
  full,
  gather,
  grid,
  type I32,
  type Index,
  i8,
  i32,
  i64,
  ifElse,
  interpret,
  iota,
  join,
  kernel,
  loop,
  maximum,
  type NdArray,
  type Rank,
  type Ref,
  random,
  reduce,
  type Scalar,
  scalar,
  scan,
  select,
  sequence,
  slice,
  sort,
  split,
  squeezed,
  type Tile,
  takeAlong,
  when,
  whileLoop,
  zeros,
} from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import * as pltriton from 'tilewright/triton';

/** Whether two types are the same, in both directions. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._: Same<A, B> extends true ? [] : [never]): void => {};

declare const a32: Tile<F32, 2>;
declare const b16: Tile<F16, 2>;
declare const v32: Tile<F32, 1>;
declare const ints: Tile<I32, 1>;
declare const mask: Tile<Bool, 2>;
declare const holds: Scalar<Bool>;
declare const i: Index;

export function ranks(): void {
  same<ReturnType<typeof a32.transpose>, Tile<F32, 2>>();
  const sum = a32.add(v32);
  same<typeof sum, Tile<F32, 2>>();
  const wider = v32.add(a32);
  same<typeof wider, Tile<F32, 2>>();
  const withNumber = v32.mul(2);
  same<typeof withNumber, Tile<F32, 1>>();
  const reduced = a32.sum(1);
  same<typeof reduced, Tile<F32, 1>>();
  const kept = a32.max(1, { keepDims: true });
  same<typeof kept, Tile<F32, 2>>();
  const expanded = v32.expand(1);
  same<typeof expanded, Tile<F32, 2>>();
  const shaped = a32.reshape([2, 3, 4]);
  same<typeof shaped, Tile<F32, 3>>();
  const compared = a32.lt(0);
  same<typeof compared, Tile<Bool, 2>>();
  const chosen = select(a32.lt(0), v32, 0);
  same<typeof chosen, Tile<F32, 2>>();
  const filled = zeros(bf16, [4, 4]);
  same<typeof filled, Tile<BF16, 2>>();
  const counted = iota([4]);
  same<typeof counted, Tile<I32, 1>>();
  const [rows, columns] = a32.shape;
  same<typeof rows, number>();
  same<typeof columns, number>();
  const generic = relu(a32);
  same<typeof generic, Tile<F32, 2>>();
  same<ReturnType<typeof smooth<2>>, Tile<F32, 2>>();
}

function smooth<R extends Rank>(x: Tile<F32, R>): Tile<F32, R> {
  return maximum(x, x.mul(x).mul(0.5)).add(x);
}

/** A helper over any rank is an ordinary generic function. */
function relu<R extends Rank>(x: Tile<F32, R>): Tile<F32, R> {
  return maximum(x, 0) as Tile<F32, R>;
}

export function dtypesOfResults(): void {
  const product = dot(b16, b16);
  same<typeof product, Tile<F32, 2>>();
  const counts = zeros(i8, [4]).sum(0);
  same<typeof counts, Tile<I32, 0>>();
  const wide = dot(zeros(i64, [2, 2]), zeros(i64, [2, 2]));
  same<(typeof wide)['dtype']['name'], 'i64'>();
  const double = dot(zeros(f64, [2, 2]), zeros(f64, [2, 2]));
  same<(typeof double)['dtype']['name'], 'f64'>();
  const cast = a32.to(f16);
  same<typeof cast, Tile<F16, 2>>();
  const positions = v32.argmax(0);
  same<typeof positions, Index>();
}

export function reductionsAndScans(): void {
  const kept = a32.argmax(0, { keepDims: true });
  same<typeof kept, Tile<I32, 2>>();
  const wide = ints.sum(0, { dtype: i64 });
  same<(typeof wide)['dtype']['name'], 'i64'>();
  const both = b16.sum(1, { keepDims: true, dtype: f32 });
  same<typeof both, Tile<F32, 2>>();
  const running = b16.cumsum(1, { reverse: true });
  same<typeof running, Tile<F16, 2>>();
  const counted = mask.cumsum(0);
  same<typeof counted, Tile<I32, 2>>();
  const one = reduce(a32, 1, (a, b) => maximum(a, b));
  same<typeof one, Tile<F32, 1>>();
  const best = reduce({ value: a32, at: iota([2, 2]) }, 0, (a, b) => {
    same<typeof a.value, Scalar<F32>>();
    const better = b.value.gt(a.value);
    return { value: select(better, b.value, a.value), at: select(better, b.at, a.at) };
  });
  same<typeof best.value, Tile<F32, 1>>();
  same<typeof best.at, Tile<I32, 1>>();
  const segments = scan({ sum: a32, start: mask }, 1, (a, b) => ({
    sum: select(b.start, b.sum, a.sum.add(b.sum)),
    start: a.start.or(b.start),
  }));
  same<typeof segments.sum, Tile<F32, 2>>();
  // @ts-expect-error the axis does not exist
  scan(v32, 1, (a, b) => a.add(b));
  // @ts-expect-error what is combined keeps its dtype
  reduce(v32, 0, (a, b) => a.lt(b));
  // @ts-expect-error every operand is given again
  scan({ sum: a32, start: mask }, 1, (a, b) => ({ sum: a.sum.add(b.sum) }));
}

export function arrangements(): void {
  const joined = join(v32, v32);
  same<typeof joined, Tile<F32, 2>>();
  const [left] = split(a32);
  same<typeof left, Tile<F32, 1>>();
  const rows = concatenate([a32, a32], 0);
  same<typeof rows, Tile<F32, 2>>();
  const part = slice(a32, [0, i], [1, 4]);
  same<typeof part, Tile<F32, 2>>();
  const corner = extract(a32, [i, i]);
  same<typeof corner, Scalar<F32>>();
  const picked = takeAlong(v32, ints, 0);
  same<typeof picked, Tile<F32, 1>>();
  const { values, positions } = sort(b16, 1, { descending: true });
  same<typeof values, Tile<F16, 2>>();
  same<typeof positions, Tile<I32, 2>>();
  const bits = random.bits(1, ints);
  same<(typeof bits)['dtype']['name'], 'u32'>();
  const uniform = random.uniform(i, ints);
  same<typeof uniform, Tile<F32, 1>>();
  // @ts-expect-error tiles of one dtype
  join(a32, b16);
  // @ts-expect-error a choice goes by integers
  takeAlong(v32, v32, 0);
  // @ts-expect-error a seed is one integer
  random.bits(ints, ints);
  // @ts-expect-error a condition is bool
  assertTrue(v32, 'message');
}

export function operands(): void {
  // @ts-expect-error f32 and f16 do not mix
  a32.add(b16);
  // @ts-expect-error nor in a select
  select(mask, a32, b16);
  // @ts-expect-error nor in a dot
  dot(a32, b16);
  // @ts-expect-error a ref is no tile
  a32.add({} as Ref<F32, 2>);
  // @ts-expect-error the axis does not exist
  v32.max(1);
  // @ts-expect-error an i32 is no condition
  when(i, () => {});
  // @ts-expect-error a mask of bools is no scalar condition
  when(mask, () => {});
  // @ts-expect-error the condition of a select is bool
  select(a32, a32, 0);
  // @ts-expect-error a tile extent is a number
  zeros(f32, [i]);
  // @ts-expect-error an option that does not exist
  dot(a32, a32, { acumulate: true });
  // @ts-expect-error a precision that does not exist
  dot(a32, a32, { precision: 'fast' });
}

export function javascriptOperators(): void {
  // @ts-expect-error always true (TS2801)
  if (a32.lt(0)) full(f32, [1], 0);
  // @ts-expect-error always true (TS2801)
  const both = a32.lt(0) && a32.lt(1);
  // @ts-expect-error always true (TS2801)
  const picked = a32.lt(0) ? 1 : 2;
  // @ts-expect-error a comparison of an object with a number
  if (i < 3) full(f32, [1], 0);
  // @ts-expect-error arithmetic on an object
  const next = i + 1;
  // @ts-expect-error an object as an index
  const element0 = [1, 2][i];
  // @ts-expect-error a tile is not iterable
  for (const x of v32) full(f32, [1], x);
  // @ts-expect-error nor can it be spread
  const spread = [...v32];
  void [both, picked, next, element0, spread];
}

export function carries(): void {
  const one = loop({ to: 4, carry: v32 }, (k, x) => x.add(k.to(f32)));
  same<typeof one, Tile<F32, 1>>();
  const two = loop({ to: i, carry: { m: v32, acc: a32 } }, (_, { m, acc }) => ({ m, acc: acc.add(m) }));
  same<typeof two.acc, Tile<F32, 2>>();
  const nothing = loop({ to: 4 }, () => {});
  same<typeof nothing, void>();
  // @ts-expect-error the carried value changes its dtype
  loop({ to: 4, carry: v32 }, (_, x) => x.to(f16));
  // @ts-expect-error the carried value changes its rank
  loop({ to: 4, carry: v32 }, (_, x) => x.expand(0));
  // @ts-expect-error a carried value is not returned
  loop({ to: 4, carry: { m: v32, l: v32 } }, (_, { m }) => ({ m }));
  // @ts-expect-error a loop without a carry has no second argument
  loop({ to: 4 }, (_, x) => x);
  // @ts-expect-error a number has no dtype to be carried with
  loop({ to: 4, carry: 0 }, (_, x) => x);
  // @ts-expect-error a bound is an integer scalar
  loop({ to: v32 }, () => {});
  const value = () => v32;
  const negated = () => v32.neg();
  const narrowed = () => v32.to(f16);
  const below = (x: Tile<F32, 1>) => x.lt(0);
  // @ts-expect-error the condition of a while loop is a bool scalar
  whileLoop(v32, below, negated);
  const either = ifElse(holds, value, negated);
  same<typeof either, Tile<F32, 1>>();
  // @ts-expect-error branches of different dtypes
  ifElse(holds, value, narrowed);
}

export const blocks = kernel('blocks', { bm: choice([128, 64]), bk: 32 }, ({ bm, bk }) => {
  const [m, n, h] = [dim('m'), dim('n'), dim('h', { multipleOf: 16, max: 4096 })];
  const g = grid({ i: cdiv(m, bm), h }, { sequential: ['i'] });
  same<typeof bm, number>();
  same<(typeof g)['i'], Index>();
  // @ts-expect-error one block extent for two axes
  array(f32, [m, n]).block([bm], [g.i, 0]);
  // @ts-expect-error one block index for two axes
  array(f32, [m, n]).block([bm, bk], [g.i]);
  // @ts-expect-error the grid has no such axis
  array(f32, [m]).block([bm], [g.j]);
  // @ts-expect-error a sequential axis must be one of the grid
  grid({ i: 4 }, { sequential: ['k'] });
  // @ts-expect-error a fact that does not exist
  dim('q', { multiple: 16 });
  const tile = array(f32, [m, n]).block([bm, bk], [g.i, 0]);
  const row = array(f16, [h, m, n]).block([squeezed, element(8), bk], [g.h, g.i, 0]);
  const column = array(f32, [m, n]).block([m, bk], [0, g.i]);
  const params = new pltriton.CompilerParams({ numWarps: 8, numStages: 3 });
  const more = new plgpu.CompilerParams({ approxMath: true });
  // @ts-expect-error an option of the other back end
  new pltriton.CompilerParams({ approxMath: true });
  // @ts-expect-error warps are counted
  new pltriton.CompilerParams({ numWarps: '8' });
  return blockProgram(
    {
      grid: g,
      inputs: { x: tile, y: row, w: array(i32, [n]), c: column, scale: scalar(f32) },
      outputs: { z: tile },
      aliases: { z: 'x' },
      zeroed: ['z'],
      fastMath: { contract: true },
      compilerParams: [params, more],
    },
    ({ x, y, w, c, scale, z }) => {
      same<typeof x, Ref<F32, 2, Dims[2]>>();
      same<typeof y, Ref<F16, 2, Dims[2]>>();
      same<typeof w, Ref<I32, 1>>();
      same<typeof scale, Scalar<F32>>();
      // Blocks have plain extents; whole arrays, and blocks over a dim, have run-time ones.
      const [rows, columns] = x.shape;
      same<typeof rows, number>();
      same<typeof columns, number>();
      same<(typeof w.shape)[number], Extent>();
      same<(typeof c.shape)[number], Extent>();
      const view = x.at(all, ds(0, 4));
      same<typeof view, Ref<F32, 2, Dims[2]>>();
      const line = x.at(g.h);
      same<typeof line, Ref<F32, 1, Dims[1]>>();
      const loaded = y.load();
      same<typeof loaded, Tile<F16, 2>>();
      const picked = gather(w, ints);
      same<typeof picked, Tile<I32, 1>>();
      z.store(x.load().add(scale));
      z.store(0);
      // @ts-expect-error a store of another dtype
      z.store(y.load());
      // @ts-expect-error a store of another rank
      z.store(x.load().sum(0));
      // @ts-expect-error a mask of another rank
      x.load({ mask: v32.lt(0) });
      // @ts-expect-error a mask is bool
      x.load({ mask: a32 });
      // @ts-expect-error an option that does not exist
      x.load({ msk: mask });
      // @ts-expect-error a float is no index
      x.at(scale);
      // @ts-expect-error gather takes integers
      gather(w, v32);
      // @ts-expect-error a value of another dtype than the ref's
      atomic.add(w.at(ints), v32);
      // @ts-expect-error a memory order that does not exist
      atomic.add(w.at(ints), 1, { order: 'seq_cst' });
    },
  );
});

export const declarations = kernel('declarations', { bm: 64 }, ({ bm }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, bm) });
  const x = array(f32, [n]).block([bm], [g.i]);
  // @ts-expect-error no such argument is declared
  blockProgram({ grid: g, inputs: { x }, outputs: { z: x } }, ({ x: _, oot }) => void oot);
  // @ts-expect-error an alias of an input that does not exist
  blockProgram({ grid: g, inputs: { x }, outputs: { z: x }, aliases: { z: 'y' } }, () => {});
  // @ts-expect-error zeroing what is no output
  blockProgram({ grid: g, inputs: { x }, outputs: { z: x }, zeroed: ['x'] }, () => {});
  // @ts-expect-error a flag that does not exist
  blockProgram({ grid: g, inputs: { x }, outputs: { z: x }, fastMath: { fast: true } }, () => {});
  // @ts-expect-error an output is an array
  blockProgram({ grid: g, inputs: { x }, outputs: { z: scalar(f32) } }, () => {});
  return sequence({ temps: { t: x } }, [
    blockProgram({ grid: g, inputs: { x }, outputs: { t: x } }, (refs) => refs.t.store(refs.x.load())),
    blockProgram({ grid: g, inputs: { t: x }, outputs: { z: x } }, ({ t, z }) => z.store(t.load())),
  ]);
});

export const parameters = kernel(
  'parameters',
  { dtype: dtypes(f32, f16, bf16), causal: false, mode: 'fast', block: 64 },
  ({ dtype, causal, mode, block }) => {
    same<typeof dtype, F32 | F16 | BF16>();
    same<typeof causal, boolean>();
    same<typeof mode, string>();
    const n = dim('n');
    const g = grid({ i: cdiv(n, block) });
    const v = array(dtype, [n]).block([block], [g.i]);
    return blockProgram({ grid: g, inputs: { x: v }, outputs: { z: v } }, ({ x, z }) => z.store(x.load().add(1)));
  },
);

export async function calls(x: NdArray<F32>, h: NdArray<F16>, d: NdArray<F64>): Promise<void> {
  // A dtype parameter takes an array of any of its dtypes.
  await interpret(parameters, { x });
  await interpret(parameters.with({ dtype: f16 }), { x: h });
  // @ts-expect-error f64 is none of them
  await interpret(parameters, { x: d });
  parameters.with({ dtype: f16, block: 128 });
  // @ts-expect-error no such parameter
  parameters.with({ blok: 128 });
  // @ts-expect-error not one of the dtypes
  parameters.with({ dtype: f64 });
  // @ts-expect-error a number, not text
  parameters.with({ block: '128' });
  // @ts-expect-error not a value of the kernel's kind
  choice([1, 2], 'a');
  const { z } = await interpret(declarations, { x });
  same<typeof z, NdArray<F32>>();
  // @ts-expect-error an input is missing
  await interpret(declarations, {});
  // @ts-expect-error an array of another dtype
  await interpret(declarations, { x: h });
  // @ts-expect-error a temporary is no output
  (await interpret(declarations, { x })).t;
  void bool;
}
