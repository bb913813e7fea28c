/** One kernel body being traced: ops go into the region that is open, values know where they were made. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { CompileError, type Diagnostic } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { createOp, tryCreateOp } from '../ir/builder.js';
import { bool, isFloat } from '../ir/dtypes.js';
import type { FastMathFlag } from '../ir/ops/elementwise.js';
import { type AttrsFor, isPure, type OperandsFor, type OpName, tryDefinition, writtenRef } from '../ir/ops/index.js';
import { indexType, printType, type Type } from '../ir/types.js';
import { type GenericOp, type Region, type Value, value } from '../ir/value.js';
import { countUses, walk } from '../ir/walk.js';
import { mistake, noteAt } from './errors.js';
import { forDisplay, relativeTo, userLoc, within } from './site.js';
import { type DimSymbol, type HostSymbol, usesAxis } from './symbol.js';

/** A region under construction, inside of another or of the launch. */
class OpenRegion {
  readonly ops: GenericOp[] = [];
  constructor(readonly parent: OpenRegion | undefined) {}
}

/** A value of a trace: what a `Tile` stands for inside of a kernel body. */
export interface TracedValue {
  readonly value: Value;
  readonly trace: Trace;
  readonly region: OpenRegion;
  readonly loc: Loc;
}

export interface EmitOptions {
  readonly types?: readonly Type[];
  readonly regions?: readonly Region[];
  readonly loc?: Loc;
}

let current: Trace | undefined;

export const activeTrace = (): Trace | undefined => current;

/** The trace that is active, or a mistake that names what needs one. */
export function needTrace(what: string): Trace {
  return current ?? mistake((c) => frontendCodes.outsideKernel({ what }, c));
}

/** What a trace needs to know of the program that it traces. */
export interface TraceSetting {
  /** Locations in the IR are relative to this folder. */
  readonly folder: string;
  /** Identity of the program's grid: axes of another grid have no value here. */
  readonly grid: object;
  /** The axis of the warpgroups, in an explicit program. */
  readonly warpgroups?: string;
  /** What float ops may give up, recorded on each. */
  readonly fast: readonly FastMathFlag[];
  /** Told of each dim that the body reads. */
  readonly onDim: (dim: DimSymbol) => void;
}

export class Trace {
  private readonly root = new OpenRegion(undefined);
  private readonly prologue: GenericOp[] = [];
  private readonly symbols = new Map<HostSymbol, TracedValue>();
  /** Dims by name and numbers by value: several symbols may stand for one of them. */
  private readonly leaves = new Map<string | number, TracedValue>();
  private open = this.root;

  /** Values of the grid axes that are loops inside the program. */
  private readonly sequential = new Map<string, TracedValue>();
  private readonly relativeLocs = new Map<Loc, Loc>();

  constructor(
    readonly kernel: string,
    private readonly setting: TraceSetting,
  ) {}

  /** Inside of `body` a sequential grid axis has this value. */
  withAxis(axis: string, counter: TracedValue, body: () => void): void {
    this.sequential.set(axis, counter);
    body();
  }

  /** Traces `body` as the kernel's launch. */
  run(body: () => void): void {
    current = this;
    try {
      body();
    } finally {
      current = undefined;
    }
  }

  /** The finished body of the launch. */
  finish(): Region {
    return { args: [], ops: [...this.prologue, ...this.root.ops] };
  }

  /** A value that exists before the body: a parameter of the kernel. */
  parameter(v: Value, loc: Loc): TracedValue {
    return { value: v, trace: this, region: this.root, loc };
  }

  /** Checks that a value may be used here: same trace, and made in this region or one around it. */
  use(v: TracedValue): Value {
    const type = printType(v.value.type);
    if (v.trace !== this)
      mistake((c) => frontendCodes.otherKernel({ from: v.trace.kernel, to: this.kernel }, c), {
        notes: [noteAt('the value was made here', v.loc)],
      });
    for (let region: OpenRegion | undefined = this.open; region; region = region.parent)
      if (region === v.region) return v.value;
    return mistake((c) => frontendCodes.escapes({ type }, c), {
      notes: [noteAt('the value was made here', v.loc)],
      help: 'return it from the body as a carried value',
    });
  }

  /** A location as the IR carries it. Ops of one line share theirs. */
  private relative(loc: Loc): Loc {
    let found = this.relativeLocs.get(loc);
    if (!found) {
      found = relativeTo(this.setting.folder, loc);
      this.relativeLocs.set(loc, found);
    }
    return found;
  }

  /** A symbol's value in the body: computed once, at its start. */
  symbol(symbol: HostSymbol): TracedValue {
    const known = this.symbols.get(symbol);
    if (known) return known;
    if (symbol.kind === 'dim') this.setting.onDim(symbol);
    const leaf = symbol.kind === 'dim' ? symbol.name : symbol.kind === 'number' ? symbol.value : undefined;
    const same = leaf === undefined ? undefined : this.leaves.get(leaf);
    if (same) {
      this.symbols.set(symbol, same);
      return same;
    }
    if (symbol.kind === 'axis') {
      if (symbol.grid !== this.setting.grid)
        mistake(
          (c) => frontendCodes.badIndex({ message: `'${symbol.axis}' is an axis of another program's grid` }, c),
          { notes: [noteAt('the axis was declared here', symbol.loc)] },
        );
      const counter = this.sequential.get(symbol.axis);
      if (counter) return counter;
    }
    const loc = this.relative(symbol.loc);
    const op = this.symbolOp(symbol, loc);
    // What depends on a sequential axis changes from trip to trip; everything else is computed once, up front.
    if (usesAxis(symbol, new Set(this.sequential.keys()))) {
      this.open.ops.push(op);
      return { value: op.results[0]!, trace: this, region: this.open, loc: symbol.loc };
    }
    this.prologue.push(op);
    const made = { value: op.results[0]!, trace: this, region: this.root, loc: symbol.loc };
    this.symbols.set(symbol, made);
    if (leaf !== undefined) this.leaves.set(leaf, made);
    return made;
  }

  private symbolOp(symbol: HostSymbol, loc: Loc): GenericOp {
    switch (symbol.kind) {
      case 'dim':
        return createOp('dim', {}, { name: symbol.name }, loc);
      case 'axis':
        if (symbol.axis === this.setting.warpgroups) return createOp('warpgroup_id', {}, {}, loc);
        return createOp('program_id', {}, { axis: symbol.axis }, loc);
      case 'number':
        return createOp('constant', {}, { value: symbol.value }, loc, { types: [indexType] });
      case 'operation': {
        const [left, right] = [this.symbol(symbol.left).value, this.symbol(symbol.right).value];
        return createOp(symbol.op, { left, right } as never, {}, loc);
      }
    }
  }

  /** Builds an op in the open region. What the op table refuses is the user's mistake, at the user's line. */
  emit<N extends OpName>(
    name: N,
    operands: OperandsFor<N>,
    attrs: AttrsFor<N>,
    options: EmitOptions = {},
  ): TracedValue[] {
    const at = options.loc ?? userLoc();
    const problems: string[] = [];
    const fast = this.setting.fast.length > 0 && takesFastMath(name, operands) ? { fast: this.setting.fast } : {};
    const op = tryCreateOp(name, operands, { ...attrs, ...fast }, this.relative(at), {
      ...(options.types ? { types: options.types } : {}),
      ...(options.regions ? { regions: options.regions } : {}),
      report: (message) => problems.push(message),
    });
    if (!op)
      throw new CompileError(problems.map((message) => frontendCodes.badOperand({ message }, { loc: forDisplay(at) })));
    this.open.ops.push(op);
    return op.results.map((v) => ({ value: v, trace: this, region: this.open, loc: at }));
  }

  /** Traces a region with arguments, of an op at `loc`. `body` ends it with a terminator. */
  region<T>(
    loc: Loc,
    args: readonly { readonly type: Type; readonly hint?: string }[],
    body: (args: readonly TracedValue[]) => T,
  ): { region: Region; result: T } {
    const inner = new OpenRegion(this.open);
    const values = args.map(({ type, hint }) => value(type, hint));
    const outer = this.open;
    this.open = inner;
    try {
      const result = within(loc, () => body(values.map((v) => ({ value: v, trace: this, region: inner, loc }))));
      return { region: { args: values, ops: inner.ops }, result };
    } finally {
      this.open = outer;
    }
  }

  /** Warnings about the finished body: bool results that nothing uses. */
  warnings(): Diagnostic[] {
    const body = this.finish();
    const uses = countUses(body);
    const found: Diagnostic[] = [];
    walk(body, (op) => {
      const [result] = op.results;
      const unused = result?.type.kind === 'tile' && result.type.dtype === bool && !uses.get(result);
      if (unused && isPure(op))
        found.push(
          frontendCodes.unusedCondition(
            { op: op.name },
            {
              loc: op.loc,
              help: 'a JavaScript if, while, &&, || or ?: cannot see a traced value (objects are always true); use select(), when() or ifElse()',
            },
          ),
        );
    });
    return found;
  }
}

/** Whether an op is float arithmetic that can record fast-math flags. */
function takesFastMath(name: OpName, operands: object): boolean {
  const first: unknown = Object.values(operands)[0];
  const { type } = (first ?? {}) as Partial<Value>;
  return type?.kind === 'tile' && isFloat(type.dtype) && Object.hasOwn(tryDefinition(name)!.attrs, 'fast');
}

/** The refs that some path through a region writes to. */
export function writtenRefs(region: Region): Set<Value> {
  const written = new Set<Value>();
  walk(region, (op) => {
    const ref = writtenRef(op);
    if (ref) written.add(ref);
  });
  return written;
}
