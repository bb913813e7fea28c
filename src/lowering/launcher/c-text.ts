/** How names, types and expressions of a plan are written in C. */

import { invariant } from '../../diagnostics/diagnostic.js';
import { type DType, storageBytes, tryDType } from '../../ir/dtypes.js';
import { parseExtent } from '../../ir/parser.js';
import { type Extent, symbolic } from '../../ir/symbolic.js';
import { symbolsFor } from '../symbol.js';

/** Text between double quotes in C: other bytes than printable ASCII in octal, of three digits, so that no digit joins them. */
export const cText = (text: string): string =>
  [...Buffer.from(text, 'utf8')]
    .map((b) =>
      b < 32 || b > 126 || b === 34 || b === 92 || b === 63
        ? `\\${b.toString(8).padStart(3, '0')}`
        : String.fromCharCode(b),
    )
    .join('');

/** The same inside a printf format. */
export const cFormat = (text: string): string => cText(text).replaceAll('%', '%%');

/** Text inside a comment of C, which it cannot end. */
export const cComment = (text: string): string =>
  JSON.stringify(text).slice(1, -1).replaceAll('*/', '* /').replaceAll('/*', '/ *');

/** What system headers or compilers may have defined as a macro. */
const macros = new Set([
  'linux',
  'unix',
  'i386',
  'errno',
  'assert',
  'stdin',
  'stdout',
  'stderr',
  'NULL',
  'EOF',
  'I',
  'stream',
]);

/** C names for the parameters of a function, different from each other. */
export const parameterNames = (names: readonly string[]): string[] =>
  symbolsFor(names.map((name) => (macros.has(name) || name.startsWith('tw_') ? `k_${name}` : name)));

export function asDType(name: string): DType {
  const dtype = tryDType(name);
  invariant(dtype, `a plan with dtype '${name}'`);
  return dtype;
}

/** The C type of a scalar argument; what C has no type for is passed by its bits. */
export function scalarType(dtype: DType): string {
  if (dtype.name === 'f32') return 'float';
  if (dtype.name === 'f64') return 'double';
  const bits = Math.max(8, dtype.cls === 'bool' ? 8 : dtype.bits);
  return `${dtype.cls === 'int' && dtype.signed ? 'int' : 'uint'}${bits}_t`;
}

/** An expression of 64-bit integers. `argument` writes a dim or scalar by its name. */
export function cExtent(extent: Extent, argument: (name: string) => string): string {
  if (typeof extent === 'number') return `${extent}`;
  if (extent.kind === 'argument') return argument(extent.name);
  return `tw_${extent.kind}(${cExtent(extent.left, argument)}, ${cExtent(extent.right, argument)})`;
}

/** Bytes of an array whose shape a plan writes as text. */
export function arrayBytes(shape: readonly string[], dtype: DType): Extent {
  const bits = storageBytes(dtype) * 8;
  const elements = shape.map(parseExtent).reduce((product, extent) => symbolic('mul', product, extent), 1 as Extent);
  return bits >= 8 ? symbolic('mul', elements, bits / 8) : symbolic('cdiv', elements, 8 / bits);
}
