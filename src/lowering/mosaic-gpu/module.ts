/** The module round a kernel's body: a host function that takes a block of arguments, and one launch. */

import { storageBytes } from '../../ir/dtypes.js';
import type { ArrayParam, Kernel, ScalarParam } from '../../ir/kernel.js';
import type { DeviceParam } from '../device-launch.js';
import { elementType, type Lines } from './text.js';

/**
 * Extents that arrays have in the text. Nothing reads them: real extents are run-time values, which reach the kernel as
 * parameters and TMA by the tensor maps of the launch plan.
 */
const placeholder = 1 << 16;

/** A place in the host function's block of arguments. */
export type Slot =
  | { readonly kind: 'array'; readonly param: ArrayParam }
  | { readonly kind: 'scalar'; readonly param: ScalarParam }
  | { readonly kind: 'dim'; readonly name: string };

/** The slots of a kernel in order: arrays, scalars, dims. The grid comes behind them. */
export const slotsOf = ({ params, dims }: Kernel): Slot[] => [
  ...params.flatMap((param): Slot[] => (param.kind === 'array' ? [{ kind: 'array', param }] : [])),
  ...params.flatMap((param): Slot[] => (param.kind === 'scalar' ? [{ kind: 'scalar', param }] : [])),
  ...dims.map(({ name }): Slot => ({ kind: 'dim', name })),
];

/** Names of the host function's values, which the kernel's body may use. */
export const arrayName = (name: string): string => `%array_${hex(name)}`;
export const scalarName = (name: string): string => `%scalar_${hex(name)}`;
export const dimName = (name: string): string => `%dim_${hex(name)}`;

const hex = (name: string): string => name.replace(/\W/g, (c) => `$${c.codePointAt(0)!.toString(16)}`);

/** The type that an array has in the text. */
export const arrayType = ({ value: { type } }: ArrayParam): string =>
  `memref<${[...type.shape.map(() => placeholder), elementType(type.dtype)].join('x')}>`;

/** What each slot holds, as the plan tells it. */
export const slotParam = (slot: Slot): DeviceParam => {
  switch (slot.kind) {
    case 'array':
      return { kind: 'pointer', array: slot.param.name, alignment: 16 };
    case 'scalar':
      return { kind: 'scalar', name: slot.param.name, dtype: slot.param.value.type.dtype.name };
    case 'dim':
      return { kind: 'extent', value: { kind: 'argument', name: slot.name }, type: 'i32' };
  }
};

export interface ModuleOptions {
  readonly symbol: string;
  readonly slots: readonly Slot[];
  readonly arch: readonly [number, number];
  readonly threads: number;
  readonly sharedBytes: number;
}

/** The text of a module. The grid is read at run time too: as a constant it would bound the block's position to 0. */
export function printModule({ symbol, slots, arch, threads, sharedBytes }: ModuleOptions, body: Lines): string {
  const lines = [
    `module @${symbol} attributes {mosaic_gpu.arch_major = ${arch[0]} : i32, mosaic_gpu.arch_minor = ${arch[1]} : i32} {`,
    '  func.func private @mosaic_gpu_init_tma_desc(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr)',
    `  func.func @${symbol}_mosaic_gpu(%stream: !llvm.ptr, %arguments: !llvm.ptr) attributes {llvm.emit_c_interface} {`,
    ...[...slots.flatMap(loadSlot), ...loadAt(slots.length, '%programs', 'i64')].map((line) => `    ${line}`),
    '    %token = builtin.unrealized_conversion_cast %stream : !llvm.ptr to !gpu.async.token',
    '    %grid = arith.index_cast %programs : i64 to index',
    '    %one = arith.constant 1 : index',
    `    %threads = arith.constant ${threads} : index`,
    `    %shared = arith.constant ${sharedBytes} : i32`,
    '    %launched = gpu.launch async [%token] blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %one, %gz = %one) ' +
      'threads(%tx, %ty, %tz) in (%nx = %threads, %ny = %one, %nz = %one) dynamic_shared_memory_size %shared {',
    ...body.lines.map((line) => `      ${line}`),
    '      gpu.terminator',
    '    }',
    '    return',
    '  }',
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

const loadAt = (at: number, name: string, type: string): string[] => [
  `%slot${at} = llvm.getelementptr %arguments[${at}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr`,
  `${name} = llvm.load %slot${at} : !llvm.ptr -> ${type}`,
];

function loadSlot(slot: Slot, at: number): string[] {
  switch (slot.kind) {
    case 'dim':
      return loadAt(at, dimName(slot.name), 'i32');
    case 'scalar': {
      const { dtype } = slot.param.value.type;
      return loadAt(at, scalarName(slot.param.name), elementType(dtype));
    }
    case 'array':
      return [...loadAt(at, `%pointer${at}`, '!llvm.ptr'), ...descriptor(slot.param, at)];
  }
}

/** An array's memref, made of its pointer. */
function descriptor(param: ArrayParam, at: number): string[] {
  const { shape } = param.value.type;
  const rank = shape.length;
  const struct =
    rank === 0
      ? '!llvm.struct<(ptr, ptr, i64)>'
      : `!llvm.struct<(ptr, ptr, i64, array<${rank} x i64>, array<${rank} x i64>)>`;
  const lines = [`%d${at}_0 = llvm.mlir.undef : ${struct}`];
  let last = 0;
  const insert = (value: string, place: string): void => {
    lines.push(`%d${at}_${last + 1} = llvm.insertvalue ${value}, %d${at}_${last}[${place}] : ${struct}`);
    last++;
  };
  const constant = (value: number): string => {
    const name = `%c${at}_${last}`;
    lines.push(`${name} = llvm.mlir.constant(${value} : i64) : i64`);
    return name;
  };
  insert(`%pointer${at}`, '0');
  insert(`%pointer${at}`, '1');
  insert(constant(0), '2');
  shape.forEach((_, axis) => insert(constant(placeholder), `3, ${axis}`));
  shape.forEach((_, axis) => insert(constant(placeholder ** (rank - 1 - axis)), `4, ${axis}`));
  lines.push(
    `${arrayName(param.name)} = builtin.unrealized_conversion_cast %d${at}_${last} : ${struct} to ${arrayType(param)} ` +
      `{mosaic_gpu.from_kernel_arg_idx = ${at} : i32, mosaic_gpu.original_kernel_arg}`,
  );
  return lines;
}

/** Bytes of a tile in shared memory. */
export const tileBytes = ({ value }: ArrayParam, shape: readonly number[]): number =>
  shape.reduce((a, b) => a * b, 1) * storageBytes(value.type.dtype);
