/** A workgroup: its local data share, its barrier, and the addresses that its waves use. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { type AccessKind, join, SharedChecker } from '../access-checker.js';
import type { Triple } from '../device.js';
import { type Views, viewsOf } from '../memory.js';
import type { AmdLaunch } from './launch.js';
import { Wave } from './wave.js';

export class Workgroup {
  readonly lds: Views;
  readonly waves: readonly Wave[];
  index: Triple = [0, 0, 0];
  /** Of each meeting at the barrier: what was before it. */
  private clocks: Int32Array[] = [];
  private readonly checker: SharedChecker<Wave> | undefined;

  constructor(readonly launch: AmdLaunch) {
    this.lds = viewsOf(launch.ldsBytes);
    const waves = Math.ceil(launch.threads / launch.program.target.lanes);
    this.waves = Array.from({ length: waves }, (_, id) => new Wave(this, id, waves));
    this.checker = launch.checks
      ? new SharedChecker(this.lds, waves, launch.clock, launch.report, 0, 'wave')
      : undefined;
  }

  start(index: Triple, number: number): void {
    this.index = index;
    this.clocks = [];
    this.lds.u8.fill(0xff);
    this.checker?.clear();
    for (const wave of this.waves) {
      wave.number = number * this.waves.length + wave.id;
      wave.start();
    }
  }

  /** Checks that an access lies within the local data share, and is aligned at its size or at a word. */
  ldsAt(address: number, size: number, what: string, wave: Wave, lane: number): number {
    const { ldsBytes } = this.launch;
    if (address < 0 || address + size > ldsBytes)
      wave.fail(simulatorCodes.badAccess, `LDS ${what} of ${size} bytes at offset ${address} of ${ldsBytes}`, lane);
    if ((address & (Math.min(size, 4) - 1)) !== 0)
      wave.fail(simulatorCodes.badAccess, `misaligned LDS ${what} of ${size} bytes at offset ${address}`, lane);
    this.launch.noteAccess(wave.instruction, 'shared', address, size, what !== 'read', lane);
    return address;
  }
  /** Tells the checks of an access that is being done. */
  observe(address: number, size: number, kind: AccessKind, wave: Wave, lane: number): void {
    this.checker?.access(address, size, kind, wave, lane);
  }

  /** Judges the stores of an operation that was done. */
  settle(wave: Wave): void {
    this.checker?.settle(wave);
  }

  /** A wave comes to the barrier: what it has done so far is before what others do behind it. */
  signal(wave: Wave): void {
    const clock = this.clocks[wave.signalled] ?? new Int32Array(this.waves.length + 1);
    this.clocks[wave.signalled] = clock;
    wave.signalled++;
    if (!this.launch.checks) return;
    join(clock, wave.clock);
    wave.clock[wave.id]!++;
  }
  /** Whether all waves that still run have come as often as `wave` waits. */
  isOpen(wave: Wave): boolean {
    return this.waves.every((w) => w.done || w.signalled > wave.passed);
  }
  /** Lets a wave go on behind the barrier. */
  pass(wave: Wave): void {
    const clock = this.clocks[wave.passed];
    if (clock) join(wave.clock, clock);
    wave.passed++;
    wave.blocked = undefined;
  }
}
