/** Rebuilding kernels: IR is never changed in place; a pass walks the old regions and appends to new ones. */

import { fusedLoc } from '../diagnostics/location.js';
import { type BuildOptions, createOp } from './builder.js';
import type { Kernel, Launch } from './kernel.js';
import type { AttrsFor, OperandsFor, OpName, OpOf } from './ops/index.js';
import type { GenericOp, Region, Value } from './value.js';
import { mapOperands } from './walk.js';

/** Appends to the region that is being rebuilt and maps old values to new ones. */
export class Rewriter {
  private ops: GenericOp[] = [];
  private readonly mapping = new Map<Value, Value>();

  constructor(
    private readonly pass: string,
    /** Decides on one op: emits what replaces it, or calls `keep`. */
    private readonly visit: (op: GenericOp, rewriter: Rewriter) => void,
    /** Called around each region, for what holds only inside of one. */
    private readonly around: { readonly enter?: () => void; readonly leave?: () => void } = {},
  ) {}

  /** What an old value has become. */
  mapped(v: Value): Value {
    return this.mapping.get(v) ?? v;
  }

  map(from: Value, to: Value): void {
    this.mapping.set(from, to);
  }

  /** Maps all results of an op that is replaced. */
  replace(op: GenericOp, by: readonly Value[]): void {
    op.results.forEach((r, i) => {
      this.map(r, by[i]!);
    });
  }

  /** Appends a new op in place of `origin` (one op or several), at its location fused with this pass. */
  emit<N extends OpName>(
    name: N,
    operands: OperandsFor<N>,
    attrs: AttrsFor<N>,
    origin: GenericOp | readonly GenericOp[],
    options: Omit<BuildOptions, 'report'> = {},
  ): OpOf<N> {
    const from = [origin].flat().map((op) => op.loc);
    const op = createOp(name, operands, attrs, fusedLoc(this.pass, from), options);
    this.ops.push(op);
    return op;
  }

  append(op: GenericOp): void {
    this.ops.push(op);
  }

  /** Appends `op` with mapped operands and rebuilt regions; its results keep their identity where nothing changed. */
  keep(op: GenericOp, changed: Partial<Pick<GenericOp, 'operands' | 'attrs'>> = {}): GenericOp {
    const operands = mapOperands({ ...op, ...changed }, (v) => this.mapped(v));
    const regions = op.regions.map((r) => this.region(r));
    const same =
      !changed.operands &&
      !changed.attrs &&
      regions.every((r, i) => r === op.regions[i]) &&
      sameOperands(op.operands, operands);
    const kept = same ? op : { ...op, ...changed, operands, regions };
    this.ops.push(kept);
    return kept;
  }

  /** Rebuilds a region with the same arguments. */
  region(region: Region): Region {
    const outer = this.ops;
    this.ops = [];
    this.around.enter?.();
    for (const op of region.ops) this.visit(op, this);
    this.around.leave?.();
    const { ops } = this;
    this.ops = outer;
    const same = ops.length === region.ops.length && ops.every((op, i) => op === region.ops[i]);
    return same ? region : { args: region.args, ops };
  }
}

function sameOperands(a: GenericOp['operands'], b: GenericOp['operands']): boolean {
  return Object.keys(b).every((group) => {
    const [x, y] = [a[group], b[group]];
    if (Array.isArray(x) && Array.isArray(y)) return x.length === y.length && x.every((v, i) => v === y[i]);
    return x === y;
  });
}

/** Replaces the body of every launch. A kernel that nothing changed is returned as it is. */
export function mapBodies(kernel: Kernel, replace: (body: Region, launch: Launch) => Region): Kernel {
  const launches = kernel.launches.map((launch) => {
    const body = replace(launch.body, launch);
    return body === launch.body ? launch : { ...launch, body };
  });
  return launches.every((l, i) => l === kernel.launches[i]) ? kernel : { ...kernel, launches };
}

/** Rebuilds every launch of a kernel op by op. A kernel that nothing changed is returned as it is. */
export function rewriteKernel(
  kernel: Kernel,
  pass: string,
  visit: (op: GenericOp, rewriter: Rewriter, launch: Launch) => void,
): Kernel {
  return mapBodies(kernel, (body, launch) =>
    new Rewriter(pass, (op, rewriter) => visit(op, rewriter, launch)).region(body),
  );
}
