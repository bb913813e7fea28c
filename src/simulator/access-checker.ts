/**
 * Finds accesses that nothing orders. Every warp has a vector clock over all warps of its cluster and one more for
 * asynchronous work; every word of memory remembers who wrote it, when, and which of its bytes, and who read it.
 */

import type { Views } from './memory.js';

/** A warp or wave, as the checks see it. */
export interface Accessor {
  /** In the cluster or workgroup, and in the launch. */
  readonly id: number;
  readonly number: number;
  /** What has happened before, by warp; the last entry is asynchronous work. */
  readonly clock: Int32Array;
  /** Ordinary writes that a proxy fence has made visible. */
  readonly fenced: Int32Array;
  /** Warps of its block. */
  readonly peers: number;
  /** Whether blocks order their accesses to global memory by acquire and release, which is not followed. */
  readonly synchronises: boolean;
  /** What it is doing. */
  readonly instruction: unknown;
}

/** What executes: the word for it in messages. */
export type Noun = 'warp' | 'wave';

/** Joins one clock into another. */
export function join(into: Int32Array, from: Int32Array): void {
  for (let i = 0; i < into.length; i++) if (from[i]! > into[i]!) into[i] = from[i]!;
}

export type Finding = 'race' | 'uninitialised' | 'missingFence' | 'inFlight' | 'unfinished' | 'hazard';
export type Report<W extends Accessor> = (
  finding: Finding,
  what: string,
  warp: W,
  lane: number | undefined,
  at?: W['instruction'],
) => void;

/**
 * How memory is touched: by ordinary loads, stores and atomics; by the asynchronous proxy (TMA, wgmma, tcgen05); by
 * `cp.async`, which counts as ordinary.
 */
export type AccessKind = 'load' | 'store' | 'atomic' | 'asyncRead' | 'asyncWrite';

/** Bytes of an access of `size` at byte `at` that lie in word `word`. */
function bytesIn(word: number, at: number, size: number): number {
  const from = Math.max(at - word * 4, 0);
  const to = Math.min(at + size - word * 4, 4);
  return ((1 << (to - from)) - 1) << from;
}

/** A store that nothing orders behind another one's. It is a race if it changes what that one left. */
interface Suspect<W extends Accessor> {
  readonly word: number;
  readonly bytes: number;
  readonly before: number;
  readonly what: string;
  readonly lane: number | undefined;
  readonly at: W['instruction'];
}

/** Shared memory of one block. */
export class SharedChecker<W extends Accessor> {
  private readonly written: Uint8Array;
  private readonly writer: Int32Array;
  private readonly writeClock: Int32Array;
  private readonly writeBytes: Uint8Array;
  private readonly readClock: Int32Array;
  /** The last ordinary write: who, and at which clock; 0 for none. */
  private readonly genericWriter: Int32Array;
  private readonly genericClock: Int32Array;
  private readonly pending: Uint8Array;
  private suspects: Suspect<W>[] = [];

  constructor(
    private readonly memory: Views,
    /** Of the whole cluster. */
    private readonly warps: number,
    private readonly clock: { async: number },
    private readonly report: Report<W>,
    private readonly base: number,
    private readonly noun: Noun = 'warp',
  ) {
    const words = Math.ceil(memory.u8.length / 4);
    this.written = new Uint8Array(words);
    this.writer = new Int32Array(words);
    this.writeClock = new Int32Array(words);
    this.writeBytes = new Uint8Array(words);
    this.readClock = new Int32Array(words * warps);
    this.genericWriter = new Int32Array(words);
    this.genericClock = new Int32Array(words);
    this.pending = new Uint8Array(words);
  }

  /** As if nothing had been touched yet. */
  clear(): void {
    for (const array of [this.written, this.writer, this.writeClock, this.writeBytes, this.readClock, this.pending])
      array.fill(0);
    this.genericWriter.fill(0);
    this.genericClock.fill(0);
    this.suspects = [];
  }

  private where(word: number): string {
    return `shared offset ${word * 4 - this.base}`;
  }

  private name(warp: number): string {
    return warp < this.warps ? `${this.noun} ${warp}` : 'an asynchronous copy';
  }

  access(at: number, size: number, kind: AccessKind, warp: W, lane: number | undefined): void {
    const reads = kind === 'load' || kind === 'asyncRead';
    for (let w = at >> 2; w <= (at + size - 1) >> 2; w++) {
      if (reads) this.read(w, bytesIn(w, at, size), kind, warp, lane);
      else this.write(w, bytesIn(w, at, size), kind, warp, lane);
    }
  }

  private unordered(w: number, bytes: number, warp: W): boolean {
    const writer = this.writer[w]! - 1;
    return (
      writer >= 0 &&
      writer !== warp.id &&
      (this.writeBytes[w]! & bytes) !== 0 &&
      warp.clock[writer]! < this.writeClock[w]!
    );
  }

  private read(w: number, bytes: number, kind: AccessKind, warp: W, lane: number | undefined): void {
    if ((this.written[w]! & bytes) !== bytes)
      this.report('uninitialised', `${this.where(w)} is read before anything wrote it`, warp, lane);
    if (this.pending[w])
      this.report('inFlight', `${this.where(w)} is read while a copy into it is in flight`, warp, lane);
    if (this.unordered(w, bytes, warp)) {
      const name = this.name(this.writer[w]! - 1);
      this.report('race', `${this.where(w)} is read while nothing orders it behind the write of ${name}`, warp, lane);
    }
    const generic = this.genericWriter[w]!;
    if (kind === 'asyncRead' && generic !== 0 && warp.fenced[generic - 1]! < this.genericClock[w]!)
      this.report(
        'missingFence',
        `${this.where(w)}: an ordinary write is read asynchronously without \`fence.proxy.async\``,
        warp,
        lane,
      );
    this.readClock[w * this.warps + warp.id] = warp.clock[warp.id]!;
  }

  private write(w: number, bytes: number, kind: AccessKind, warp: W, lane: number | undefined): void {
    this.written[w]! |= bytes;
    if (kind === 'atomic') return;
    if (this.pending[w])
      this.report('inFlight', `${this.where(w)} is written while a copy into it is in flight`, warp, lane);
    if (this.unordered(w, bytes, warp)) {
      const name = this.name(this.writer[w]! - 1);
      const what = `${this.where(w)} is written while nothing orders it behind the write of ${name}`;
      if (kind === 'store') {
        const shared = bytes & this.writeBytes[w]!;
        this.suspects.push({ word: w, bytes: shared, before: this.word(w), what, lane, at: warp.instruction });
      } else this.report('race', what, warp, lane);
    }
    for (let v = 0; v < this.warps; v++)
      if (v !== warp.id && this.readClock[w * this.warps + v]! > warp.clock[v]!)
        this.report(
          'race',
          `${this.where(w)} is written while nothing orders it behind the read of ${this.noun} ${v}`,
          warp,
          lane,
        );
    if (kind === 'asyncWrite') {
      this.genericWriter[w] = 0;
      this.writer[w] = this.warps + 1;
      this.writeClock[w] = ++this.clock.async;
      this.writeBytes[w] = bytes;
      return;
    }
    const now = warp.clock[warp.id]!;
    const same = this.writer[w] === warp.id + 1 && this.writeClock[w] === now;
    this.writeBytes[w] = same ? this.writeBytes[w]! | bytes : bytes;
    this.writer[w] = this.genericWriter[w] = warp.id + 1;
    this.writeClock[w] = this.genericClock[w] = now;
  }

  private word(w: number): number {
    const { u8 } = this.memory;
    const at = w * 4;
    return u8[at]! | (u8[at + 1]! << 8) | (u8[at + 2]! << 16) | (u8[at + 3]! << 24);
  }

  /** Judges the stores of a step that was done. Warps that hold one value each store it, without harm and on purpose. */
  settle(warp: W): void {
    if (this.suspects.length === 0) return;
    for (const { word, bytes, before, what, lane, at } of this.suspects) {
      const changed = before ^ this.word(word);
      if ([0, 1, 2, 3].some((b) => (bytes >> b) & 1 && (changed >>> (8 * b)) & 255))
        this.report('race', what, warp, lane, at);
    }
    this.suspects = [];
  }

  /** A copy into these bytes was started, or was waited for. */
  setPending(at: number, size: number, pending: boolean): void {
    this.pending.fill(pending ? 1 : 0, at >> 2, (at + size + 3) >> 2);
  }
}

/** Global memory of one launch: who wrote and read each word, between blocks and between warps of a block. */
export class GlobalChecker<W extends Accessor> {
  private readonly writer: Int32Array;
  private readonly writeClock: Int32Array;
  private readonly writeBytes: Uint8Array;
  private readonly reader: Int32Array;
  private readonly readClock: Int32Array;

  constructor(
    bytes: number,
    private readonly report: Report<W>,
    private readonly describe: (at: number) => string,
    private readonly noun: Noun = 'warp',
  ) {
    const words = Math.ceil(bytes / 4);
    this.writer = new Int32Array(words);
    this.writeClock = new Int32Array(words);
    this.writeBytes = new Uint8Array(words);
    this.reader = new Int32Array(words);
    this.readClock = new Int32Array(words);
  }

  access(at: number, size: number, kind: AccessKind, warp: W, lane: number | undefined): void {
    // Atomics order themselves, and what they guard is not followed.
    if (kind === 'atomic' || warp.synchronises) return;
    const self = warp.number + 1;
    for (let w = at >> 2; w <= (at + size - 1) >> 2; w++) {
      const bytes = bytesIn(w, at, size);
      const writer = this.writer[w]!;
      const foreign = writer !== 0 && writer !== self && (this.writeBytes[w]! & bytes) !== 0;
      const reads = kind === 'load' || kind === 'asyncRead';
      if (foreign && !this.ordered(writer - 1, this.writeClock[w]!, warp))
        this.report(
          'race',
          `${this.describe(w * 4)} is ${reads ? 'read' : 'written'} while nothing orders it behind the write of ${this.name(writer - 1, warp)}`,
          warp,
          lane,
        );
      if (reads) {
        this.reader[w] = self;
        this.readClock[w] = warp.clock[warp.id]!;
        continue;
      }
      const reader = this.reader[w]!;
      if (reader !== 0 && reader !== self && bytes === 15 && !this.ordered(reader - 1, this.readClock[w]!, warp))
        this.report(
          'race',
          `${this.describe(w * 4)} is written while nothing orders it behind the read of ${this.name(reader - 1, warp)}`,
          warp,
          lane,
        );
      const same = writer === self && this.writeClock[w] === warp.clock[warp.id]!;
      this.writeBytes[w] = same ? this.writeBytes[w]! | bytes : bytes;
      this.writer[w] = self;
      this.writeClock[w] = warp.clock[warp.id]!;
    }
  }

  /** Whether an access of a warp, by its number in the launch, happened before what `warp` does now. */
  private ordered(other: number, clock: number, warp: W): boolean {
    const index = other - (warp.number - warp.id);
    return index >= 0 && index < warp.clock.length - 1 && warp.clock[index]! >= clock;
  }

  private name(other: number, warp: W): string {
    const perBlock = warp.peers;
    const block = Math.floor(other / perBlock);
    return block === Math.floor(warp.number / perBlock)
      ? `${this.noun} ${other % perBlock}`
      : `${this.noun} ${other % perBlock} of another block`;
  }
}
