/**
 * What makes a kernel valid. Everything wrong is collected:
 *
 * - names of dims and params, and of the axes of one grid, are distinct; what extents name exists;
 * - promises about a dim do not contradict each other; only `inout` arrays are aliases, and what is read from outside is not zeroed;
 * - types have a rank and a size that can be; regions nest at most `maxNesting` deep;
 * - every op fits its definition in the table (`checkOp`);
 * - every value has one definition, and is used behind it, in its region or one inside;
 * - terminators end the regions of ops and stand nowhere else;
 * - `dim`, `program_id` and `num_programs` name dims and grid axes that exist; inputs are not written;
 * - ops of warpgroups stand in launches that have them;
 * - valid extents that meet are one, and none leaves the loop or branch that alone knows it.
 */

import { irCodes } from '../diagnostics/codes/ir.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { RaggedAnalysis } from './analyses/ragged.js';
import { checkOp } from './check-op.js';
import { type ArrayParam, type Dim, type Kernel, type Launch, maxNesting } from './kernel.js';
import { isOp, tryDefinition, writtenRef } from './ops/index.js';
import { warpgroupOpNames } from './ops/warpgroup.js';
import { argumentsOf, type Extent } from './symbolic.js';
import { elementCount, maxRank, printType, type Type } from './types.js';
import type { GenericOp, Region, Value } from './value.js';
import { operandsOf } from './walk.js';

type Sink = (diagnostic: Diagnostic) => void;

const largestDim = 2 ** 31 - 1;

/** Finds all faults of a kernel; none if it is valid. */
export function verifyKernel(kernel: Kernel): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const sink: Sink = (diagnostic) => diagnostics.push(diagnostic);
  verifySignature(kernel, sink);
  for (const launch of kernel.launches) new LaunchVerifier(kernel, launch, sink).run();
  // Extents of ops that are not well formed mean nothing.
  if (diagnostics.length === 0)
    for (const launch of kernel.launches) diagnostics.push(...new RaggedAnalysis(launch).diagnostics);
  return diagnostics;
}

/** Reports names that occur more than once. */
function verifyNames(what: string, named: readonly { readonly name: string; readonly loc: Loc }[], sink: Sink): void {
  const names = new Set<string>();
  for (const { name, loc } of named) {
    if (names.has(name)) sink(irCodes.redefinedName({ what, name: `'${name}'` }, { loc }));
    names.add(name);
  }
}

function verifySignature(kernel: Kernel, sink: Sink): void {
  verifyNames('param or dim', [...kernel.dims, ...kernel.params], sink);
  for (const dim of kernel.dims) verifyDim(dim, sink);
  const integers = new Set([
    ...kernel.dims.map((d) => d.name),
    ...kernel.params.filter((p) => p.kind === 'scalar' && p.value.type.dtype.cls === 'int').map((p) => p.name),
  ]);
  const verifyExtent = (extent: Extent, loc: Loc): void => {
    for (const name of argumentsOf(extent))
      if (!integers.has(name)) sink(irCodes.undefinedName({ what: 'dim', name: `'${name}'` }, { loc }));
  };
  for (const param of kernel.params) if (param.kind === 'array') verifyArray(param, verifyExtent, sink);
  for (const extent of Object.values(kernel.cost ?? {})) verifyExtent(extent, kernel.loc);
  for (const { grid, loc } of kernel.launches) {
    verifyNames(
      'grid axis',
      grid.map(({ name }) => ({ name, loc })),
      sink,
    );
    for (const axis of grid) verifyExtent(axis.extent, loc);
  }
}

function verifyArray(
  { name, role, aliasOf, zeroed, value, loc }: ArrayParam,
  verifyExtent: (extent: Extent, loc: Loc) => void,
  sink: Sink,
): void {
  const report = (message: string): void => sink(irCodes.contradictoryArray({ array: name, message }, { loc }));
  if (aliasOf !== undefined && role !== 'inout') report(`is '${role}', so it cannot share the memory of '${aliasOf}'`);
  if (zeroed && (role === 'in' || role === 'inout')) report(`is '${role}', so what it holds cannot be zeroed first`);
  for (const extent of value.type.shape) verifyExtent(extent, loc);
  verifyType(value.type, loc, sink);
}

/** No tile or array can have more axes, or a tile more elements; extents that are numbers are at least 1 (0 for arrays). */
function verifyType(type: Type, loc: Loc, sink: Sink): void {
  if (type.kind !== 'tile' && type.kind !== 'ref') return;
  const report = (message: string): void => sink(irCodes.impossibleType({ type: printType(type), message }, { loc }));
  const least = type.kind === 'tile' ? 1 : 0;
  const shape: readonly Extent[] = type.shape;
  const numbers = shape.filter((n) => typeof n === 'number');
  if (type.shape.length > maxRank) report(`has ${type.shape.length} axes, at most ${maxRank} can be`);
  if (!numbers.every((n) => Number.isInteger(n) && n >= least && n <= largestDim))
    report(`needs extents from ${least} to ${largestDim}`);
  else if (type.kind === 'tile' && elementCount(type.shape) > largestDim)
    report(`has more than ${largestDim} elements`);
}

function verifyDim({ name, multipleOf = 1, min = 0, max = largestDim, loc }: Dim, sink: Sink): void {
  const report = (message: string): void => sink(irCodes.contradictoryDim({ dim: name, message }, { loc }));
  if (multipleOf < 1) report(`cannot be a multiple of ${multipleOf}`);
  if (min < 0 || min > max || max > largestDim) report(`cannot lie between ${min} and ${max}`);
}

class LaunchVerifier {
  private readonly axes: ReadonlySet<string>;
  private readonly dims: ReadonlySet<string>;
  private readonly inputs: ReadonlyMap<Value, string>;
  private readonly inScope: Set<Value>;
  /** All values that have a definition so far, in scope or not. */
  private readonly defined: Set<Value>;

  constructor(
    kernel: Kernel,
    private readonly launch: Launch,
    private readonly sink: Sink,
  ) {
    this.axes = new Set(launch.grid.map((a) => a.name));
    this.dims = new Set(kernel.dims.map((d) => d.name));
    this.inputs = new Map(
      kernel.params.flatMap((p) => (p.kind === 'array' && p.role === 'in' ? [[p.value, p.name] as const] : [])),
    );
    this.inScope = new Set(kernel.params.map((p) => p.value));
    this.defined = new Set(this.inScope);
  }

  run(): void {
    this.region(this.launch.body, this.launch.loc, 1);
  }

  private region(region: Region, loc: Loc, depth: number): void {
    const own: Value[] = [];
    const define = (v: Value, at: Loc): void => {
      verifyType(v.type, at, this.sink);
      if (this.defined.has(v)) {
        const name = v.hint === undefined ? `of type ${printType(v.type)}` : `%${v.hint}`;
        this.sink(irCodes.redefinedName({ what: 'value', name }, { loc: at }));
      }
      this.defined.add(v);
      this.inScope.add(v);
      own.push(v);
    };
    for (const arg of region.args) define(arg, loc);
    for (const [i, op] of region.ops.entries()) {
      this.op(op, region !== this.launch.body && i === region.ops.length - 1, depth);
      for (const r of op.results) define(r, op.loc);
    }
    for (const v of own) this.inScope.delete(v);
  }

  private op(op: GenericOp, mayTerminate: boolean, depth: number): void {
    const { loc } = op;
    const definition = tryDefinition(op.name);
    if (!definition) return this.sink(irCodes.undefinedName({ what: 'op', name: `'${op.name}'` }, { loc }));
    for (const v of operandsOf(op))
      if (!this.inScope.has(v)) this.sink(irCodes.notInScope({ op: op.name, type: printType(v.type) }, { loc }));
    if (definition.terminator && !mayTerminate) this.sink(irCodes.misplacedTerminator({ op: op.name }, { loc }));
    if (warpgroupOpNames.has(op.name) && !this.launch.warpgroups)
      this.sink(irCodes.invalidOp({ message: `'${op.name}' needs a launch of warpgroups` }, { loc }));
    if (isOp(op, 'dim') && !this.dims.has(op.attrs.name))
      this.sink(irCodes.undefinedName({ what: 'dim', name: `'${op.attrs.name}'` }, { loc }));
    if ((isOp(op, 'program_id') || isOp(op, 'num_programs')) && !this.axes.has(op.attrs.axis))
      this.sink(irCodes.undefinedName({ what: 'grid axis', name: `'${op.attrs.axis}'` }, { loc }));
    const written = writtenRef(op);
    const param = written && this.inputs.get(written);
    if (param !== undefined)
      this.sink(
        irCodes.writesInput({ op: op.name, param }, { loc, help: `declare '${param}' as inout, or write an output` }),
      );
    checkOp(op, this.sink);
    if (op.regions.length > 0 && depth === maxNesting) this.sink(irCodes.nestedTooDeep({ most: maxNesting }, { loc }));
    else for (const inner of op.regions) this.region(inner, loc, depth + 1);
  }
}
