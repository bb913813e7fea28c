/** From the programs of a kernel to its IR: parameters and dims once, one launch per program. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { type Loc, printLoc } from '../diagnostics/location.js';
import type { DType } from '../ir/dtypes.js';
import type * as ir from '../ir/kernel.js';
import { type FastMathFlag, fastMathFlags } from '../ir/ops/elementwise.js';
import { printKernel } from '../ir/printer.js';
import { type Extent as HostExtent, printExtent, sameExtent } from '../ir/symbolic.js';
import { refType, tileType } from '../ir/types.js';
import { type Region, value } from '../ir/value.js';
import { loop } from './control.js';
import { mistake, noteAt } from './errors.js';
import type { TracedKernel } from './kernel.js';
import { type AnyProgram, type CostEstimateSpec, Program } from './program.js';
import { type ArrayHandle, type Extent, Ref, type ViewAxis } from './ref.js';
import { forDisplay, relativeTo } from './site.js';
import { ArraySpec, type BlockDim, gridExtents, ScalarSpec } from './spec.js';
import { dimsOf, type HostSymbol, hostExtent } from './symbol.js';
import { asSymbol, type Index, symbolTile, Tile, traced } from './tile.js';
import { Trace, writtenRefs } from './trace.js';

// biome-ignore lint/suspicious/noExplicitAny: specs are invariant in their dtype
type AnyArray = ArraySpec<any, any>;

export class KernelBuilder {
  private readonly dims = new Map<string, ir.Dim>();
  private readonly arrays = new Map<string, ir.ArrayParam & { readonly spec: AnyArray }>();
  private readonly scalars = new Map<string, ir.ScalarParam>();
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
    const programs = single ? [program] : program.programs;
    const temps = single ? {} : program.temps;
    this.declare(programs, temps);
    const launches = programs.map((p, i) => this.launch(p, programs.length === 1 ? this.name : `${this.name}_${i}`));
    for (const [name, param] of this.arrays)
      if (
        (param.role === 'out' || param.role === 'inout') &&
        !launches.some((l) => writtenRefs(l.body).has(param.value))
      )
        mistake((c) => frontendCodes.notStored({ output: name, kernel: this.name }, c), {
          loc: param.spec.loc,
          help: `call ${name}.store(…) in the body`,
        });
    const costs = programs.map((p) => p.spec.costEstimate).filter((c) => c !== undefined);
    const metadata = Object.assign({}, ...programs.map((p) => p.spec.metadata)) as Record<string, string>;
    const inOrder = [...this.arrays.values()].map(({ spec: _, ...param }): ir.ArrayParam => param);
    const kernel: ir.Kernel = {
      name: this.name,
      dims: [...this.dims.values()],
      params: [
        ...inOrder.filter((p) => p.role === 'in'),
        ...inOrder.filter((p) => p.role === 'out' || p.role === 'inout'),
        ...this.scalars.values(),
        ...inOrder.filter((p) => p.role === 'temp'),
      ],
      ...(costs.length > 0 ? { cost: this.cost(costs) } : {}),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
      launches,
      loc: this.relative(this.loc),
    };
    if (programs.some((p) => p.spec.debug)) process.stderr.write(debugText(kernel, this.loc));
    return { kernel, warnings: this.warnings, folder: this.folder };
  }

  private relative(loc: Loc): Loc {
    return relativeTo(this.folder, loc);
  }

  // ---- parameters -----------------------------------------------------------------------------------------------------

  private declare(
    programs: readonly Program<never, never>[] | readonly Program<unknown, unknown>[],
    temps: Readonly<Record<string, AnyArray>>,
  ): void {
    const outputs = new Set<string>();
    for (const [name, spec] of Object.entries(temps)) this.array(name, spec, 'temp', {});
    for (const { spec } of programs as readonly Program<never, never>[]) {
      const aliases = new Map(
        Object.entries((spec.aliases ?? {}) as Record<string, string | undefined>).filter(
          (e): e is [string, string] => e[1] !== undefined,
        ),
      );
      const zeroed = new Set((spec.zeroed ?? []) as readonly string[]);
      for (const [name, input] of Object.entries(spec.inputs)) {
        if (Object.hasOwn(spec.outputs, name)) this.clash(name, input.loc);
        if (input instanceof ScalarSpec) this.scalar(name, input);
        else if (Object.hasOwn(temps, name) || outputs.has(name)) this.sameArray(name, input);
        else if (![...aliases.values()].includes(name)) this.array(name, input, 'in', {});
      }
      for (const [name, output] of Object.entries(spec.outputs)) {
        outputs.add(name);
        const alias = aliases.get(name);
        const extra = zeroed.has(name) ? { zeroed: true } : {};
        if (Object.hasOwn(temps, name)) this.sameArray(name, output);
        else if (alias === undefined) this.array(name, output, 'out', extra);
        else this.alias(name, output, alias, spec.inputs as Readonly<Record<string, unknown>>);
      }
      for (const extent of Object.values(spec.grid[gridExtents].extents)) this.noteDims(extent);
    }
    for (const name of this.dims.keys())
      if (this.arrays.has(name) || this.scalars.has(name)) this.clash(name, this.dims.get(name)!.loc);
  }

  private clash(name: string, loc: Loc): never {
    return mistake((c) => frontendCodes.nameClash({ name, kernel: this.name }, c), { loc });
  }

  private scalar(name: string, spec: ScalarSpec<DType>): void {
    const known = this.scalars.get(name);
    if (known ? known.value.type.dtype !== spec.dtype : this.arrays.has(name)) this.clash(name, spec.loc);
    if (!known)
      this.scalars.set(name, {
        kind: 'scalar',
        name,
        value: value(tileType(spec.dtype), name),
        loc: this.relative(spec.loc),
      });
  }

  private array(
    name: string,
    spec: AnyArray,
    role: ir.ArrayParam['role'],
    extra: { zeroed?: boolean; aliasOf?: string },
  ): void {
    if (!(spec instanceof ArraySpec))
      mistake((c) => frontendCodes.badExtent({ message: `'${name}' must be declared with array(…) or scalar(…)` }, c), {
        loc: this.loc,
      });
    const known = this.arrays.get(name);
    if (known) {
      if (known.role !== role) this.clash(name, spec.loc);
      return this.sameArray(name, spec);
    }
    if (this.scalars.has(name)) this.clash(name, spec.loc);
    const type = refType(
      'gmem',
      spec.dtype,
      spec.extents.map((x: Extent) => this.extent(x)),
    );
    this.arrays.set(name, {
      kind: 'array',
      role,
      name,
      ...extra,
      value: value(type, name),
      loc: this.relative(spec.loc),
      spec,
    });
  }

  /** A name that stands for an array which exists: dtype and extents must be its own. */
  private sameArray(name: string, spec: AnyArray): void {
    const known = this.arrays.get(name)!;
    const { dtype, shape } = known.value.type;
    const extents = spec.extents.map((x: Extent) => this.extent(x));
    if (
      spec.dtype === dtype &&
      extents.length === shape.length &&
      extents.every((x: HostExtent, i: number) => sameExtent(x, shape[i]!))
    )
      return;
    const show = (d: string, s: readonly HostExtent[]): string => `${d}[${s.map(printExtent).join(', ')}]`;
    mistake(
      (c) =>
        frontendCodes.badExtent(
          { message: `'${name}' is ${show(spec.dtype.name, extents)} here and ${show(dtype.name, shape)} before` },
          c,
        ),
      {
        loc: spec.loc,
        notes: [noteAt('it is declared here', known.spec.loc)],
      },
    );
  }

  private alias(output: string, spec: AnyArray, input: string, inputs: Readonly<Record<string, unknown>>): void {
    const source = inputs[input];
    const refuse = (message: string): never =>
      mistake((c) => frontendCodes.badAlias({ output, input, message }, c), { loc: spec.loc });
    if (!(source instanceof ArraySpec)) return refuse('there is no input array of that name');
    if (this.sharedNames.has(input)) return refuse('another output has taken its memory');
    const same =
      source.dtype === spec.dtype &&
      source.extents.length === spec.extents.length &&
      source.extents.every((x: Extent, i: number) => sameExtent(this.extent(x), this.extent(spec.extents[i]!)));
    if (!same) return refuse('dtype and extents must be the same');
    this.sharedNames.set(input, output);
    this.array(output, spec, 'inout', { aliasOf: input });
  }

  private noteDims(x: Extent): HostSymbol | undefined {
    const symbol = asSymbol(x);
    if (symbol)
      for (const d of dimsOf(symbol).values()) {
        const known = this.dims.get(d.name);
        if (!known) this.dims.set(d.name, { name: d.name, ...d.facts, loc: this.relative(d.loc) });
      }
    return symbol;
  }

  private extent(x: Extent): HostExtent {
    const symbol = this.noteDims(x);
    return symbol
      ? hostExtent(symbol)
      : mistake((c) => frontendCodes.badExtent({ message: 'an array extent cannot be a value of a kernel body' }, c));
  }

  private cost(costs: readonly CostEstimateSpec[]): ir.CostEstimate {
    const keys = ['flops', 'bytesAccessed', 'transcendentals'] as const;
    const sum = (key: (typeof keys)[number]): HostExtent | undefined => {
      const given = costs.map((c) => c[key]).filter((x) => x !== undefined);
      return given.length === 0
        ? undefined
        : given.map((x) => this.extent(x)).reduce((a, b) => ({ kind: 'add', left: a, right: b }));
    };
    return Object.fromEntries(keys.map((k) => [k, sum(k)]).filter(([, v]) => v !== undefined));
  }

  // ---- launches -------------------------------------------------------------------------------------------------------

  private launch({ spec, body, loc }: Program<never, never> | Program<unknown, unknown>, name: string): ir.Launch {
    const { extents, sequential } = spec.grid[gridExtents];
    for (const axis of sequential)
      if (!Object.hasOwn(extents, axis))
        mistake((c) => frontendCodes.badIndex({ message: `'${axis}' is not an axis of the grid` }, c), { loc });
    const fast = fastMathFlags.filter((f): f is FastMathFlag => spec.fastMath?.[f] === true);
    const trace = new Trace(this.name, { folder: this.folder, grid: spec.grid, fast });
    trace.run(() => {
      const inner = (axes: readonly string[]): void => {
        const [axis, ...rest] = axes;
        if (axis !== undefined)
          return loop({ to: extents[axis]! }, (k) =>
            trace.withAxis(axis, (k.node as { traced: never }).traced, () => inner(rest)),
          );
        const result: unknown = (body as (handles: object) => unknown)(this.handles(trace, spec));
        if (result instanceof Promise) mistake((c) => frontendCodes.asyncBody({ what: 'a kernel body' }, c), { loc });
        if (result !== undefined)
          mistake((c) => frontendCodes.returnsValue({ what: 'a kernel body must return nothing' }, c), {
            loc,
            help: 'store results to the outputs',
          });
      };
      inner(sequential);
    });
    const region: Region = trace.finish();
    this.warnings.push(...trace.warnings().map((w) => ({ ...w, loc: forDisplay(w.loc, this.folder) })));
    const params = [spec.compilerParams ?? []].flat();
    return {
      name,
      grid: Object.entries(extents)
        .filter(([axis]) => !sequential.includes(axis))
        .map(([axis, x]) => ({ name: axis, extent: this.extent(x) })),
      backendParams: params.map(({ backend, options }) => ({ backend, options })),
      body: region,
      loc: this.relative(loc),
    };
  }

  private handles(trace: Trace, spec: { readonly inputs: object; readonly outputs: object }): Record<string, unknown> {
    const handles: Record<string, unknown> = {};
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
    return handles;
  }
}

/** The axes of the view that a block spec gives. Offsets are symbols, at the line of the spec. */
function viewAxes({ extents, block_ }: AnyArray): ViewAxis[] {
  if (!block_) return extents.map((size: Extent) => ({ size }));
  return block_.dims.map((d: BlockDim, axis: number): ViewAxis => {
    const index = block_.index[axis]!;
    if (d instanceof Tile) return { ...(index === 0 ? {} : { start: index }), size: d };
    if (typeof d === 'object') return d.kind === 'squeezed' ? { start: index } : { start: index, size: d.size };
    return { start: times(index, d, block_.loc), size: d };
  });
}

function times(index: Extent, size: number, loc: Loc): Extent {
  if (typeof index === 'number') return index * size;
  if (size === 1) return index;
  const left = asSymbol(index);
  if (!left)
    return mistake((c) => frontendCodes.badIndex({ message: 'a block index cannot be a value of a kernel body' }, c), {
      loc,
    });
  const product: Index = symbolTile({
    kind: 'operation',
    op: 'mul',
    left,
    right: { kind: 'number', value: size, loc },
    loc,
  });
  return product;
}

function debugText(kernel: ir.Kernel, loc: Loc): string {
  const grids = kernel.launches.map(
    (l) =>
      `  launch ${l.name}: ${l.grid.map((a) => `${a.name} in 0 … ${printExtent(a.extent)}`).join(', ') || 'one program'}`,
  );
  return `kernel '${kernel.name}' at ${printLoc(forDisplay(loc))}\n${grids.join('\n')}\n${printKernel(kernel)}`;
}
