/** Shared memory of one block: who wrote and read each element, and what orders the warpgroups, copies and products. */

import type { Clock } from './block-clocks.js';

/** An earlier access that nothing orders before the current one. Agents: warpgroups from 1, asynchronous work above them. */
export interface EarlierShared {
  readonly how: 'read' | 'write';
  readonly agent: number;
  readonly op: number;
}

export interface SharedFaults {
  readonly uninitialised: (at: number) => void;
  readonly race: (at: number, earlier: EarlierShared) => void;
  /** An ordinary write that no fence has shown to asynchronous work. */
  readonly unfenced: (at: number, op: number) => void;
}

export class SharedShadow {
  private readonly writer: Int32Array;
  private readonly writeStep: Int32Array;
  private readonly writeOp: Uint16Array;
  /** The last ordinary write, by warpgroup; 0 for none. */
  private readonly generic: Int32Array;
  private readonly genericStep: Int32Array;
  /** For each warpgroup the step of its last ordinary read, and its last asynchronous reader. */
  private readonly readStep: Int32Array;
  private readonly readOp: Uint16Array;
  private readonly asyncReader: Int32Array;
  private readonly asyncReadOp: Uint16Array;

  constructor(
    private readonly n: number,
    private readonly warpgroups: number,
  ) {
    [this.writer, this.writeStep, this.generic, this.genericStep] = [0, 1, 2, 3].map(() => new Int32Array(n)) as [
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
    ];
    this.writeOp = new Uint16Array(n);
    this.readStep = new Int32Array(n * warpgroups);
    this.readOp = new Uint16Array(n * warpgroups);
    this.asyncReader = new Int32Array(n * warpgroups);
    this.asyncReadOp = new Uint16Array(n * warpgroups);
  }

  private checkWriter(at: number, clock: Clock, faults: SharedFaults): void {
    const agent = this.writer[at]!;
    if (agent !== 0 && !clock.knows(agent, this.writeStep[at]!))
      faults.race(at, { how: 'write', agent, op: this.writeOp[at]! });
  }

  /** @param agent of an asynchronous reader; absent for the warpgroup's own reads. */
  read(at: number, clock: Clock, op: number, faults: SharedFaults, agent?: number): void {
    if (this.writer[at] === 0) faults.uninitialised(at);
    else this.checkWriter(at, clock, faults);
    const slot = clock.warpgroup * this.n + at;
    if (agent === undefined) {
      this.readStep[slot] = clock.step;
      this.readOp[slot] = op;
      return;
    }
    const generic = this.generic[at]!;
    if (generic !== 0 && !clock.isFenced(generic, this.genericStep[at]!)) faults.unfenced(at, this.writeOp[at]!);
    this.asyncReader[slot] = agent;
    this.asyncReadOp[slot] = op;
  }

  write(at: number, clock: Clock, op: number, faults: SharedFaults, agent?: number): void {
    this.checkWriter(at, clock, faults);
    for (let wg = 0; wg < this.warpgroups; wg++) {
      const slot = wg * this.n + at;
      const step = this.readStep[slot]!;
      if (step !== 0 && !clock.knows(wg + 1, step))
        faults.race(at, { how: 'read', agent: wg + 1, op: this.readOp[slot]! });
      const reader = this.asyncReader[slot]!;
      if (reader !== 0 && !clock.knows(reader, 0))
        faults.race(at, { how: 'read', agent: reader, op: this.asyncReadOp[slot]! });
    }
    this.writer[at] = agent ?? clock.warpgroup + 1;
    this.writeStep[at] = clock.step;
    this.writeOp[at] = op;
    this.generic[at] = agent === undefined ? clock.warpgroup + 1 : 0;
    this.genericStep[at] = clock.step;
  }
}
