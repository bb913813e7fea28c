/**
 * `.npy` files, versions 1 to 3: C and Fortran order, both byte orders, every dtype of the language. What NumPy has no
 * type for lies in them as ml_dtypes' arrays show it by `view`: bf16 as u2, fp8 and e8m0 as u1 bit patterns; the 4-bit
 * kinds one to a byte, i4 as i1, u4 and the codes of e2m1 as u1.
 */

import { fileCodes } from '../diagnostics/codes/files.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import { readInput, writeOutputs } from '../drivers/files.js';
import { type AnyDType, type DType, dtypes, intRange, storageBytes } from '../ir/dtypes.js';
import { allocateHost, decodeElements, encodeElements, hostView } from '../ir/numerics/registers.js';
import { forEachElement } from '../ir/ops/shape.js';
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

/** The dtype that a file stores an array of `dtype` as: the dtype itself where NumPy has it. */
export function storedAs(dtype: DType): DType {
  if (Object.values(descriptors).includes(dtype)) return dtype;
  if (dtype === dtypes.i4) return dtypes.i8;
  return dtype.bits === 16 ? dtypes.u16 : dtypes.u8;
}

function descriptorOf(stored: DType): string {
  const [name] = Object.entries(descriptors).find(([, d]) => d === stored)!;
  return `${storageBytes(stored) === 1 ? '|' : '<'}${name}`;
}

function refuse(file: string, why: string, help?: string): never {
  throw new CompileError([fileCodes.badNpy({ file, why }, help === undefined ? {} : { help })]);
}

/**
 * Reads an array.
 *
 * @param as dtype to read what it is stored as: `bf16` from u16, fp8 from u8, i4 from i8; `bool` also from u8.
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

/** Longer headers belong to structured dtypes, which are refused in any case. */
const maxHeader = 65536;

function parseHeader(bytes: Uint8Array, file: string): Header {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 10 || view.toString('latin1', 0, 6) !== '\x93NUMPY') refuse(file, 'it is not an .npy file');
  const major = view[6]!;
  if (major < 1 || major > 3) refuse(file, `format version ${major} is not known; 1, 2 and 3 are`);
  const start = major === 1 ? 10 : 12;
  if (view.length < start) refuse(file, 'truncated in its header');
  const length = major === 1 ? view.readUInt16LE(8) : view.readUInt32LE(8);
  const end = start + length;
  if (end > view.length)
    refuse(file, `truncated in its header: ${length} bytes are announced, ${view.length - start} are there`);
  if (length > maxHeader) refuse(file, `its header takes ${length} bytes; that of a plain array fits in ${maxHeader}`);
  const text = view.toString(major === 3 ? 'utf8' : 'latin1', start, end);
  const descr = /'descr':\s*'([^']*)'/.exec(text)?.[1];
  const fortran = /'fortran_order':\s*(True|False)/.exec(text)?.[1];
  const dims = /'shape':\s*\(([^)]*)\)/.exec(text)?.[1];
  if (descr === undefined)
    refuse(file, /'descr':\s*\[/.test(text) ? 'structured dtypes are not supported' : 'its header names no dtype');
  if (fortran === undefined || dims === undefined) refuse(file, 'its header is damaged');
  const sizes = dims!
    .split(',')
    .map((s) => s.trim())
    .filter((s) => s !== '');
  // Python 2 wrote sizes with an L.
  const shape = sizes.map((s) => (/^\d+L?$/.test(s) ? Number.parseInt(s, 10) : Number.NaN));
  if (shape.some((n) => !Number.isSafeInteger(n))) refuse(file, `its shape (${dims}) is not a list of sizes`);
  if (shape.length > maxRank) refuse(file, `it has ${shape.length} axes; at most ${maxRank} are supported`);
  return { descr: descr!, fortran: fortran === 'True', shape, end };
}

/** The array in the bytes of an .npy file; `file` is named in errors. */
export function parseNpy(bytes: Uint8Array, file: string, as?: DType): NdArray {
  const { descr, fortran, shape, end } = parseHeader(bytes, file);
  const stored = Object.hasOwn(descriptors, descr.slice(1)) ? descriptors[descr.slice(1)] : undefined;
  if (!stored || !'<>|='.includes(descr[0]!)) return refuse(file, `dtype '${descr}' is not supported`, helpFor(descr));
  const dtype = as ?? (stored as AnyDType);
  if (stored !== storedAs(dtype) && !(dtype === dtypes.bool && stored === dtypes.u8))
    return refuse(file, `it holds ${stored.name}, not ${dtype.name}`);
  const width = storageBytes(stored);
  const count = elementCount(shape);
  if (!Number.isSafeInteger(count * width)) return refuse(file, `its shape (${shape.join(', ')}) is too large`);
  const available = bytes.byteLength - end;
  if (available < count * width)
    return refuse(file, `truncated: ${count * width} bytes of data are announced, ${available} are there`);
  if (available > count * width) return refuse(file, `${available - count * width} bytes follow the data`);
  let content = new Uint8Array(bytes.subarray(end));
  if (descr[0] === '>') swapBytes(content, width);
  if (fortran && shape.length > 1) content = toRowMajor(content, shape, width);
  if (dtype.bits === 4) return { dtype, shape, data: packNibbles(dtype, content, file) };
  // Any byte but 0 is true; in the language true is 1.
  if (dtype === dtypes.bool) content = content.map((b) => (b === 0 ? 0 : 1));
  return fromBytes(dtype, shape, content);
}

/** The way out for what ml_dtypes' arrays are saved as. */
function helpFor(descr: string): string | undefined {
  if (/^[|<>]V2$/.test(descr)) return 'save the bit patterns of bf16: `numpy.save(path, x.view(numpy.uint16))`';
  if (/^[|<>]V1$/.test(descr))
    return 'save the bit patterns of fp8: `numpy.save(path, x.view(numpy.uint8))`; int4 is saved with `x.astype(numpy.int8)`';
  return undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

function swapBytes(content: Uint8Array, width: number): void {
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (width === 2) buffer.swap16();
  else if (width === 4) buffer.swap32();
  else if (width === 8) buffer.swap64();
}

/** The 4-bit integers that the nibbles of a dtype are. */
const nibbleOf = (dtype: DType): DType => (dtype === dtypes.i4 ? dtypes.i4 : dtypes.u4);

function packNibbles(dtype: DType, content: Bytes, file: string): Uint8Array {
  const nibble = nibbleOf(dtype);
  const values = dtype === dtypes.i4 ? new Int8Array(content.buffer) : content;
  const [low, high] = intRange(nibble).map(Number);
  const outside = values.findIndex((v) => v < low! || v > high!);
  if (outside >= 0) refuse(file, `element ${outside} is ${values[outside]}, which is no ${dtype.name}`);
  const packed = allocateHost(dtype, values.length) as Uint8Array;
  encodeElements(nibble, values, 0, values.length, packed, 0);
  return packed;
}

function unpackNibbles({ dtype, shape, data }: NdArray): Uint8Array {
  const n = elementCount(shape);
  const values = new Int8Array(n);
  decodeElements(nibbleOf(dtype), data, 0, n, 1, values, 0);
  return new Uint8Array(values.buffer);
}

function toRowMajor(content: Bytes, shape: readonly number[], width: number): Bytes {
  // Integers of the element's width: a float array could change the bits of a NaN on the way.
  const kind = [dtypes.u8, dtypes.u16, dtypes.u32, dtypes.u64].find((d) => storageBytes(d) === width)!;
  const from = hostView(kind, content) as Uint32Array;
  const to = allocateHost(kind, from.length) as Uint32Array<ArrayBuffer>;
  const strides: number[] = [];
  for (let axis = 0, stride = 1; axis < shape.length; stride *= shape[axis++]!) strides.push(stride);
  forEachElement(shape, strides, (i, j) => {
    to[i] = from[j]!;
  });
  return new Uint8Array(to.buffer);
}

/** The bytes of an .npy file (version 1, C order, little endian). */
export function formatNpy(array: NdArray): Uint8Array {
  const { dtype, shape } = array;
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text = `{'descr': '${descriptorOf(storedAs(dtype))}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const padded = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`;
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(padded.length, 8);
  const content = dtype.bits === 4 ? unpackNibbles(array) : bytesOf(array);
  return Buffer.concat([head, Buffer.from(padded, 'latin1'), content]);
}

/**
 * Writes an array; the file appears whole or not at all.
 *
 * @throws CompileError where it cannot be written.
 */
export async function writeNpy(file: string, array: NdArray): Promise<void> {
  await writeOutputs([{ path: file, content: formatNpy(array) }]);
}
