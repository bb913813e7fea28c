/** How `debug_print` writes an element, as C's printf does on the CPU. */

import { type DType, f64, isFloat } from '../dtypes.js';

/** Significant digits of a float in print. */
export const printedDigits = (dtype: DType): number => (dtype === f64 ? 17 : 9);

export function elementText(dtype: DType, x: number | bigint): string {
  if (dtype.cls === 'bool') return x ? 'true' : 'false';
  if (!isFloat(dtype)) return String(x);
  return general(x as number, printedDigits(dtype));
}

/** `%.*g`: the shorter of both forms, without zeros at the end. */
function general(x: number, digits: number): string {
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return x < 0 ? '-inf' : 'inf';
  const [mantissa, power] = x.toExponential(digits - 1).split('e') as [string, string];
  const sign = Object.is(x, -0) ? '-' : '';
  const exponent = Number(power);
  const trimmed = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  if (exponent >= -4 && exponent < digits) return sign + trimmed(x.toFixed(Math.max(0, digits - 1 - exponent)));
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${sign}${trimmed(mantissa)}e${exponent < 0 ? '-' : '+'}${size}`;
}
