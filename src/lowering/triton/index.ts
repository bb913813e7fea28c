/** Lowering of the kernel IR to Triton IR: one module for each launch. */

import { primaryLoc, unknownLoc } from '../../diagnostics/location.js';
import { isFloat } from '../../ir/dtypes.js';
import type { Dim, Kernel, Launch } from '../../ir/kernel.js';
import { runPasses } from '../../ir/pass.js';
import { expand } from '../../ir/passes/expand.js';
import { argument, type Extent, symbolic } from '../../ir/symbolic.js';
import { walk } from '../../ir/walk.js';
import type { DeviceLaunch, DeviceParam } from '../device-launch.js';
import type { GpuTarget } from '../gpu-target.js';
import type { MlirValue } from '../mlir.js';
import { withOpLocation } from '../rule-table.js';
import { symbolsFor } from '../symbol.js';
import { type Argument, ProgramLowering } from './program.js';
import { printTriton } from './text.js';

export interface TritonLowering {
  readonly target: GpuTarget;
  /** Options that go before those of the kernel, by the names of `pltriton.CompilerParams`. */
  readonly params?: Readonly<Record<string, string | number | boolean>>;
}

/** Programs that the hardware's y and z take. */
const mostAlongYZ = 65_535;
/** Bytes that the address of every array is a multiple of: a promise of the launch. */
const alignment = 16;

const axes = ['x', 'y', 'z'] as const;
type Axis = (typeof axes)[number];

/** Which hardware axis each axis of a grid lies on: the last on x; the others on y and z where they are known to fit. */
function placeGrid(launch: Launch, most: (extent: Extent) => number): ReadonlyMap<string, Axis> {
  const placed = new Map<string, Axis>();
  const rest = [...launch.grid].reverse();
  const fits = rest.length <= 3 && rest.slice(1).every(({ extent }) => most(extent) <= mostAlongYZ);
  rest.forEach(({ name }, i) => {
    placed.set(name, fits ? axes[i]! : 'x');
  });
  return placed;
}

/** Ids of the program along each axis of its grid. */
function programIds(l: ProgramLowering, placed: ReadonlyMap<string, Axis>): ReadonlyMap<string, MlirValue> {
  const { e, launch } = l;
  e.loc = launch.loc;
  const id = (axis: Axis): MlirValue =>
    e.op('tt.get_program_id', [], 'i32', { properties: { axis: `${axes.indexOf(axis)} : i32` } });
  const ids = new Map<string, MlirValue>();
  if (new Set(placed.values()).size === launch.grid.length) {
    for (const { name } of launch.grid) ids.set(name, id(placed.get(name)!));
    return ids;
  }
  let rest = id('x');
  launch.grid.toReversed().forEach(({ name, extent }, i) => {
    if (i === launch.grid.length - 1) return void ids.set(name, rest);
    const size = l.extent(extent);
    ids.set(name, e.scalar('remsi', rest, size));
    rest = e.scalar('divsi', rest, size);
  });
  return ids;
}

function gridOf(launch: Launch, placed: ReadonlyMap<string, Axis>): readonly [Extent, Extent, Extent] {
  const along = (axis: Axis): Extent =>
    launch.grid
      .filter(({ name }) => placed.get(name) === axis)
      .map(({ extent }) => extent)
      .reduce<Extent>((a, b) => symbolic('mul', a, b), 1);
  return [along('x'), along('y'), along('z')];
}

/** The largest power of two, up to 16, that a dim is promised to be a multiple of. */
function divisibility(dim: Dim): number {
  let by = 1;
  while (by < 16 && (dim.multipleOf ?? 1) % (2 * by) === 0) by *= 2;
  return by;
}

const below2GiB = 2 ** 31;

function describe(l: ProgramLowering, a: Argument): { param: DeviceParam; attributes: Record<string, string> } {
  if (a.kind === 'pointer') {
    const { dtype, shape } = a.param.value.type;
    const bytes = shape.reduce<number>((n, extent) => n * l.most(extent), Math.ceil(dtype.bits / 8));
    const small = bytes < below2GiB;
    return {
      param: { kind: 'pointer', array: a.param.name, alignment, ...(small ? { below2GiB: true } : {}) },
      attributes: {
        'tt.divisibility': `${alignment} : i32`,
        ...(small ? { 'tt.pointer_range': '32 : i32' } : {}),
      },
    };
  }
  if (a.kind === 'scalar') {
    const param = l.kernel.params.find((p) => p.kind === 'scalar' && p.name === a.name)!;
    return {
      param: { kind: 'scalar', name: a.name, dtype: (param.value.type as { dtype: { name: string } }).dtype.name },
      attributes: {},
    };
  }
  const by = divisibility(l.kernel.dims.find((d) => d.name === a.name)!);
  return {
    param: { kind: 'extent', value: argument(a.name), type: 'i32', ...(by > 1 ? { divisibleBy: by } : {}) },
    attributes: by > 1 ? { 'tt.divisibility': `${by} : i32` } : {},
  };
}

const locOf = (kernel: Kernel, a: Argument) =>
  a.kind === 'pointer'
    ? a.param.loc
    : ((a.kind === 'dim' ? kernel.dims : kernel.params).find((p) => p.name === a.name)?.loc ?? unknownLoc);

/** Plain names of arguments, each once. */
function namesOf(list: readonly Argument[]): string[] {
  return symbolsFor(list.map((a) => (a.kind === 'pointer' ? a.param.name : a.name)));
}

function lowerLaunch(kernel: Kernel, launch: Launch, symbol: string, target: GpuTarget): DeviceLaunch {
  let placed: ReadonlyMap<string, Axis> = new Map();
  const l = new ProgramLowering(kernel, launch, target, (lowering) => {
    placed = placeGrid(launch, (extent) => lowering.most(extent));
    return programIds(lowering, placed);
  });
  withOpLocation(
    () => l.e.loc,
    target.name,
    () => l.run(),
  );
  l.e.loc = launch.loc;
  l.e.ops('tt.return', {});
  const used = l.usedArguments();
  const described = used.map((a) => describe(l, a));
  const names = namesOf(used);
  const text = printTriton({
    symbol,
    arguments: used.map((a, i) => ({
      name: names[i]!,
      value: a.value,
      attributes: described[i]!.attributes,
      loc: locOf(kernel, a),
    })),
    body: l.e.body(),
    loc: primaryLoc(launch.loc) ?? unknownLoc,
  });
  return {
    name: launch.name,
    symbol,
    text,
    params: described.map((d) => d.param),
    grid: gridOf(launch, placed),
    options: {
      ...(mayContract(launch) ? { enableFpFusion: true } : {}),
      ...(mayFlush(text) ? { enableReflectFtz: true } : {}),
    },
  };
}

/** Whether every product and sum of floats may be contracted: the compiler's own option knows only all or none. */
function mayContract(launch: Launch): boolean {
  let some = false;
  let all = true;
  walk(launch.body, (op) => {
    const { fast = [] } = op.attrs as { fast?: readonly string[] };
    const [result] = op.results;
    const fuses = op.name === 'mul' || op.name === 'add' || op.name === 'sub';
    if (!fuses || result?.type.kind !== 'tile' || !isFloat(result.type.dtype)) return;
    some = true;
    all &&= fast.includes('contract');
  });
  return some && all;
}

/** Whether the vendor's library may flush subnormals: again all or none. What is not approximated is called by its name. */
const mayFlush = (text: string): boolean =>
  /= math\.(exp|log|sin|cos|erf|rsqrt)/.test(text) && !/extern_elementwise/.test(text);

/**
 * One module of Triton IR for each launch.
 *
 * @param kernel after `legalize-ragged`: raggedness is explicit.
 * @throws CompileError where an op or dtype has no form in Triton, at the user's line.
 */
export function lowerToTriton(kernel: Kernel, { target }: TritonLowering): readonly DeviceLaunch[] {
  const symbols = symbolsFor(kernel.launches.map((l) => l.name));
  // Triton has no op that sorts.
  const sortless = runPasses(kernel, [{ ...expand, options: { moves: 0, sorts: 1, random: 0 } }]);
  return sortless.launches.map((launch, i) => lowerLaunch(sortless, launch, symbols[i]!, target));
}
