/** Element types: names, widths and how one element lies in memory and in a host array. */

export type DTypeClass = 'bool' | 'int' | 'float';

export interface DType<N extends string = string, C extends DTypeClass = DTypeClass> {
  readonly name: N;
  readonly cls: C;
  /** Width of one element; `i4` and `u4` lie two to a byte, `bool` takes a whole byte in memory. */
  readonly bits: number;
  readonly signed: boolean;
}

// Interfaces, not aliases, keep editor hovers short.
export interface Bool extends DType<'bool', 'bool'> {}
export interface I4 extends DType<'i4', 'int'> {}
export interface I8 extends DType<'i8', 'int'> {}
export interface I16 extends DType<'i16', 'int'> {}
export interface I32 extends DType<'i32', 'int'> {}
export interface I64 extends DType<'i64', 'int'> {}
export interface U4 extends DType<'u4', 'int'> {}
export interface U8 extends DType<'u8', 'int'> {}
export interface U16 extends DType<'u16', 'int'> {}
export interface U32 extends DType<'u32', 'int'> {}
export interface U64 extends DType<'u64', 'int'> {}
export interface F16 extends DType<'f16', 'float'> {}
export interface BF16 extends DType<'bf16', 'float'> {}
export interface F32 extends DType<'f32', 'float'> {}
export interface F64 extends DType<'f64', 'float'> {}
export interface F8E4M3FN extends DType<'f8e4m3fn', 'float'> {}
export interface F8E5M2 extends DType<'f8e5m2', 'float'> {}
export interface F8E4M3FNUZ extends DType<'f8e4m3fnuz', 'float'> {}
export interface F8E5M2FNUZ extends DType<'f8e5m2fnuz', 'float'> {}
export interface F8E8M0FNU extends DType<'f8e8m0fnu', 'float'> {}
export interface F4E2M1FN extends DType<'f4e2m1fn', 'float'> {}

function dtype<N extends string, C extends DTypeClass>(name: N, cls: C, bits: number, signed: boolean): DType<N, C> {
  return Object.freeze({ name, cls, bits, signed });
}

export const bool: Bool = dtype('bool', 'bool', 1, false);
export const i4: I4 = dtype('i4', 'int', 4, true);
export const i8: I8 = dtype('i8', 'int', 8, true);
export const i16: I16 = dtype('i16', 'int', 16, true);
export const i32: I32 = dtype('i32', 'int', 32, true);
export const i64: I64 = dtype('i64', 'int', 64, true);
export const u4: U4 = dtype('u4', 'int', 4, false);
export const u8: U8 = dtype('u8', 'int', 8, false);
export const u16: U16 = dtype('u16', 'int', 16, false);
export const u32: U32 = dtype('u32', 'int', 32, false);
export const u64: U64 = dtype('u64', 'int', 64, false);
export const f16: F16 = dtype('f16', 'float', 16, true);
export const bf16: BF16 = dtype('bf16', 'float', 16, true);
export const f32: F32 = dtype('f32', 'float', 32, true);
export const f64: F64 = dtype('f64', 'float', 64, true);
export const f8e4m3fn: F8E4M3FN = dtype('f8e4m3fn', 'float', 8, true);
export const f8e5m2: F8E5M2 = dtype('f8e5m2', 'float', 8, true);
export const f8e4m3fnuz: F8E4M3FNUZ = dtype('f8e4m3fnuz', 'float', 8, true);
export const f8e5m2fnuz: F8E5M2FNUZ = dtype('f8e5m2fnuz', 'float', 8, true);
export const f8e8m0fnu: F8E8M0FNU = dtype('f8e8m0fnu', 'float', 8, false);
export const f4e2m1fn: F4E2M1FN = dtype('f4e2m1fn', 'float', 4, true);

/** Every dtype by its name: the one list that printer, parser, command line and host arrays read. */
export const dtypes = {
  bool,
  i4,
  i8,
  i16,
  i32,
  i64,
  u4,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  f8e4m3fn,
  f8e5m2,
  f8e4m3fnuz,
  f8e5m2fnuz,
  f8e8m0fnu,
  f4e2m1fn,
} as const;

export type DTypeName = keyof typeof dtypes;
export type AnyDType = (typeof dtypes)[DTypeName];

/** Short spellings that the command line takes too. */
export const dtypeAliases: Readonly<Record<string, DTypeName>> = { e4m3: 'f8e4m3fn', e5m2: 'f8e5m2' };

export function tryDType(name: string): AnyDType | undefined {
  const key = Object.hasOwn(dtypeAliases, name) ? dtypeAliases[name]! : name;
  return Object.hasOwn(dtypes, key) ? dtypes[key as DTypeName] : undefined;
}

export const isFloat = (d: DType): boolean => d.cls === 'float';
export const isInt = (d: DType): boolean => d.cls === 'int';
/** Held in registers as a BigInt by the interpreter and as `bigint` in attributes. */
export const isWide = (d: DType): boolean => d.cls === 'int' && d.bits === 64;

/** Bytes of one element in memory; half a byte for the 4-bit kinds. */
export const storageBytes = (d: DType): number => (d.cls === 'bool' ? 1 : d.bits / 8);

/** Smallest and largest value of an integer dtype. */
export function intRange(d: DType): readonly [bigint, bigint] {
  const n = BigInt(d.bits);
  return d.signed ? [-(1n << (n - 1n)), (1n << (n - 1n)) - 1n] : [0n, (1n << n) - 1n];
}

/** The typed array that holds a dtype's elements at the host: bit patterns for bf16, f16 and the 8-bit floats, packed nibbles for the 4-bit kinds. */
export interface HostArrays {
  bool: Uint8Array;
  i4: Uint8Array;
  i8: Int8Array;
  i16: Int16Array;
  i32: Int32Array;
  i64: BigInt64Array;
  u4: Uint8Array;
  u8: Uint8Array;
  u16: Uint16Array;
  u32: Uint32Array;
  u64: BigUint64Array;
  f16: Uint16Array;
  bf16: Uint16Array;
  f32: Float32Array;
  f64: Float64Array;
  f8e4m3fn: Uint8Array;
  f8e5m2: Uint8Array;
  f8e4m3fnuz: Uint8Array;
  f8e5m2fnuz: Uint8Array;
  f8e8m0fnu: Uint8Array;
  f4e2m1fn: Uint8Array;
}

export type HostArrayOf<D extends DType> = D['name'] extends keyof HostArrays
  ? HostArrays[D['name']]
  : HostArrays[DTypeName];
export type HostArray = HostArrays[DTypeName];
