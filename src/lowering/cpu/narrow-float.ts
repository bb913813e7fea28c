/** Floats of 4 and 8 bits on lanes: codes to f32 and back, bit for bit as `ir/numerics/formats` has them. */

import { type DType, f8e8m0fnu } from '../../ir/dtypes.js';
import { codesOf } from '../../ir/numerics/formats.js';
import type { Emitter, Lanes } from './emitter.js';

const f32Infinity = 0x7f800000;

/**
 * What becomes of what is too large: `finite`: the largest number, for infinities too (a saturating cast); `held`: that,
 * but an infinity stays one where the format has it (arithmetic and memory); `own`: the format's own overflow.
 */
export type Overflow = 'finite' | 'held' | 'own';

/** f32 lanes of codes, which lie in the low bits of i8 lanes. */
export function decodeFloat(e: Emitter, code: Lanes, dtype: DType): Lanes {
  const int = (n: number): Lanes => e.int(n, 'i32', code.width);
  const wide = e.convert('arith.extui', code, 'i32');
  const nan = e.float(Number.NaN, 'f32', code.width);
  if (dtype === f8e8m0fnu) {
    const power = e.select(e.compareInt('eq', wide, int(0)), int(0x400000), e.binary('shli', wide, int(23)));
    return e.select(e.compareInt('eq', wide, int(0xff)), nan, e.bitcast(power, 'f32'));
  }
  const { signShift, bias, drop, specials, nan: nanCode, topFinite } = codesOf(dtype);
  const signBit = 1 << signShift;
  const magnitude = e.binary('andi', wide, int(signBit - 1));
  // In the place of f32's exponent and mantissa the number is off by a power of two, below the normal range too.
  const shifted = e.bitcast(e.binary('shli', magnitude, int(drop)), 'f32');
  let value = e.binary('mulf', shifted, e.float(2 ** (127 - bias), 'f32', code.width));
  if (specials === 'ieee') {
    const infinite = e.compareInt('eq', magnitude, int(topFinite + 1));
    value = e.select(infinite, e.float(Number.POSITIVE_INFINITY, 'f32', code.width), value);
    value = e.select(e.compareInt('ugt', magnitude, int(topFinite + 1)), nan, value);
  } else if (specials === 'fn') value = e.select(e.compareInt('eq', magnitude, int(nanCode)), nan, value);
  const sign = e.binary('shli', e.binary('andi', wide, int(signBit)), int(31 - signShift));
  const signed = e.bitcast(e.binary('ori', e.bitcast(value, 'i32'), sign), 'f32');
  return specials === 'fnuz' ? e.select(e.compareInt('eq', wide, int(nanCode)), nan, signed) : signed;
}

/** Codes of f32 lanes, to nearest even, in the low bits of i8 lanes. */
export function encodeFloat(e: Emitter, x: Lanes, dtype: DType, overflow: Overflow): Lanes {
  const code = dtype === f8e8m0fnu ? powerCode(e, x, overflow) : floatCode(e, x, dtype, overflow);
  return e.convert('arith.trunci', code, 'i8');
}

/** The steps of `makeCodec`'s encoder. */
function floatCode(e: Emitter, x: Lanes, dtype: DType, overflow: Overflow): Lanes {
  const codes = codesOf(dtype);
  const { drop, topFinite, signShift } = codes;
  const int = (n: number): Lanes => e.int(n, 'i32', x.width);
  const bits = e.bitcast(x, 'i32');
  const magnitude = e.binary('andi', bits, int(0x7fffffff));
  const rebased = e.binary('subi', magnitude, int(codes.rebase));
  const odd = e.binary('andi', e.binary('shrui', rebased, int(drop)), int(1));
  const sum = e.binary('addi', e.binary('addi', rebased, int((1 << (drop - 1)) - 1)), odd);
  const rounded = e.binary('shrui', sum, int(drop));
  const most = int(overflow === 'own' ? codes.overflow : topFinite);
  let normal = e.select(e.compareInt('sgt', rounded, int(topFinite)), most, rounded);
  if (overflow === 'held' && codes.specials === 'ieee')
    normal = e.select(e.compareInt('eq', magnitude, int(f32Infinity)), int(codes.overflow), normal);
  const aligned = e.binary('addf', e.bitcast(magnitude, 'f32'), e.float(codes.aligner, 'f32', x.width));
  const alignerBits = new Int32Array(Float32Array.of(codes.aligner).buffer)[0]!;
  const subnormal = e.binary('subi', e.bitcast(aligned, 'i32'), int(alignerBits));
  const isNormal = e.compareInt('sge', magnitude, int(codes.leastNormal));
  const unsigned = e.select(isNormal, normal, subnormal);
  const sign = e.binary('shli', e.binary('shrui', bits, int(31)), int(signShift));
  const signed = e.binary('ori', unsigned, sign);
  const number = codes.specials === 'fnuz' ? e.select(e.compareInt('eq', unsigned, int(0)), int(0), signed) : signed;
  return e.select(e.compareInt('sgt', magnitude, int(f32Infinity)), int(codes.nan), number);
}

/** The steps of `makePowerCodec`'s encoder. */
function powerCode(e: Emitter, x: Lanes, overflow: Overflow): Lanes {
  const int = (n: number): Lanes => e.int(n, 'i32', x.width);
  const zero = e.float(0, 'f32', x.width);
  const bits = e.bitcast(x, 'i32');
  const normal = e.binary('shrui', e.binary('addi', bits, int(0x400000)), int(23));
  const tiny = e.select(e.compareInt('sge', bits, int(0x600000)), int(1), int(0));
  const code = e.select(e.compareInt('slt', bits, int(0x800000)), tiny, normal);
  const most = int(overflow === 'own' ? 0xff : 0xfe);
  const capped = e.select(e.compareInt('sgt', code, int(0xfe)), most, code);
  const positive = e.select(e.compareFloat('ogt', x, zero), capped, int(0xff));
  return e.select(e.compareFloat('oeq', x, zero), int(0), positive);
}
