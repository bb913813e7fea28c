/** tilewright: GPU kernels in TypeScript. This is the whole public API of the front end and of what runs kernels. */

export { type Compiled, type CompileOptions, compile, compileForTargets, supportedBackends } from './api/compile.js';
export { makeNdArray, type NdArray } from './api/nd-array.js';
export { interpret, type RunOptions, run } from './api/run.js';
export { type KernelSimulateOptions, simulate } from './api/simulate.js';
export { CompileError, type Diagnostic, InternalError, ToolError } from './diagnostics/diagnostic.js';
export { concatenate, extract, flip, insert, join, slice, split, takeAlong } from './frontend/arrange.js';
export { reduce, scan } from './frontend/combine.js';
export { type Carry, ifElse, loop, when, whileLoop } from './frontend/control.js';
export { assertTrue, assume, debugPrint, multipleOf } from './frontend/debug.js';
export {
  atan2,
  bitcast,
  clamp,
  copysign,
  countLeadingZeros,
  erfInv,
  fma,
  integerPow,
  isFinite,
  isInfinite,
  isNaN,
  logistic,
  mulHi,
  nextAfter,
  populationCount,
  pow,
  reciprocal,
  roundAway,
  sign,
  square,
  trunc,
} from './frontend/elementwise.js';
export { Kernel, kernel, type TracedKernel } from './frontend/kernel.js';
export {
  cdiv,
  type DotPrecision,
  dim,
  dot,
  full,
  iota,
  maximum,
  minimum,
  ones,
  select,
  zeros,
} from './frontend/operations.js';
export { blockSpec, type PallasCallOptions, pallasCall, shapeDtype } from './frontend/pallas.js';
export { choice, dtypes, type Params, perTarget } from './frontend/params.js';
export {
  type BlockProgramSpec,
  blockProgram,
  type FastMath,
  type Handles,
  type Program,
  sequence,
} from './frontend/program.js';
export { type Counter, random, type Seed } from './frontend/random.js';
export type { Axis, Dims, Max, Rank } from './frontend/rank.js';
export { all, atomic, ds, type Extent, gather, Ref, type Slice, scatter } from './frontend/ref.js';
export { type Sorted, sort, topK } from './frontend/sort.js';
export { type ArraySpec, array, element, grid, type ScalarSpec, scalar, squeezed } from './frontend/spec.js';
export { type Index, type Scalar, Tile } from './frontend/tile.js';
export {
  type AnyDType,
  type BF16,
  type Bool,
  bf16,
  bool,
  type DType,
  type F16,
  type F32,
  type F64,
  f4e2m1fn,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0fnu,
  f16,
  f32,
  f64,
  type I32,
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
} from './ir/dtypes.js';
export { printKernel } from './ir/printer.js';
