/** What the sanitizer remembers of each element of an array, in typed arrays: 1 byte, and 24 to 40 more while it is written by several programs. */

import type { Clocks } from './clocks.js';

/** Who touched an element before: a program and the op that it did so by. */
export interface Earlier {
  readonly how: 'read' | 'write' | 'atomic';
  readonly program: number;
  readonly op: number;
}

export type OnRace = (at: number, earlier: Earlier) => void;

/** The last accesses of one kind to each element. Programs count from 1, 0 is nobody. */
class Accesses {
  readonly program: Int32Array;
  readonly op: Uint16Array | Uint32Array;
  private readonly step: Int32Array | undefined;

  constructor(
    n: number,
    ops: number,
    private readonly clocks: Clocks | undefined,
  ) {
    this.program = new Int32Array(n);
    this.op = ops > 0xffff ? new Uint32Array(n) : new Uint16Array(n);
    this.step = clocks && new Int32Array(n);
  }

  set(at: number, who: number, op: number): void {
    this.program[at] = who;
    this.op[at] = op;
    if (this.step) this.step[at] = this.clocks!.step(who);
  }

  /** Takes over what another list holds of an element. */
  copy(at: number, from: Accesses): void {
    this.program[at] = from.program[at]!;
    this.op[at] = from.op[at]!;
    if (this.step) this.step[at] = from.step![at]!;
  }

  /** Whether the access there was made by another program and is not known to `who`. */
  conflicts(at: number, who: number): boolean {
    const other = this.program[at]!;
    return other !== 0 && other !== who && !this.clocks?.isOrdered(other, this.step![at]!, who);
  }
}

/** Accesses of one launch to one array that it writes. */
export class RaceShadow {
  private readonly writes: Accesses;
  private readonly atomics: Accesses;
  /** The last reader, and one before it that is another program. */
  private readonly reads: Accesses;
  private readonly earlierReads: Accesses;

  /** @param clocks where the launch orders programs by acquire and release. @param isNarrow tells atomics of block scope. */
  constructor(
    n: number,
    ops: number,
    clocks: Clocks | undefined,
    private readonly isNarrow: (op: number) => boolean,
  ) {
    [this.writes, this.atomics, this.reads, this.earlierReads] = [0, 1, 2, 3].map(
      () => new Accesses(n, ops, clocks),
    ) as [Accesses, Accesses, Accesses, Accesses];
  }

  private check(list: Accesses, how: Earlier['how'], at: number, who: number, onRace: OnRace): void {
    if (list.conflicts(at, who)) onRace(at, { how, program: list.program[at]!, op: list.op[at]! });
  }

  read(from: number, count: number, stride: number, who: number, op: number, onRace: OnRace): void {
    const { program } = this.reads;
    for (let i = 0, at = from; i < count; i++, at += stride) {
      this.check(this.writes, 'write', at, who, onRace);
      this.check(this.atomics, 'atomic', at, who, onRace);
      const last = program[at]!;
      // What is kept beside the last reader is one that a later write is least likely to know of.
      if (last !== 0 && last !== who && !this.earlierReads.conflicts(at, who)) this.earlierReads.copy(at, this.reads);
      this.reads.set(at, who, op);
    }
  }

  write(from: number, count: number, stride: number, who: number, op: number, onRace: OnRace): void {
    for (let i = 0, at = from; i < count; i++, at += stride) {
      this.check(this.writes, 'write', at, who, onRace);
      this.check(this.atomics, 'atomic', at, who, onRace);
      this.checkReads(at, who, onRace);
      this.writes.set(at, who, op);
    }
  }

  atomic(at: number, who: number, op: number, onRace: OnRace): void {
    this.check(this.writes, 'write', at, who, onRace);
    this.checkReads(at, who, onRace);
    const other = this.atomics.program[at]!;
    if (other !== 0 && other !== who && (this.isNarrow(op) || this.isNarrow(this.atomics.op[at]!)))
      this.check(this.atomics, 'atomic', at, who, onRace);
    this.atomics.set(at, who, op);
  }

  private checkReads(at: number, who: number, onRace: OnRace): void {
    if (this.reads.conflicts(at, who)) this.check(this.reads, 'read', at, who, onRace);
    else this.check(this.earlierReads, 'read', at, who, onRace);
  }

  /** Whether an earlier access is the last of its kind at an element: what a map of the array shows. */
  isAt(at: number, { how, program, op }: Earlier): boolean {
    const lists = how === 'read' ? [this.reads, this.earlierReads] : [how === 'write' ? this.writes : this.atomics];
    return lists.some((list) => list.program[at] === program && list.op[at] === op);
  }
}

/** Marks elements as written; gives how many of them were not. */
export function markWritten(written: Uint8Array, from: number, count: number, stride: number): void {
  if (stride === 1) written.fill(1, from, from + count);
  else for (let i = 0, at = from; i < count; i++, at += stride) written[at] = 1;
}
