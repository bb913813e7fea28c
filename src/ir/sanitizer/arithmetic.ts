/** Lanes in which arithmetic goes wrong: integers that wrap, divisions by zero, the first NaN. */

import { type DType, intRange, isFloat, isWide } from '../dtypes.js';
import type { TileValue } from '../tile-value.js';
import type { GenericOp } from '../value.js';

const divisions: ReadonlySet<string> = new Set(['div', 'rem', 'floor_div', 'mod', 'cdiv']);

const exact: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  shl: (a, b) => a * 2 ** b,
  neg: (a) => -a,
};
const wideExact: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  neg: (a) => -a,
};

/** Whether an op can wrap around in integers. */
export const canWrap = (op: GenericOp, dtype: DType): boolean =>
  dtype.cls !== 'bool' && !isFloat(dtype) && (isWide(dtype) ? wideExact : exact)[op.name] !== undefined;

/** Whether a cast can lose the upper bits of an integer. */
export const canTruncate = (op: GenericOp, from: DType, to: DType): boolean =>
  op.name === 'cast' &&
  !isFloat(from) &&
  !isFloat(to) &&
  from.cls !== 'bool' &&
  to.cls !== 'bool' &&
  to.bits <= from.bits;

export const canDivide = (op: GenericOp, dtype: DType): boolean => !isFloat(dtype) && divisions.has(op.name);

/** Visits the lanes whose result is not the exact one. */
export function forEachWrapped(
  op: GenericOp,
  [a, b]: readonly TileValue[],
  result: TileValue,
  visit: (lane: number) => void,
): void {
  const y = result.data;
  if (isWide(result.dtype)) {
    const f = wideExact[op.name]!;
    for (let i = 0; i < y.length; i++) if (f(a!.data[i] as bigint, (b?.data[i] ?? 0n) as bigint) !== y[i]) visit(i);
    return;
  }
  const f = exact[op.name]!;
  const [left, right] = [a!.data as Int32Array, (b?.data ?? a!.data) as Int32Array];
  // A negative zero equals zero here, as it should.
  for (let i = 0; i < y.length; i++) if (f(left[i]!, right[i]!) !== y[i]) visit(i);
}

export function forEachTruncated(x: TileValue, y: TileValue, visit: (lane: number) => void): void {
  for (let i = 0; i < y.data.length; i++)
    // biome-ignore lint/suspicious/noDoubleEquals: a bigint of the same value is the same
    if (x.data[i] != y.data[i]) visit(i);
}

/** Visits the lanes that divide by zero, or the smallest integer by -1. */
export function forEachBadDivision(
  [a, b]: readonly TileValue[],
  visit: (lane: number, isByZero: boolean) => void,
): void {
  const { dtype } = a!;
  const [zero, minusOne] = isWide(dtype) ? [0n, -1n] : [0, -1];
  const lowest = isWide(dtype) ? intRange(dtype)[0] : Number(intRange(dtype)[0]);
  for (let i = 0; i < b!.data.length; i++) {
    const divisor = b!.data[i];
    if (divisor === zero) visit(i, true);
    else if (dtype.signed && divisor === minusOne && a!.data[i] === lowest) visit(i, false);
  }
}

/** The first lane within the valid extents that became a NaN or an infinity while its operands were none. */
export function firstNotFinite(
  inputs: readonly TileValue[],
  y: TileValue,
  isValid: (lane: number) => boolean,
): { readonly lane: number; readonly value: number } | undefined {
  const data = y.data as Float64Array;
  const lanewise = inputs.filter((x) => x.data.length === data.length);
  const rest = inputs.filter((x) => x.data.length !== data.length);
  const had = (test: (x: number) => boolean, lane: number): boolean =>
    lanewise.some((x) => isFloat(x.dtype) && test(x.data[lane] as number)) ||
    rest.some((x) => isFloat(x.dtype) && (x.data as Float64Array).some(test));
  for (let lane = 0; lane < data.length; lane++) {
    const value = data[lane]!;
    if (Number.isFinite(value) || !isValid(lane)) continue;
    if (Number.isNaN(value) ? !had(Number.isNaN, lane) : !had((x) => !Number.isFinite(x), lane)) return { lane, value };
  }
  return undefined;
}
