/** `.npy` files, versions 1 to 3: C and Fortran order, both byte orders, every dtype of the language. */

import { fileCodes } from '../diagnostics/codes/files.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import { readInput, writeOutputs } from '../drivers/files.js';
import { type AnyDType, type DType, dtypes, isFloat } from '../ir/dtypes.js';
import { elementCount, maxRank } from '../ir/types.js';
import { bytesOf, fromBytes, type NdArray } from './nd-array.js';

/** Storage types by NumPy's descriptor without its byte order. */
const descriptors: Readonly<Record<string, DType>> = {
  b1: dtypes.bool,
  i1: dtypes.i8,
  i2: dtypes.i16,
  i4: dtypes.i32,
  i8: dtypes.i64,
  u1: dtypes.u8,
  u2: dtypes.u16,
  u4: dtypes.u32,
  u8: dtypes.u64,
  f2: dtypes.f16,
  f4: dtypes.f32,
  f8: dtypes.f64,
};

/** NumPy's descriptor of the storage of a dtype: bit patterns for what NumPy has no type for. */
function descriptorOf(dtype: DType): string {
  if (dtype.cls === 'bool') return '|b1';
  const own = Object.entries(descriptors).find(([, d]) => d === dtype);
  if (own) return `${dtype.bits === 8 ? '|' : '<'}${own[0]}`;
  return dtype.bits === 16 ? '<u2' : '|u1';
}

function refuse(file: string, why: string, help?: string): never {
  throw new CompileError([fileCodes.badNpy({ file, why }, help === undefined ? {} : { help })]);
}

/**
 * Reads an array.
 *
 * @param as dtype to read bit patterns as: `bf16` from u16, fp8 from u8, `bool` from u8.
 * @throws CompileError naming the file: not an .npy file, truncated, a dtype that the language does not have.
 */
export async function readNpy(file: string, as?: DType): Promise<NdArray> {
  return parseNpy(await readInput(file), file, as);
}

interface Header {
  readonly descr: string;
  readonly fortran: boolean;
  readonly shape: readonly number[];
  readonly end: number;
}

function parseHeader(bytes: Uint8Array, file: string): Header {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 10 || view.toString('latin1', 0, 6) !== '\x93NUMPY') refuse(file, 'it is not an .npy file');
  const major = view[6]!;
  if (major < 1 || major > 3) refuse(file, `format version ${major} is not known; 1, 2 and 3 are`);
  const start = major === 1 ? 10 : 12;
  const length = major === 1 ? view.readUInt16LE(8) : view.length >= 12 ? view.readUInt32LE(8) : 0;
  const end = start + length;
  if (end > view.length)
    refuse(file, `truncated in its header: ${length} bytes are announced, ${view.length - start} are there`);
  const text = view.toString(major === 3 ? 'utf8' : 'latin1', start, end);
  const descr = /'descr':\s*'([^']*)'/.exec(text)?.[1];
  const fortran = /'fortran_order':\s*(True|False)/.exec(text)?.[1];
  const dims = /'shape':\s*\(([^)]*)\)/.exec(text)?.[1];
  if (descr === undefined)
    refuse(file, /'descr':\s*\[/.test(text) ? 'structured dtypes are not supported' : 'its header names no dtype');
  if (fortran === undefined || dims === undefined) refuse(file, 'its header is damaged');
  const shape = dims!
    .split(',')
    .map((s) => s.trim())
    .filter((s) => s !== '')
    .map(Number);
  if (shape.some((n) => !Number.isSafeInteger(n) || n < 0)) refuse(file, `its shape (${dims}) is not a list of sizes`);
  if (shape.length > maxRank) refuse(file, `it has ${shape.length} axes; at most ${maxRank} are supported`);
  return { descr: descr!, fortran: fortran === 'True', shape, end };
}

/** The array in the bytes of an .npy file; `file` is named in errors. */
export function parseNpy(bytes: Uint8Array, file: string, as?: DType): NdArray {
  const { descr, fortran, shape, end } = parseHeader(bytes, file);
  const stored = Object.hasOwn(descriptors, descr.slice(1)) ? descriptors[descr.slice(1)] : undefined;
  if (!stored || !'<>|='.includes(descr[0]!)) return refuse(file, `dtype '${descr}' is not supported`);
  const dtype = as ?? (stored as AnyDType);
  if (dtype !== stored && !isPatternOf(stored, dtype))
    return refuse(file, `it holds ${stored.name}, not ${dtype.name}`);
  if (dtype.bits === 4) return refuse(file, 'packed 4-bit arrays are passed as u8');
  const width = stored.cls === 'bool' ? 1 : stored.bits / 8;
  const count = elementCount(shape);
  if (!Number.isSafeInteger(count * width)) return refuse(file, `its shape (${shape.join(', ')}) is too large`);
  const available = bytes.byteLength - end;
  if (available < count * width)
    return refuse(file, `truncated: ${count * width} bytes of data are announced, ${available} are there`);
  if (available > count * width) return refuse(file, `${available - count * width} bytes follow the data`);
  let content = Uint8Array.prototype.slice.call(bytes, end) as Uint8Array;
  if (descr[0] === '>' && width > 1) content = swapBytes(content, width);
  if (fortran && shape.length > 1) content = toRowMajor(content, shape, width);
  return fromBytes(dtype, shape, content);
}

/** Whether a stored type can hold the bit patterns of a dtype that NumPy does not have. */
function isPatternOf(stored: DType, dtype: DType): boolean {
  if (Object.values(descriptors).includes(dtype)) return dtype.cls === 'bool' && stored === dtypes.u8;
  return isFloat(dtype) && stored.cls === 'int' && !stored.signed && stored.bits === dtype.bits;
}

function swapBytes(content: Uint8Array, width: number): Uint8Array {
  const swapped = new Uint8Array(content.length);
  for (let i = 0; i < content.length; i += width)
    for (let b = 0; b < width; b++) swapped[i + b] = content[i + width - 1 - b]!;
  return swapped;
}

function toRowMajor(content: Uint8Array, shape: readonly number[], width: number): Uint8Array {
  const moved = new Uint8Array(content.length);
  const count = elementCount(shape);
  const at = new Array<number>(shape.length).fill(0);
  for (let to = 0; to < count; to++) {
    let from = 0;
    for (let axis = shape.length - 1; axis >= 0; axis--) from = from * shape[axis]! + at[axis]!;
    moved.set(content.subarray(from * width, from * width + width), to * width);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      if (++at[axis]! < shape[axis]!) break;
      at[axis] = 0;
    }
  }
  return moved;
}

/** The bytes of an .npy file (version 1, C order, little endian). */
export function formatNpy(array: NdArray): Uint8Array {
  const { dtype, shape } = array;
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text = `{'descr': '${descriptorOf(dtype)}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const padded = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`;
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(padded.length, 8);
  return Buffer.concat([head, Buffer.from(padded, 'latin1'), bytesOf(array)]);
}

/**
 * Writes an array; the file appears whole or not at all.
 *
 * @throws CompileError where it cannot be written.
 */
export async function writeNpy(file: string, array: NdArray): Promise<void> {
  await writeOutputs([{ path: file, content: formatNpy(array) }]);
}
