/** From host values to the arguments of a call: dims are read off shapes, promises are checked, outputs are made. */

import { argumentCodes } from '../diagnostics/codes/arguments.js';
import { CompileError, type Diagnostic } from '../diagnostics/diagnostic.js';
import { type DType, isWide, storageBytes } from '../ir/dtypes.js';
import type { ArrayParam, Dim, Kernel, Launch, Param } from '../ir/kernel.js';
import { argumentsOf, evaluateExtent, printExtent } from '../ir/symbolic.js';
import { elementCount, printType } from '../ir/types.js';
import { makeNdArray, type NdArray } from './nd-array.js';

/** What a caller passes for one argument: an array, or a number for a scalar or a dim. */
export type HostValue = NdArray | number | bigint | boolean;

/** One call's arguments, checked: every dim has a value and every array exists in its final shape. */
export interface BoundArguments {
  readonly dims: ReadonlyMap<string, number>;
  readonly scalars: ReadonlyMap<string, number | bigint>;
  /** By param name; outputs and temporaries are fresh, aliased outputs start as a copy of their input. */
  readonly arrays: ReadonlyMap<string, NdArray>;
  /** Programs of each launch, in order. */
  readonly programs: readonly number[];
}

const maxPrograms = 2 ** 31 - 1;

/** The name under which a caller passes a parameter; outputs and temporaries are made. An alias is passed as its input. */
function inputName(param: Param): string | undefined {
  if (param.kind === 'scalar' || param.role === 'in') return param.name;
  return param.role === 'inout' ? param.aliasOf : undefined;
}

const isArray = (v: HostValue): v is NdArray => typeof v === 'object';

/** Dims and integer scalars by name: what symbolic extents are evaluated over. */
export function extentArguments(bound: Pick<BoundArguments, 'dims' | 'scalars'>): Map<string, number> {
  return new Map([...[...bound.scalars].map(([k, v]) => [k, Number(v)] as const), ...bound.dims]);
}

/**
 * Binds `given` to the parameters of `kernel`.
 *
 * @throws CompileError listing everything that does not fit: missing and unknown names, dtypes, ranks, shapes that
 *   disagree, broken promises, a grid that is too large.
 */
export function bindArguments(kernel: Kernel, given: Readonly<Record<string, HostValue>>): BoundArguments {
  const diagnostics: Diagnostic[] = [];
  const fail = (d: Diagnostic): void => {
    diagnostics.push(d);
  };
  const stop = (): void => {
    if (diagnostics.length) throw new CompileError(diagnostics);
  };

  const dimByName = new Map(kernel.dims.map((d) => [d.name, d]));
  const inputsByName = new Set(kernel.params.map(inputName));
  for (const name of Object.keys(given)) {
    const isInput = inputsByName.has(name);
    if (!isInput && !dimByName.has(name))
      fail(argumentCodes.unknownArgument({ kernel: kernel.name, name }, { loc: kernel.loc }));
  }

  const inputs = new Map<string, NdArray>();
  const scalars = new Map<string, number | bigint>();
  for (const param of kernel.params) {
    const name = inputName(param);
    if (name === undefined) continue;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const expected = printType(param.value.type);
    if (value === undefined)
      fail(argumentCodes.missingArgument({ kernel: kernel.name, name, expected }, { loc: param.loc }));
    else if (param.kind === 'array') {
      if (matches(param, value)) inputs.set(param.name, value);
      else fail(argumentCodes.wrongKind({ name, expected, got: describe(value) }, { loc: param.loc }));
    } else {
      const scalar = isArray(value) ? undefined : toScalar(param.value.type.dtype, value);
      if (scalar === undefined)
        fail(argumentCodes.wrongKind({ name: param.name, expected, got: describe(value) }, { loc: param.loc }));
      else scalars.set(param.name, scalar);
    }
  }
  stop();

  const dims = solveDims(kernel, given, inputs, fail);
  stop();
  const args = extentArguments({ dims, scalars });
  checkShapes(kernel, inputs, args, fail);
  for (const dim of kernel.dims) checkPromises(dim, dims.get(dim.name)!, fail);
  const programs = kernel.launches.map((launch) => countPrograms(launch, args, fail));
  stop();

  const arrays = new Map<string, NdArray>();
  for (const param of kernel.params) {
    if (param.kind === 'scalar') continue;
    const given = inputs.get(param.name);
    if (param.role === 'in') arrays.set(param.name, given!);
    else {
      const { dtype, shape } = param.value.type;
      const fresh = makeNdArray(
        dtype,
        shape.map((n) => evaluateExtent(n, args)),
      );
      // The caller's own array is never written to.
      if (given) (fresh.data as Uint8Array).set(given.data as Uint8Array);
      arrays.set(param.name, fresh);
    }
  }
  return { dims, scalars, arrays, programs };
}

function matches(param: ArrayParam, value: HostValue): value is NdArray {
  const { dtype, shape } = param.value.type;
  return isArray(value) && value.dtype === dtype && value.shape.length === shape.length;
}

const describe = (value: HostValue): string =>
  isArray(value) ? `an array ${value.dtype.name}[${value.shape.join(', ')}]` : `${typeof value} ${value}`;

/** A JS number for a scalar argument, or undefined where it is not one of the dtype's values. */
function toScalar(dtype: DType, value: number | bigint | boolean): number | bigint | undefined {
  const v = typeof value === 'boolean' ? Number(value) : value;
  if (dtype.cls === 'float') return typeof v === 'number' ? v : undefined;
  if (dtype.cls === 'bool') return v === 0 || v === 1 ? Number(v) : undefined;
  if (typeof v === 'number' && !Number.isInteger(v)) return undefined;
  const wide = BigInt(v);
  const bits = BigInt(dtype.bits);
  const wrapped = dtype.signed ? BigInt.asIntN(Number(bits), wide) : BigInt.asUintN(Number(bits), wide);
  if (wrapped !== wide) return undefined;
  return isWide(dtype) ? wide : Number(wide);
}

function solveDims(
  kernel: Kernel,
  given: Readonly<Record<string, HostValue>>,
  inputs: ReadonlyMap<string, NdArray>,
  fail: (d: Diagnostic) => void,
): Map<string, number> {
  const dims = new Map<string, number>();
  for (const param of kernel.params) {
    const array = param.kind === 'array' && inputs.get(param.name);
    if (!array) continue;
    param.value.type.shape.forEach((extent, axis) => {
      if (typeof extent !== 'number' && extent.kind === 'argument' && !dims.has(extent.name))
        dims.set(extent.name, array.shape[axis]!);
    });
  }
  for (const dim of kernel.dims) {
    const value = Object.hasOwn(given, dim.name) ? given[dim.name] : undefined;
    if (value === undefined) {
      if (!dims.has(dim.name))
        fail(
          argumentCodes.missingArgument(
            { kernel: kernel.name, name: dim.name, expected: 'a dim' },
            { loc: dim.loc, help: `no input has '${dim.name}' alone as an extent; pass it by name` },
          ),
        );
    } else if (isArray(value) || !Number.isInteger(Number(value)) || Number(value) < 0 || Number(value) > maxPrograms)
      fail(
        argumentCodes.wrongKind(
          { name: dim.name, expected: 'an integer from 0 to 2147483647', got: describe(value) },
          { loc: dim.loc },
        ),
      );
    else dims.set(dim.name, Number(value));
  }
  return dims;
}

function checkShapes(
  kernel: Kernel,
  inputs: ReadonlyMap<string, NdArray>,
  args: ReadonlyMap<string, number>,
  fail: (d: Diagnostic) => void,
): void {
  for (const param of kernel.params) {
    if (param.kind === 'scalar') continue;
    const array = inputs.get(param.name);
    param.value.type.shape.forEach((extent, axis) => {
      if (array) {
        const expected = evaluateExtent(extent, args);
        const got = array.shape[axis]!;
        if (expected === got) return;
        const named = [...argumentsOf(extent)].length ? `${printExtent(extent)} = ${expected}` : String(expected);
        fail(argumentCodes.shapeMismatch({ name: param.name, axis, expected: named, got }, { loc: param.loc }));
      }
    });
  }
}

function checkPromises(dim: Dim, value: number, fail: (d: Diagnostic) => void): void {
  const broken = (promise: string, help: string): void =>
    fail(argumentCodes.brokenPromise({ name: dim.name, value, promise }, { loc: dim.loc, help }));
  if (value > maxPrograms) broken('at most 2147483647', 'split the array');
  if (dim.multipleOf !== undefined && value % dim.multipleOf !== 0)
    broken(`a multiple of ${dim.multipleOf}`, `pad the arrays, or drop multipleOf from dim('${dim.name}')`);
  if (dim.min !== undefined && value < dim.min) broken(`at least ${dim.min}`, `drop min from dim('${dim.name}')`);
  if (dim.max !== undefined && value > dim.max)
    broken(`at most ${dim.max}`, `compile with a larger block, or raise max of dim('${dim.name}')`);
}

function countPrograms(launch: Launch, args: ReadonlyMap<string, number>, fail: (d: Diagnostic) => void): number {
  const programs = launch.grid.reduce((n, axis) => n * BigInt(Math.max(0, evaluateExtent(axis.extent, args))), 1n);
  if (programs > BigInt(maxPrograms))
    fail(argumentCodes.gridTooLarge({ launch: launch.name, programs: String(programs) }, { loc: launch.loc }));
  return Number(programs);
}

/** Bytes of one array in memory. */
export const arrayBytes = (array: Pick<NdArray, 'dtype' | 'shape'>): number =>
  Math.ceil(elementCount(array.shape) * storageBytes(array.dtype));
