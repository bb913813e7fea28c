/** Meshes of explicit programs: the blocks, clusters and warpgroups of one launch, by named axes. */

import { backendCodes } from '../diagnostics/codes/backend.js';
import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import { mistake } from './errors.js';
import { checkOptions, checkRecord, describe, refuse } from './handle.js';
import type { Extent } from './ref.js';
import { userLoc } from './site.js';
import { checkExtent } from './spec.js';
import { type Index, symbolTile } from './tile.js';

/** Threads of a block divided by those of a warpgroup. */
export const maxWarpgroups = 8;
/** Blocks of a cluster at most, where the device is asked for more than the portable 8. */
const maxCluster = 16;

export interface MeshSpec {
  /** Axes of the grid; a block (or a cluster of them) runs for each point. */
  readonly grid?: Readonly<Record<string, Extent>>;
  /** Axes of the cluster: blocks that can reach each other's shared memory. */
  readonly cluster?: Readonly<Record<string, number>>;
  /** One axis: the warpgroups of a block, 8 at most. */
  readonly threads?: Readonly<Record<string, number>>;
}

/** What an explicit program runs on. */
export class Mesh {
  /** @internal */
  constructor(
    readonly grid: Readonly<Record<string, Extent>>,
    readonly cluster: Readonly<Record<string, number>>,
    readonly threads: Readonly<Record<string, number>>,
    readonly loc: Loc,
  ) {
    for (const axis of this.axes)
      Object.defineProperty(this, axis, { value: symbolTile({ kind: 'axis', axis, grid: this, loc }) });
  }

  /** Every axis, outermost first. */
  get axes(): readonly string[] {
    return [this.grid, this.cluster, this.threads].flatMap(Object.keys);
  }
}

/** Several devices by named axes. Nothing runs on one yet; it is there to be refused with a reason. */
export class DeviceMesh {
  /** @internal */
  constructor(
    readonly devices: Readonly<Record<string, number>>,
    readonly loc: Loc,
  ) {}
}

type AxesOf<S> = {
  readonly [K in S extends { readonly grid: infer G } ? keyof G : never]: Index;
} & { readonly [K in S extends { readonly cluster: infer C } ? keyof C : never]: Index } & {
  readonly [K in S extends { readonly threads: infer T } ? keyof T : never]: Index;
};

/**
 * A mesh of blocks and warpgroups. Its axes are index scalars: `mesh.m` of a block, `mesh.wg` of a warpgroup.
 *
 * @throws CompileError for names that come twice and extents that no device has.
 */
export function mesh<const S extends MeshSpec>(spec: S = {} as S): Mesh & AxesOf<S> {
  checkOptions('mesh', ['grid', 'cluster', 'threads'], spec);
  const { grid = {}, cluster = {}, threads = {} } = spec;
  const loc = userLoc();
  for (const [what, axes] of Object.entries({ grid, cluster, threads }))
    checkRecord(`'${what}' is a record of axes`, axes);
  for (const [axis, x] of Object.entries(grid)) checkExtent(x, `the extent of grid axis '${axis}'`, 0, loc);
  checkCounts('cluster', cluster, maxCluster, 'blocks of a cluster');
  checkCounts('threads', threads, maxWarpgroups, 'warpgroups of a block (1024 threads)');
  if (Object.keys(threads).length > 1) refuse("'threads' of a mesh has one axis", Object.keys(threads).join(', '));
  const names = [grid, cluster, threads].flatMap(Object.keys);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    mistake((c) => frontendCodes.badIndex({ message: `the mesh has two axes '${twice}'` }, c), {
      help: 'axes are known by their names: give each its own',
    });
  const taken = names.find((name) => meshMembers.has(name));
  if (taken !== undefined)
    mistake((c) => frontendCodes.badIndex({ message: `an axis of a mesh cannot have the name '${taken}'` }, c));
  return new Mesh(grid, cluster, threads, loc) as Mesh & AxesOf<S>;
}

const meshMembers: ReadonlySet<string> = new Set(['grid', 'cluster', 'threads', 'loc', 'axes', 'constructor']);

function checkCounts(of: string, axes: Readonly<Record<string, number>>, limit: number, what: string): void {
  for (const [axis, n] of Object.entries(axes))
    if (!Number.isInteger(n) || n < 1) refuse(`the extent of ${of} axis '${axis}' is an integer from 1 up`, n);
  const all = Object.values(axes).reduce((a, b) => a * b, 1);
  if (all > limit) refuse(`there are at most ${limit} ${what}`, all);
}

/** Devices by named axes. */
export function deviceMesh(devices: Readonly<Record<string, number>>): DeviceMesh {
  checkRecord("'deviceMesh' takes a record of axes and their extents", devices);
  return new DeviceMesh(devices, userLoc());
}

/** What a message calls something that is no mesh: its class, where it has one of its own. */
function nameOf(x: unknown): string {
  const name = typeof x === 'object' && x !== null ? x.constructor?.name : undefined;
  return name === undefined || name === 'Object' ? describe(x) : name;
}

/** Refuses what is no mesh of this back end. */
export function checkMesh(given: unknown): asserts given is Mesh {
  if (given instanceof DeviceMesh)
    mistake((c) => backendCodes.externalMesh({}, c), {
      help: 'give the axes of one device, plgpu.mesh({ grid, cluster, threads }), and launch the kernel on each',
    });
  if (!(given instanceof Mesh))
    mistake((c) => backendCodes.badMesh({ mesh: nameOf(given) }, c), {
      help: 'make it with plgpu.mesh({ grid, cluster, threads }), or use blockProgram, which needs none',
    });
}

/**
 * The axes of a collective operation on a mesh.
 *
 * @throws CompileError TW2036 where axes of devices and of the kernel are joined; TW1016 for a name that neither has.
 */
export function checkCollective(
  axes: string | readonly string[],
  kernel: Mesh,
  devices?: DeviceMesh,
): readonly string[] {
  const list = typeof axes === 'string' ? [axes] : axes;
  const own = list.filter((a) => kernel.axes.includes(a));
  const foreign = list.filter((a) => devices !== undefined && Object.hasOwn(devices.devices, a) && !own.includes(a));
  const shown = `(${list.join(', ')})`;
  if (own.length > 0 && foreign.length > 0)
    mistake((c) => backendCodes.mixedAxes({ axis: shown }, c), {
      help: `of the kernel: ${own.join(', ')}; of devices: ${foreign.join(', ')}; use one collective for each`,
    });
  const unknown = list.find((a) => !own.includes(a) && !foreign.includes(a));
  if (unknown !== undefined)
    mistake((c) => frontendCodes.badIndex({ message: `${describe(unknown)} is not an axis of the mesh` }, c), {
      help: `its axes are ${kernel.axes.join(', ') || 'none'}`,
    });
  return list;
}
