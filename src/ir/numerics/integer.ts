/**
 * Integer division and shifts as `semantics.md` fixes them. Results may lie outside of the dtype; storing them in its
 * register array wraps. Division by zero gives 0 (unspecified to users, but the same everywhere in this package).
 */

import type { DType } from '../dtypes.js';

export const div = (a: number, b: number): number => (b === 0 ? 0 : Math.trunc(a / b));
export const rem = (a: number, b: number): number => (b === 0 ? 0 : a % b);
export const floorDiv = (a: number, b: number): number => (b === 0 ? 0 : Math.floor(a / b));
export const mod = (a: number, b: number): number => (b === 0 ? 0 : a - b * Math.floor(a / b));
export const cdiv = (a: number, b: number): number => (b === 0 ? 0 : Math.ceil(a / b));

export const wideDiv = (a: bigint, b: bigint): bigint => (b === 0n ? 0n : a / b);
export const wideRem = (a: bigint, b: bigint): bigint => (b === 0n ? 0n : a % b);

export function wideFloorDiv(a: bigint, b: bigint): bigint {
  if (b === 0n) return 0n;
  const q = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? q - 1n : q;
}

export const wideMod = (a: bigint, b: bigint): bigint => (b === 0n ? 0n : a - b * wideFloorDiv(a, b));

export function wideCdiv(a: bigint, b: bigint): bigint {
  if (b === 0n) return 0n;
  const q = a / b;
  return a % b !== 0n && a < 0n === b < 0n ? q + 1n : q;
}

/** The shift amount, read as unsigned, or undefined where it is the width or more. */
function amountOf(dtype: DType, b: number): number | undefined {
  const amount = b < 0 ? b + 2 ** dtype.bits : b;
  return amount < dtype.bits ? amount : undefined;
}

export function shl(dtype: DType, a: number, b: number): number {
  const amount = amountOf(dtype, b);
  return amount === undefined ? 0 : a << amount;
}

export function shr(dtype: DType, a: number, b: number): number {
  const amount = amountOf(dtype, b);
  if (amount === undefined) return dtype.signed && a < 0 ? -1 : 0;
  return dtype.signed ? a >> amount : a >>> amount;
}

export const wideShl = (a: bigint, b: bigint): bigint =>
  BigInt.asUintN(64, b) >= 64n ? 0n : a << BigInt.asUintN(64, b);

export function wideShr(dtype: DType, a: bigint, b: bigint): bigint {
  const amount = BigInt.asUintN(64, b);
  if (amount >= 64n) return dtype.signed && a < 0n ? -1n : 0n;
  return a >> amount;
}

/** Zero bits above the highest set one; the width for 0. */
export const countLeadingZeros = (dtype: DType, x: number): number =>
  Math.clz32(dtype.bits === 32 ? x : x & (2 ** dtype.bits - 1)) - (32 - dtype.bits);

export const wideCountLeadingZeros = (x: bigint): bigint => {
  const bits = BigInt.asUintN(64, x);
  return bits === 0n ? 64n : BigInt(64 - bits.toString(2).length);
};

const ones = (text: string): number => text.replaceAll('0', '').length;

/** Set bits. */
export const countOnes = (dtype: DType, x: number): number => ones((x < 0 ? x + 2 ** dtype.bits : x).toString(2));
export const wideCountOnes = (x: bigint): bigint => BigInt(ones(BigInt.asUintN(64, x).toString(2)));

/** Upper 32 bits of the product of two unsigned 32-bit integers. */
export function mulHiU32(a: number, b: number): number {
  const [a1, a0, b1, b0] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const cross = a0 * b1 + (middle % 0x10000);
  return a1 * b1 + Math.floor(middle / 0x10000) + Math.floor(cross / 0x10000);
}

/** Upper half of the product of twice the width. */
export const mulHi = (dtype: DType, a: number, b: number): number =>
  dtype.bits === 32 && !dtype.signed ? mulHiU32(a, b) : Number((BigInt(a) * BigInt(b)) >> BigInt(dtype.bits));
export const wideMulHi = (a: bigint, b: bigint): bigint => (a * b) >> 64n;
