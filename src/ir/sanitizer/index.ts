/** The sanitizer: watches a run of the interpreter and reports what is wrong with the kernel, at its lines. */

import { sanitizerCodes } from '../../diagnostics/codes/sanitizer.js';
import type { Diagnostic, DiagnosticNote } from '../../diagnostics/diagnostic.js';
import {
  type BlockAccess,
  type Buffer,
  forEachIndexed,
  forEachRun,
  type IndexedAccess,
} from '../interpreter/memory.js';
import type { AsyncEvent, Observer, Program } from '../interpreter/observer.js';
import type { Kernel, Launch } from '../kernel.js';
import { isOp, writtenRef } from '../ops/index.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, type RefType } from '../types.js';
import type { GenericOp, Value } from '../value.js';
import { walk } from '../walk.js';
import { accessMap, indexText, type MapLayer, offsetsWhere } from './access-map.js';
import {
  canDivide,
  canTruncate,
  canWrap,
  firstNotFinite,
  forEachBadDivision,
  forEachTruncated,
  forEachWrapped,
} from './arithmetic.js';
import { BlockWatch } from './block.js';
import type { CheckName } from './checks.js';
import { Clocks } from './clocks.js';
import type { Findings } from './findings.js';
import { forEachLane, type OriginKind, OriginTable, spread } from './origins.js';
import { type Earlier, markWritten, RaceShadow } from './shadow.js';

/** What is known of an array: which elements have been written, and who touched them in the current launch. */
interface ArrayState {
  readonly buffer: Buffer;
  /** Absent where all of it held values from the start. */
  readonly written: Uint8Array | undefined;
  races: RaceShadow | undefined;
}

/** The launch that runs. */
interface Current {
  readonly warpgroups: number;
  readonly clocks: Clocks | undefined;
  readonly nameOf: (program: number) => string;
}

type Access = BlockAccess | IndexedAccess;
const isBlock = (access: Access): access is BlockAccess => 'start' in access;

/** Visits the elements that take part: runs of a block, or one element after the other. */
function forEachTouched(
  access: Access,
  visit: (tile: number, memory: number, count: number, stride: number) => void,
): void {
  if (isBlock(access)) forEachRun(access, visit);
  else forEachIndexed(access, (tile, memory) => visit(tile, memory, 1, 1));
}

function touched(access: Access): number[] {
  const offsets: number[] = [];
  forEachTouched(access, (_, memory, count, stride) => {
    for (let i = 0; i < count; i++) offsets.push(memory + i * stride);
  });
  return offsets;
}

export interface SanitizerOptions {
  readonly checks: ReadonlySet<CheckName>;
  /** Report the first NaN or infinity too. */
  readonly trapNaN: boolean;
}

export class Sanitizer implements Observer {
  private readonly arrays = new Map<unknown, ArrayState>();
  private readonly origins = new OriginTable();
  /** Every op of the kernel, and its number. */
  private readonly ops: GenericOp[] = [];
  private readonly ids: ReadonlyMap<GenericOp, number>;
  private current!: Current;
  private block: { readonly number: number; readonly watch: BlockWatch } | undefined;
  private trapped = false;

  constructor(
    private readonly kernel: Kernel,
    buffers: ReadonlyMap<Value, Buffer>,
    private readonly options: SanitizerOptions,
    private readonly findings: Findings,
  ) {
    for (const launch of kernel.launches) walk(launch.body, (op) => void this.ops.push(op));
    this.ids = new Map(this.ops.map((op, i) => [op, i]));
    for (const param of kernel.params) {
      if (param.kind !== 'array') continue;
      const buffer = buffers.get(param.value)!;
      const isFresh = (param.role === 'out' || param.role === 'temp') && !param.zeroed;
      const written = isFresh && options.checks.has('uninit') ? new Uint8Array(elementCount(buffer.shape)) : undefined;
      this.arrays.set(buffer.data, { buffer, written, races: undefined });
    }
  }

  /** A launch begins; what went before is ordered before all of it. */
  beginLaunch(
    launch: Launch,
    programs: number,
    bufferOf: (ref: Value) => Buffer | undefined,
    nameOf: Current['nameOf'],
  ): void {
    const writes = new Set<unknown>();
    let synchronises = false;
    walk(launch.body, (op) => {
      const ref = writtenRef(op);
      if (ref) writes.add(bufferOf(ref)?.data);
      const { order } = op.attrs as { order?: string };
      synchronises ||= order !== undefined && order !== 'relaxed';
    });
    const clocks = synchronises ? new Clocks() : undefined;
    this.current = { clocks, nameOf, warpgroups: launch.warpgroups?.count ?? 0 };
    this.block = undefined;
    const isNarrow = (op: number): boolean => (this.ops[op]!.attrs as { scope?: string }).scope === 'block';
    const hasRaces = this.options.checks.has('race') && programs > 1;
    for (const [data, state] of this.arrays)
      state.races =
        hasRaces && writes.has(data)
          ? new RaceShadow(elementCount(state.buffer.shape), this.ops.length, clocks, isNarrow)
          : undefined;
  }

  /** The kernel has run: what is left to say. */
  finish(): void {
    for (const param of this.kernel.params) {
      if (param.kind !== 'array' || param.role !== 'out') continue;
      const state = [...this.arrays.values()].find(({ buffer }) => buffer.name === param.name)!;
      const { buffer, written } = state;
      const missing = written?.indexOf(0) ?? -1;
      if (!written || missing < 0) continue;
      const { shape, name } = buffer;
      const total = written.length;
      const count = written.reduce((n, w) => n + (w ? 0 : 1), 0);
      let store: GenericOp | undefined;
      for (const launch of this.kernel.launches)
        walk(launch.body, (op) => {
          if (writtenRef(op) === param.value) store ??= op;
        });
      const map = accessMap(name, shape, missing, [
        { letter: '#', meaning: 'stored', elements: offsetsWhere(total, (at) => written[at] !== 0) },
        { letter: 'X', meaning: 'never stored', elements: offsetsWhere(total, (at) => !written[at]) },
      ]);
      this.findings.report(
        `never stored ${name}`,
        () => () =>
          sanitizerCodes.neverStored(
            { ref: name, element: `${name}${indexText(shape, missing)}`, count, total },
            {
              loc: store?.loc ?? param.loc,
              notes: [{ message: `'${name}' is declared here`, loc: param.loc }, { message: map }],
              help: `store every element, or list '${name}' in zeroed`,
            },
          ),
      );
    }
  }

  // ---- explicit programs ----------------------------------------------------------------------------------------------

  asynchronous(event: AsyncEvent, warpgroup: number, at: Program): void {
    this.blockOf(at).event(event, warpgroup);
    if (event.kind === 'stored') this.write(event.op, event.target, at);
    if (event.kind === 'load') this.read(event.op, event.source, at);
  }

  // ---- values -------------------------------------------------------------------------------------------------------

  evaluated(
    op: GenericOp,
    inputs: readonly TileValue[],
    outputs: readonly TileValue[],
    at: Program,
  ): readonly TileValue[] {
    const [y] = outputs;
    let lanes = inputs.some((x) => x.origins) ? spread(op, inputs, outputs, this.origins) : undefined;
    if (y && inputs.length > 0) {
      const spoilt = this.spoilt(op, inputs, y);
      if (spoilt) lanes = [lanes?.[0] ? lanes[0].map((n, i) => n || spoilt[i]!) : spoilt, ...(lanes?.slice(1) ?? [])];
      if (this.options.trapNaN) this.trap(op, inputs, y, at);
    }
    if (!lanes) return outputs;
    const given = lanes;
    return outputs.map((tile, i) => {
      const { origins: _, ...rest } = tile;
      return given[i]?.some((n) => n !== 0) ? { ...rest, origins: given[i] } : rest;
    });
  }

  /** Lanes that this op itself spoils. */
  private spoilt(op: GenericOp, inputs: readonly TileValue[], y: TileValue): Uint16Array | undefined {
    const { checks } = this.options;
    const { dtype } = inputs[0]!;
    let lanes: Uint16Array | undefined;
    const mark = (lane: number, kind: OriginKind, what: string): void => {
      lanes ??= new Uint16Array(y.data.length);
      lanes[lane] = this.origins.number(kind, op, what);
    };
    if (checks.has('divzero') && canDivide(op, dtype))
      forEachBadDivision(inputs, (lane, isByZero) =>
        mark(lane, 'division', isByZero ? `${op.name} by zero` : `${op.name} of the smallest ${dtype.name} by -1`),
      );
    if (checks.has('overflow')) {
      const wraps = (lane: number): void =>
        mark(lane, 'overflow', `${op.name} of ${operandText(inputs, lane)} wraps around in ${y.dtype.name}`);
      if (canWrap(op, dtype)) forEachWrapped(op, inputs, y, wraps);
      else if (canTruncate(op, dtype, y.dtype)) forEachTruncated(inputs[0]!, y, wraps);
    }
    return lanes;
  }

  private trap(op: GenericOp, inputs: readonly TileValue[], y: TileValue, at: Program): void {
    if (this.trapped || y.dtype.cls !== 'float') return;
    const limits = y.shape.map((n, axis) =>
      Math.min(n, ...inputs.map((x) => (x.shape.length === y.shape.length ? (x.valid?.[axis] ?? n) : n))),
    );
    const valid = new Uint8Array(y.data.length);
    forEachLane(y.shape, limits, (lane) => {
      if (!inputs.some((x) => x.origins?.[lane])) valid[lane] = 1;
    });
    const found = firstNotFinite(inputs, y, (lane) => valid[lane] === 1);
    if (!found) return;
    this.trapped = true;
    const place = y.shape.length === 0 ? '' : ` at ${indexText(y.shape, found.lane)} of its tile`;
    this.findings.report(
      'not finite',
      () => () =>
        sanitizerCodes.notFinite(
          {
            op: op.name,
            value: String(found.value),
            from: operandText(inputs, found.lane),
            place,
            program: at.shown,
          },
          { loc: op.loc },
        ),
    );
  }

  /** Reports spoilt lanes of a tile that count: those of `kinds`, within what takes part. */
  private use(
    tile: TileValue,
    lanes: (visit: (lane: number) => void) => void,
    kinds: readonly OriginKind[],
    op: GenericOp,
    at: Program,
    use: (lane: number) => string,
  ): void {
    const { origins } = tile;
    if (!origins) return;
    lanes((lane) => {
      const number = origins[lane]!;
      if (number === 0) return;
      const origin = this.origins.get(number);
      if (!kinds.includes(origin.kind)) return;
      const code = {
        unspecified: sanitizerCodes.unspecified,
        division: sanitizerCodes.division,
        overflow: sanitizerCodes.offsetOverflow,
      }[origin.kind];
      const help = {
        unspecified: 'give the load an `other`, or select what its lanes hold before they are used',
        division: 'make the divisor 1 where its result is not wanted',
        overflow: 'compute in i64, or promise a bound: dim(name, { max })',
      }[origin.kind];
      this.findings.report(`origin ${number} ${this.ids.get(op)}`, () => {
        const args = { what: origin.what, use: use(lane), program: at.shown };
        const notes: DiagnosticNote[] = [{ message: 'it counts here', loc: op.loc }];
        return (count) => code({ ...args, count }, { loc: origin.op.loc, notes, help });
      });
    });
  }

  addressed(op: GenericOp, address: readonly TileValue[], mask: TileValue | undefined, at: Program): void {
    for (const tile of address)
      if (tile.origins) {
        const limits = tile.shape.map((n, axis) => Math.min(n, tile.valid?.[axis] ?? n));
        const open = (visit: (lane: number) => void): void =>
          forEachLane(tile.shape, limits, (lane) => {
            if (!mask || mask.data.length !== tile.data.length || mask.data[lane]) visit(lane);
          });
        this.use(tile, open, ['unspecified', 'division', 'overflow'], op, at, () => `gives an address of a ${op.name}`);
      }
    if (mask?.origins) {
      const limits = mask.shape.map((n, axis) => Math.min(n, mask.valid?.[axis] ?? n));
      const all = (visit: (lane: number) => void): void => forEachLane(mask.shape, limits, visit);
      this.use(mask, all, ['unspecified', 'division'], op, at, () => `decides where a ${op.name} takes part`);
    }
  }

  decided(op: GenericOp, scalars: readonly TileValue[], at: Program): void {
    for (const x of scalars)
      if (x.origins)
        this.use(
          x,
          (visit) => visit(0),
          ['unspecified', 'division', 'overflow'],
          op,
          at,
          () => 'decides a branch',
        );
  }

  private usedValue(op: GenericOp, access: Access, tile: TileValue, at: Program): void {
    if (!tile.origins) return;
    const { shape, name } = access.buffer;
    const memory = new Map<number, number>();
    forEachTouched(access, (lane, from, count, stride) => {
      for (let i = 0; i < count; i++) memory.set(lane + i, from + i * stride);
    });
    const lanes = (visit: (lane: number) => void): void => {
      for (const lane of memory.keys()) visit(lane);
    };
    const how = op.name === 'store' || op.name === 'scatter' ? 'is stored to' : 'is combined into';
    const use = (lane: number): string => `${how} ${name}${indexText(shape, memory.get(lane)!)}`;
    this.use(tile, lanes, ['unspecified', 'division'], op, at, use);
  }

  // ---- memory -------------------------------------------------------------------------------------------------------

  loaded(op: GenericOp, access: BlockAccess, hasOther: boolean, tile: TileValue, at: Program): TileValue {
    this.checkPlace(op, access, at);
    this.read(op, access, at);
    return this.withMaskedLanes(op, access, hasOther, tile);
  }

  gathered(op: GenericOp, access: IndexedAccess, hasOther: boolean, tile: TileValue, at: Program): TileValue {
    this.read(op, access, at);
    return this.withMaskedLanes(op, access, hasOther, tile);
  }

  stored(op: GenericOp, access: BlockAccess, tile: TileValue, at: Program): void {
    this.checkPlace(op, access, at);
    this.usedValue(op, access, tile, at);
    this.write(op, access, at);
  }

  scattered(op: GenericOp, access: IndexedAccess, tile: TileValue, at: Program): void {
    this.usedValue(op, access, tile, at);
    if (this.options.checks.has('race')) this.checkConflicts(op, access, tile, at);
    this.write(op, access, at);
  }

  updated(op: GenericOp, access: IndexedAccess, values: readonly TileValue[], old: TileValue, at: Program): TileValue {
    for (const value of values) this.usedValue(op, access, value, at);
    const state = this.arrays.get(access.buffer.data);
    const { clocks } = this.current;
    const who = at.number + 1;
    if (state) {
      this.checkWritten(op, access, state, at);
      if (state.written) this.markWritten(access, state.written);
      const id = this.ids.get(op)!;
      forEachIndexed(access, (_, memory) =>
        state.races?.atomic(memory, who, id, (where, earlier) => this.race(op, access, state, where, earlier, at)),
      );
      if (clocks) {
        const { order } = op.attrs as { order: string };
        const compare = isOp(op, 'atomic_cas') ? values[0]! : undefined;
        forEachIndexed(access, (lane, memory) => {
          if (order === 'acquire' || order === 'acq_rel') clocks.acquire(who, access.buffer.data, memory);
          const isDone = !compare || Object.is(compare.data[lane], old.data[lane]);
          if (isDone && (order === 'release' || order === 'acq_rel')) clocks.release(who, access.buffer.data, memory);
        });
      }
    }
    return this.withMaskedLanes(op, access, false, old);
  }

  /** What was masked off and has no `other` is unspecified. */
  private withMaskedLanes(op: GenericOp, access: Access, hasOther: boolean, tile: TileValue): TileValue {
    const { mask } = access;
    if (!mask || hasOther || !this.options.checks.has('padding') || !mask.data.includes(0 as never)) return tile;
    const number = this.origins.number('unspecified', op, `a lane that a ${op.name} leaves unspecified by its mask`);
    const origins = Uint16Array.from(mask.data as Uint8Array, (taken) => (taken ? 0 : number));
    return { ...tile, origins };
  }

  /** What is known of the shared memory of the block that runs; blocks run one after the other. */
  private blockOf({ number, shown }: Program): BlockWatch {
    if (this.block?.number !== number) {
      const { ops, ids, findings } = this;
      const options = { checks: this.options.checks, findings, ops, ids, program: shown };
      this.block = { number, watch: new BlockWatch(this.current.warpgroups, options) };
    }
    return this.block.watch;
  }

  /** An ordinary access to shared memory; registers of a warpgroup are its own. */
  private touchShared(kind: 'read' | 'write', op: GenericOp, access: Access, at: Program): void {
    const { space } = (op.operands as { ref: Value<RefType> }).ref.type;
    if (at.warpgroup !== undefined && space === 'smem' && isBlock(access))
      this.blockOf(at)[kind](op, access, at.warpgroup);
  }

  private read(op: GenericOp, access: Access, at: Program): void {
    const state = this.arrays.get(access.buffer.data);
    if (!state) return this.touchShared('read', op, access, at);
    this.checkWritten(op, access, state, at);
    const { races } = state;
    if (!races) return;
    const onRace = (where: number, earlier: Earlier): void => this.race(op, access, state, where, earlier, at);
    const id = this.ids.get(op)!;
    forEachTouched(access, (_, from, count, stride) => races.read(from, count, stride, at.number + 1, id, onRace));
  }

  private write(op: GenericOp, access: Access, at: Program): void {
    const state = this.arrays.get(access.buffer.data);
    if (!state) return this.touchShared('write', op, access, at);
    const { written, races } = state;
    if (written) this.markWritten(access, written);
    if (!races) return;
    const onRace = (where: number, earlier: Earlier): void => this.race(op, access, state, where, earlier, at);
    const id = this.ids.get(op)!;
    forEachTouched(access, (_, from, count, stride) => races.write(from, count, stride, at.number + 1, id, onRace));
  }

  private markWritten(access: Access, written: Uint8Array): void {
    forEachTouched(access, (_, from, count, stride) => markWritten(written, from, count, stride));
  }

  private checkWritten(op: GenericOp, access: Access, { buffer, written }: ArrayState, at: Program): void {
    if (!written) return;
    const report = (where: number): void =>
      this.findings.report(`uninitialised ${this.ids.get(op)} ${buffer.name}`, () => {
        const element = `${buffer.name}${indexText(buffer.shape, where)}`;
        const known = offsetsWhere(written.length, (i) => written[i] !== 0);
        const map = this.map(buffer, where, access, [{ letter: '#', meaning: 'written', elements: [...known] }]);
        return (count) =>
          sanitizerCodes.uninitialised(
            { access: op.name, element, count, program: at.shown },
            {
              loc: op.loc,
              notes: [{ message: map }],
              help: `store to it first, or list '${buffer.name}' in zeroed`,
            },
          );
      });
    forEachTouched(access, (_, from, count, stride) => {
      for (let i = 0, where = from; i < count; i++, where += stride) if (!written[where]) report(where);
    });
  }

  private race(
    op: GenericOp,
    access: Access,
    { buffer, races }: ArrayState,
    where: number,
    earlier: Earlier,
    at: Program,
  ): void {
    const id = this.ids.get(op)!;
    this.findings.report(`race ${Math.min(id, earlier.op)} ${Math.max(id, earlier.op)} ${buffer.name}`, () => {
      const other = this.ops[earlier.op]!;
      const element = `${buffer.name}${indexText(buffer.shape, where)}`;
      const otherProgram = this.current.nameOf(earlier.program - 1);
      const n = elementCount(buffer.shape);
      const others = [...offsetsWhere(n, (i) => races!.isAt(i, earlier))];
      const map = this.map(buffer, where, access, [
        { letter: 'b', meaning: `${other.name} in program ${otherProgram}`, elements: others },
      ]);
      const notes = [{ message: `the other access, in program ${otherProgram}`, loc: other.loc }, { message: map }];
      const args = { access: op.name, element, program: at.shown, other: other.name, otherProgram };
      return (count): Diagnostic =>
        sanitizerCodes.race(
          { ...args, count },
          { loc: op.loc, notes, help: 'give each program elements of its own, or combine them by atomics' },
        );
    });
  }

  /** Two lanes of a scatter with one address and different values. */
  private checkConflicts(op: GenericOp, access: IndexedAccess, tile: TileValue, at: Program): void {
    const seen = new Map<number, number>();
    forEachIndexed(access, (lane, memory) => {
      const before = seen.get(memory);
      seen.set(memory, lane);
      if (before === undefined || Object.is(tile.data[before], tile.data[lane])) return;
      const { name, shape } = access.buffer;
      this.findings.report(`scatter ${this.ids.get(op)} ${name}`, () => {
        const [first, second] = [before, lane].map((i) => String(tile.data[i])) as [string, string];
        const element = `${name}${indexText(shape, memory)}`;
        return (count) =>
          sanitizerCodes.scatterConflict(
            { element, count, program: at.shown, first, second },
            { loc: op.loc, help: 'combine the values by atomics, or make the indices distinct' },
          );
      });
    });
  }

  /** A block of which nothing lies within the array. */
  private checkPlace(op: GenericOp, { buffer, start, axes, limits }: BlockAccess, at: Program): void {
    if (!this.options.checks.has('bounds')) return;
    axes.forEach((axis, along) => {
      const [index, extent] = [start[axis]!, buffer.shape[axis]!];
      if (limits[along]! > 0 || extent === 0 || index < extent) return;
      this.findings.report(
        `outside ${this.ids.get(op)} ${buffer.name}`,
        () => () =>
          sanitizerCodes.blockOutside(
            { access: op.name, ref: buffer.name, axis, index, extent, program: at.shown },
            { loc: op.loc, help: 'mend the index map or the grid, or guard the access with when()' },
          ),
      );
    });
  }

  /** Draws an array with this access, the layers of others and the element that a finding is about. */
  private map({ name, shape }: Buffer, where: number, access: Access, others: readonly MapLayer[]): string {
    return accessMap(name, shape, where, [
      ...others,
      { letter: 'a', meaning: 'this access', elements: touched(access) },
      { letter: 'X', meaning: indexText(shape, where), elements: [where] },
    ]);
  }
}

/** `3 and 4`: the operands of one lane. */
function operandText(inputs: readonly TileValue[], lane: number): string {
  return inputs.map((x) => String(x.data[x.data.length === 1 ? 0 : lane] ?? '…')).join(' and ');
}
