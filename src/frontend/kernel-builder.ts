/** From the programs of a kernel to its IR: parameters and dims once, one launch per program. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { type Loc, primaryLoc } from '../diagnostics/location.js';
import { didYouMean } from '../diagnostics/nearest.js';
import type { DType } from '../ir/dtypes.js';
import type * as ir from '../ir/kernel.js';
import { type FastMathFlag, fastMathFlags } from '../ir/ops/elementwise.js';
import { type Extent as HostExtent, printExtent, sameExtent, symbolic } from '../ir/symbolic.js';
import { refType, tileType } from '../ir/types.js';
import { type Region, value } from '../ir/value.js';
import { loopOverAxis } from './control.js';
import { mistake, noteAt } from './errors.js';
import { debugText } from './grid-mapping.js';
import type { TracedKernel } from './kernel.js';
import { type AnyProgram, type CostEstimateSpec, Program } from './program.js';
import { type ArrayHandle, type Extent, Ref, type ViewAxis } from './ref.js';
import { forDisplay, relativeTo } from './site.js';
import { type ArraySpec, type BlockDim, gridExtents, ScalarSpec } from './spec.js';
import { type DimSymbol, dimsOf, type HostSymbol, hostExtent, mergeFacts } from './symbol.js';
import { asSymbol, type Index, symbolTile, Tile, traced } from './tile.js';
import { Trace, writtenRefs } from './trace.js';

// biome-ignore lint/suspicious/noExplicitAny: specs are invariant in their dtype
type AnyArray = ArraySpec<any, any, any>;
type AnySpec = Program<never, never>['spec'];
/** An array parameter with the user's declaration of it. */
type DeclaredArray = ir.ArrayParam & { readonly spec: AnyArray };

export class KernelBuilder {
  private readonly dims = new Map<string, ir.Dim & { readonly at: Loc }>();
  private readonly arrays = new Map<string, DeclaredArray>();
  private readonly scalars = new Map<string, ir.ScalarParam & { readonly at: Loc }>();
  /** Names that read and write another array's memory: an alias's input. */
  private readonly sharedNames = new Map<string, string>();
  private readonly warnings: Diagnostic[] = [];

  constructor(
    private readonly name: string,
    private readonly folder: string,
    private readonly loc: Loc,
  ) {}

  build(program: AnyProgram<unknown, unknown>): TracedKernel {
    const single = program instanceof Program;
    const programs = (single ? [program] : program.programs) as readonly Program<never, never>[];
    const temps = single ? {} : program.temps;
    for (const [name, spec] of Object.entries(temps)) this.array(name, spec, 'temp');
    for (const { spec } of programs) this.declare(spec);
    const launches = programs.map((p, i) => this.launch(p, programs.length === 1 ? this.name : `${this.name}_${i}`));
    this.checkDimNames();
    this.checkStored(launches);
    const costs = programs.map((p) => p.spec.costEstimate).filter((c) => c !== undefined);
    const metadata = Object.assign({}, ...programs.map((p) => p.spec.metadata)) as Record<string, string>;
    const cost = costs.length > 0 ? { cost: this.cost(costs) } : {};
    const kernel: ir.Kernel = {
      name: this.name,
      params: this.params(),
      ...cost,
      dims: [...this.dims.values()].map(({ at: _, ...dim }) => dim),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
      launches,
      loc: this.relative(this.loc),
    };
    if (programs.some((p) => p.spec.debug)) process.stderr.write(debugText(kernel, programs, this.loc));
    return { kernel, warnings: this.warnings, folder: this.folder };
  }

  private relative(loc: Loc): Loc {
    return relativeTo(this.folder, loc);
  }

  /** Parameters in the caller's order: inputs, outputs, scalars as declared; temporaries last. */
  private params(): ir.Param[] {
    const arrays = [...this.arrays.values()].map(({ spec: _, ...param }): ir.ArrayParam => param);
    return [
      ...arrays.filter((p) => p.role === 'in'),
      ...arrays.filter((p) => p.role === 'out' || p.role === 'inout'),
      ...[...this.scalars.values()].map(({ at: _, ...param }) => param),
      ...arrays.filter((p) => p.role === 'temp'),
    ];
  }

  /** An output must be stored on some path. */
  private checkStored(launches: readonly ir.Launch[]): void {
    const written = new Set(launches.flatMap((l) => [...writtenRefs(l.body)]));
    for (const [name, { role, value: ref, spec }] of this.arrays)
      if ((role === 'out' || role === 'inout') && !written.has(ref))
        mistake((c) => frontendCodes.notStored({ output: name, kernel: this.name }, c), {
          loc: spec.loc,
          help: `call ${name}.store(…) in the body`,
        });
  }

  // ---- parameters -----------------------------------------------------------------------------------------------------

  private declare(spec: AnySpec): void {
    const aliases = new Map(Object.entries((spec.aliases ?? {}) as Readonly<Record<string, string>>));
    const shared = new Set(aliases.values());
    for (const [name, input] of Object.entries(spec.inputs)) {
      const output = Object.hasOwn(spec.outputs, name) ? spec.outputs[name] : undefined;
      if (output) this.clash(name, output.loc, input.loc);
      if (input instanceof ScalarSpec) this.scalar(name, input);
      else if (this.arrays.has(name)) this.sameArray(name, input);
      else if (!shared.has(name)) this.array(name, input, 'in');
    }
    for (const [name, output] of Object.entries(spec.outputs)) {
      const alias = aliases.get(name);
      const zeroed = ((spec.zeroed ?? []) as readonly string[]).includes(name);
      if (alias === undefined) this.output(name, output, zeroed);
      else this.alias(name, output, alias, spec.inputs, zeroed);
    }
    for (const extent of Object.values(spec.grid[gridExtents].extents)) this.noteDims(extent);
  }

  private clash(name: string, loc: Loc, first: Loc): never {
    return mistake((c) => frontendCodes.nameClash({ name, kernel: this.name }, c), {
      loc,
      notes: [noteAt('it is declared here too', first)],
    });
  }

  private scalar(name: string, spec: ScalarSpec<DType>): void {
    const known = this.scalars.get(name);
    if (known && known.value.type.dtype !== spec.dtype) this.clash(name, spec.loc, known.at);
    const array = this.arrays.get(name);
    if (array) this.clash(name, spec.loc, array.spec.loc);
    if (known) return;
    const type = tileType(spec.dtype);
    this.scalars.set(name, {
      kind: 'scalar',
      name,
      value: value(type, name),
      loc: this.relative(spec.loc),
      at: spec.loc,
    });
  }

  private array(
    name: string,
    spec: AnyArray,
    role: ir.ArrayParam['role'],
    extra: { readonly zeroed?: boolean; readonly aliasOf?: string } = {},
  ): void {
    const known = this.arrays.get(name)?.spec.loc ?? this.scalars.get(name)?.at;
    if (known) this.clash(name, spec.loc, known);
    const shape = spec.extents.map((x: Extent) => this.extent(x, spec.loc));
    const type = refType('gmem', spec.dtype, shape);
    const loc = this.relative(spec.loc);
    this.arrays.set(name, { kind: 'array', role, name, ...extra, value: value(type, name), loc, spec });
  }

  /** An output: new, or an array that an earlier program wrote or that lives between them. */
  private output(name: string, spec: AnyArray, zeroed: boolean): void {
    const known = this.arrays.get(name);
    if (!known || known.role === 'in') return this.array(name, spec, 'out', zeroed ? { zeroed } : {});
    this.sameArray(name, spec);
    if (zeroed) this.arrays.set(name, { ...known, zeroed });
  }

  /** A name that stands for an array which exists: dtype and extents must be its own. */
  private sameArray(name: string, spec: AnyArray): void {
    const known = this.arrays.get(name)!;
    const { dtype, shape } = known.value.type;
    const extents = spec.extents.map((x: Extent) => this.extent(x, spec.loc));
    if (spec.dtype === dtype && sameExtents(extents, shape)) return;
    const show = (d: string, s: readonly HostExtent[]): string => `${d}[${s.map(printExtent).join(', ')}]`;
    const message = `'${name}' is ${show(spec.dtype.name, extents)} here and ${show(dtype.name, shape)} before`;
    mistake((c) => frontendCodes.badExtent({ message }, c), {
      loc: spec.loc,
      notes: [noteAt('it is declared here', known.spec.loc)],
    });
  }

  private alias(output: string, spec: AnyArray, input: string, inputs: AnySpec['inputs'], zeroed: boolean): void {
    const source = Object.hasOwn(inputs, input) ? inputs[input] : undefined;
    const refuse = (message: string, notes: readonly Loc[] = []): never =>
      mistake((c) => frontendCodes.badAlias({ output, input, message }, c), {
        loc: spec.loc,
        notes: notes.map((loc) => noteAt(`'${input}' is declared here`, loc)),
      });
    if (!source || source instanceof ScalarSpec) return refuse('there is no input array of that name');
    if (zeroed) return refuse('it starts as zeros, which would overwrite the input');
    const taken = this.sharedNames.get(input);
    if (taken !== undefined) return refuse(`'${taken}' has taken its memory`);
    if (this.arrays.has(input)) return refuse('it is not an argument of its own in this sequence', [source.loc]);
    const [from, to] = [source, spec].map((s) => s.extents.map((x: Extent) => this.extent(x, s.loc)));
    if (source.dtype !== spec.dtype || !sameExtents(from!, to!))
      return refuse('dtype and extents must be the same', [source.loc]);
    this.sharedNames.set(input, output);
    this.array(output, spec, 'inout', { aliasOf: input });
  }

  /** Registers a dim; what several declarations promise about it holds together. */
  private noteDim({ name, facts, loc }: DimSymbol): void {
    const known = this.dims.get(name);
    this.dims.set(name, {
      name,
      ...mergeFacts(known ?? {}, facts),
      loc: known?.loc ?? this.relative(loc),
      at: known?.at ?? loc,
    });
  }

  private noteDims(x: Extent): HostSymbol | undefined {
    const symbol = asSymbol(x);
    if (symbol) for (const d of dimsOf(symbol)) this.noteDim(d);
    return symbol;
  }

  private checkDimNames(): void {
    for (const [name, { at }] of this.dims) {
      const other = this.arrays.get(name)?.spec.loc ?? this.scalars.get(name)?.at;
      if (other) this.clash(name, at, other);
    }
  }

  private extent(x: Extent, loc: Loc): HostExtent {
    const symbol = this.noteDims(x);
    return symbol
      ? hostExtent(symbol, loc)
      : mistake((c) => frontendCodes.badExtent({ message: 'an array extent cannot be a value of a kernel body' }, c));
  }

  private cost(costs: readonly CostEstimateSpec[]): ir.CostEstimate {
    const keys = ['flops', 'bytesAccessed', 'transcendentals'] as const;
    const sums = keys.map((key) => {
      const given = costs.map((c) => c[key]).filter((x) => x !== undefined);
      return [
        key,
        given.map((x) => this.extent(x, this.loc)).reduce((a, b) => symbolic('add', a, b), 0),
        given,
      ] as const;
    });
    return Object.fromEntries(sums.filter(([, , given]) => given.length > 0).map(([key, sum]) => [key, sum]));
  }

  // ---- launches -------------------------------------------------------------------------------------------------------

  private launch({ spec, body, loc, explicit }: Program<never, never>, name: string): ir.Launch {
    const { extents, sequential, loc: gridLoc } = spec.grid[gridExtents];
    const fast = fastMathFlags.filter((f): f is FastMathFlag => spec.fastMath?.[f] === true);
    const setting = {
      folder: this.folder,
      grid: explicit?.mesh ?? spec.grid,
      ...(explicit ? { warpgroups: explicit.warpgroups.name } : {}),
      fast,
      onDim: (d: DimSymbol) => this.noteDim(d),
    };
    const trace = new Trace(this.name, setting);
    trace.run(() => {
      const inner = (axes: readonly string[]): void => {
        const [axis, ...rest] = axes;
        if (axis !== undefined)
          return loopOverAxis(trace, extents[axis]!, primaryLoc(gridLoc) ?? gridLoc, (k) =>
            trace.withAxis(axis, (k.node as { traced: never }).traced, () => inner(rest)),
          );
        checkBodyResult((body as (handles: object) => unknown)(this.handles(trace, spec, explicit?.allocate())), loc);
      };
      inner(sequential);
    });
    const region: Region = trace.finish();
    this.warnings.push(...trace.warnings().map((w) => ({ ...w, loc: forDisplay(w.loc, this.folder) })));
    return {
      name,
      grid: Object.entries(extents)
        .filter(([axis]) => !sequential.includes(axis))
        .map(([axis, x]) => ({ name: axis, extent: this.extent(x, gridLoc) })),
      ...(explicit ? { warpgroups: explicit.warpgroups } : {}),
      backendParams: [spec.compilerParams ?? []].flat().map(({ backend, options }) => ({ backend, options })),
      body: region,
      loc: this.relative(loc),
    };
  }

  private handles(
    trace: Trace,
    spec: AnySpec,
    scratch: Readonly<Record<string, unknown>> = {},
  ): Record<string, unknown> {
    const handles: Record<string, unknown> = { ...scratch };
    for (const [name, declared] of [...Object.entries(spec.inputs), ...Object.entries(spec.outputs)]) {
      if (declared instanceof ScalarSpec) {
        handles[name] = traced(trace.parameter(this.scalars.get(name)!.value, declared.loc));
        continue;
      }
      const param = this.arrays.get(name) ?? this.arrays.get(this.sharedNames.get(name)!)!;
      const array: ArrayHandle = {
        name,
        dtype: declared.dtype,
        extents: declared.extents,
        value: trace.parameter(param.value, declared.loc),
        loc: declared.loc,
      };
      handles[name] = new Ref(array, viewAxes(declared));
    }
    return new Proxy(handles, { get: (_, name) => this.handle(handles, name) });
  }

  private handle(handles: Readonly<Record<string, unknown>>, name: string | symbol): unknown {
    if (typeof name === 'symbol' || Object.hasOwn(handles, name)) return handles[name as string];
    const names = Object.keys(handles);
    return mistake((c) => frontendCodes.unknownArgument({ kernel: this.name, name }, c), {
      help: didYouMean(name, names) ?? `it has ${names.join(', ') || 'none'}`,
    });
  }
}

const sameExtents = (a: readonly HostExtent[], b: readonly HostExtent[]): boolean =>
  a.length === b.length && a.every((x, i) => sameExtent(x, b[i]!));

function checkBodyResult(result: unknown, loc: Loc): void {
  if (result instanceof Promise) mistake((c) => frontendCodes.asyncBody({ what: 'a kernel body' }, c), { loc });
  if (result !== undefined)
    mistake((c) => frontendCodes.returnsValue({ what: 'a kernel body must return nothing' }, c), {
      loc,
      help: 'store results to the outputs',
    });
}

/** The axes of the view that a block spec gives, made once for all arguments that share the spec. */
function viewAxes(spec: AnyArray): readonly ViewAxis[] {
  let axes = knownAxes.get(spec);
  if (!axes) {
    axes = makeAxes(spec);
    knownAxes.set(spec, axes);
  }
  return axes;
}

const knownAxes = new WeakMap<AnyArray, readonly ViewAxis[]>();

/** Offsets are symbols, at the line of the spec. */
function makeAxes({ extents, blocked }: AnyArray): ViewAxis[] {
  if (!blocked) return extents.map((size: Extent) => ({ size }));
  return blocked.dims.map((d: BlockDim, axis: number): ViewAxis => {
    const index = blocked.index[axis]!;
    if (d instanceof Tile) return { ...(index === 0 ? {} : { start: times(index, d, blocked.loc) }), size: d };
    if (typeof d === 'object') return d.kind === 'squeezed' ? { start: index } : { start: index, size: d.size };
    return { start: times(index, d, blocked.loc), size: d };
  });
}

/** First element of block `index` of `size` elements. */
function times(index: Extent, size: Extent, loc: Loc): Extent {
  if (typeof index === 'number' && typeof size === 'number') return index * size;
  if (size === 1) return index;
  const [left, right] = [asSymbol(index, loc)!, asSymbol(size, loc)!];
  const product: Index = symbolTile({ kind: 'operation', op: 'mul', left, right, loc });
  return product;
}
