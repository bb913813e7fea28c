/** A block of threads: shared memory, barriers, tensor memory, and the addresses that its warps use. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { type AccessKind, type Finding, join, SharedChecker } from '../access-checker.js';
import { type GlobalMemory, type Views, viewsOf } from '../memory.js';
import type { Step } from './instruction.js';
import { accessKinds } from './instructions/memory.js';
import type { Launch } from './launch.js';
import { sharedBase, windows } from './symbols.js';
import { Warp } from './warp.js';

type Triple = readonly [number, number, number];

/** An mbarrier. A phase is over when nothing is pending and all announced bytes have come. */
export interface PhaseBarrier {
  readonly count: number;
  pending: number;
  /** Bytes that are announced and not yet there; negative when they came first. */
  bytes: number;
  phase: number;
  clock: Int32Array | undefined;
  fenced: Int32Array | undefined;
}

interface Rendezvous {
  arrived: number;
  readonly warps: Warp[];
  readonly waiting: Warp[];
  readonly needed: number;
}

const kindNames = ['load', 'store', 'atomic'] as const satisfies readonly AccessKind[];
/** Columns of tensor memory; each has a word for each of 128 lanes. */
export const tensorColumns = 512;

export class Block {
  readonly shared: Views;
  readonly parameters: Views;
  readonly global: GlobalMemory;
  readonly grid: Triple;
  readonly cluster: Triple;
  readonly shape: Triple;
  readonly warps: readonly Warp[];
  readonly clusterWarps: number;
  readonly dynamicBytes: number;
  private readonly sharedEnd: number;
  /** Words, column by column. */
  readonly tensor: Int32Array;
  tensorTop = 0;
  tensorAllocations = new Map<number, number>();
  index: Triple = [0, 0, 0];
  inCluster: Triple = [0, 0, 0];
  rank = 0;
  peers: readonly Block[] = [];
  checker: SharedChecker<Warp> | undefined;
  barriers = new Map<number, PhaseBarrier>();
  private readonly named = new Map<number, Rendezvous>();
  private clusterBarrier: Rendezvous | undefined;
  /** Copies that complete an mbarrier, when they are late. */
  pending: (() => void)[] = [];
  /** Matrix instructions that were not committed, when they are late. */
  tensorWork: (() => void)[] = [];

  constructor(readonly launch: Launch) {
    const { shape, cluster, grid } = launch;
    this.grid = grid;
    this.cluster = cluster;
    this.shape = shape;
    this.global = launch.global;
    this.parameters = launch.parameters;
    this.dynamicBytes = launch.dynamicShared;
    this.sharedEnd = sharedBase + launch.program.symbols.staticShared + launch.dynamicShared;
    this.shared = viewsOf(this.sharedEnd);
    const warps = Math.ceil((shape[0] * shape[1] * shape[2]) / 32);
    this.clusterWarps = warps * cluster[0] * cluster[1] * cluster[2];
    this.tensor = new Int32Array(launch.program.usesTensorMemory ? tensorColumns * 128 : 0);
    this.warps = Array.from({ length: warps }, (_, i) => new Warp(this, i));
  }

  start(index: Triple, number: number): void {
    this.index = index;
    this.barriers = new Map();
    this.named.clear();
    this.clusterBarrier = undefined;
    this.pending = [];
    this.tensorWork = [];
    this.tensorTop = 0;
    this.tensorAllocations.clear();
    this.shared.u8.fill(0xff);
    this.tensor.fill(-1);
    const { launch } = this;
    this.checker = launch.checks
      ? new SharedChecker(this.shared, this.clusterWarps, launch.clock, launch.report, sharedBase)
      : undefined;
    for (const warp of this.warps) {
      warp.id = this.rank * this.warps.length + warp.index;
      warp.number = number * this.warps.length + warp.index;
      warp.start();
    }
  }

  report(finding: Finding, what: string, warp: Warp, lane: number | undefined): void {
    if (this.launch.checks) this.launch.report(finding, what, warp, lane);
  }

  /** The block that a shared address names: rank + 1 in its uppermost byte, 0 for this one. */
  peerOf(address: number, warp: Warp): Block {
    const rank = address >>> 24;
    if (rank === 0) return this;
    return this.peers[rank - 1] ?? warp.misuse(`there is no block ${rank - 1} in the cluster`);
  }

  sharedAt(address: number, window: number, size: number, kind: number, warp: Warp, lane: number): number {
    if (address >>> 24 !== 0) {
      const peer = this.peerOf(address, warp);
      return peer.sharedAt(address & 0xffffff, window, size, kind, warp, lane);
    }
    if (address < sharedBase || address + size > this.sharedEnd || (address & (size - 1)) !== 0)
      this.badShared(address, size, kind, warp, lane);
    this.checker?.access(address, size, kindNames[kind]!, warp, lane);
    this.launch.profile(warp, 'shared', address, size, kind !== accessKinds.load, lane);
    return address;
  }

  private badShared(address: number, size: number, kind: number, warp: Warp, lane: number | undefined): never {
    const [at, bytes] = [address - sharedBase, this.sharedEnd - sharedBase];
    const access = kind === accessKinds.load ? 'read' : 'write';
    const inside = at >= 0 && at + size <= bytes;
    const what = inside
      ? `misaligned shared ${access} of ${size} bytes at offset ${at}`
      : `shared ${access} of ${size} bytes at offset ${at} of ${bytes}`;
    return warp.fail(simulatorCodes.badAccess, what, lane);
  }

  /** Bytes that asynchronous work touches. */
  sharedRange(address: number, size: number, kind: AccessKind, warp: Warp): number {
    if (address < sharedBase || address + size > this.sharedEnd)
      this.badShared(address, size, kind === 'asyncRead' ? accessKinds.load : accessKinds.store, warp, undefined);
    this.checker?.access(address, size, kind, warp, undefined);
    this.launch.profile(warp, 'shared', address, size, kind !== 'asyncRead');
    return address;
  }

  globalAt(address: number, window: number, size: number, kind: number, warp: Warp, lane: number): number {
    const { global } = this;
    if (!global.holds(address, window, size) || (address & (size - 1)) !== 0)
      this.badGlobal(address, window, size, kind, warp, lane);
    this.launch.globalChecker?.access(address, size, kindNames[kind]!, warp, lane);
    this.launch.profile(warp, 'global', address, size, kind !== accessKinds.load, lane);
    return address;
  }

  private badGlobal(
    address: number,
    window: number,
    size: number,
    kind: number,
    warp: Warp,
    lane: number | undefined,
  ): never {
    const { global } = this;
    const access = kind === accessKinds.load ? 'read' : 'write';
    const how = global.holds(address, window, size) ? 'misaligned' : 'out of bounds:';
    const what = `${how} global ${access} of ${size} bytes at ${global.describe(address, window)}`;
    return warp.fail(simulatorCodes.badAccess, what, lane);
  }

  /** Bytes of any number and alignment. */
  globalRange(address: number, window: number, size: number, kind: AccessKind, warp: Warp): number {
    if (!this.global.holds(address, window, size))
      this.badGlobal(
        address,
        window,
        size,
        kind === 'asyncRead' ? accessKinds.load : accessKinds.store,
        warp,
        undefined,
      );
    this.launch.globalChecker?.access(address, size, kind, warp, undefined);
    this.launch.profile(warp, 'global', address, size, kind !== 'asyncRead');
    return address;
  }

  parameterAt(address: number, window: number, size: number, _kind: number, warp: Warp, lane: number): number {
    if ((window !== 0 && window !== windows.parameter) || address + size > this.launch.program.entry.parameterBytes)
      warp.fail(simulatorCodes.badAccess, `parameter access of ${size} bytes at offset ${address}`, lane);
    return address;
  }

  /** The memory that a generic address lies in, by its upper word. */
  memoryOf(window: number, warp: Warp): Views {
    if (window === windows.shared) return this.shared;
    if (window === windows.parameter) return this.parameters;
    return window === windows.local ? warp.local : this.global.views;
  }

  genericAt(address: number, window: number, size: number, kind: number, warp: Warp, lane: number): number {
    if (window === windows.shared) return this.sharedAt(address, window, size, kind, warp, lane);
    if (window === windows.parameter) return this.parameterAt(address, window, size, kind, warp, lane);
    if (window === windows.local) return warp.localAt(address, window, size, kind, warp, lane);
    return this.globalAt(address, window, size, kind, warp, lane);
  }

  barrierAt(address: number, warp: Warp, lane?: number): PhaseBarrier {
    const block = this.peerOf(address, warp);
    return (
      block.barriers.get(address & 0xffffff) ??
      warp.misuse(`there is no initialised mbarrier at shared offset ${(address & 0xffffff) - sharedBase}`, lane)
    );
  }

  /** Ends the phase of a barrier that has all it waits for. */
  settle(barrier: PhaseBarrier): void {
    if (barrier.pending !== 0 || barrier.bytes !== 0) return;
    barrier.phase ^= 1;
    barrier.pending = barrier.count;
    this.launch.events++;
    if (!this.launch.checks) return;
    barrier.clock ??= new Int32Array(this.clusterWarps + 1);
    barrier.clock[this.clusterWarps] = Math.max(barrier.clock[this.clusterWarps]!, this.launch.clock.async);
  }

  /** What a warp has done so far becomes visible to those that see the barrier's next phase. */
  release(barrier: PhaseBarrier, warp: Warp): void {
    this.launch.events++;
    if (!this.launch.checks) return;
    barrier.clock ??= new Int32Array(this.clusterWarps + 1);
    barrier.fenced ??= new Int32Array(this.clusterWarps + 1);
    join(barrier.clock, warp.clock);
    join(barrier.fenced, warp.fenced);
    warp.clock[warp.id]!++;
  }

  acquire(barrier: PhaseBarrier, warp: Warp): void {
    if (barrier.clock) join(warp.clock, barrier.clock);
    if (barrier.fenced) join(warp.fenced, barrier.fenced);
  }

  /** A warp comes to a barrier; true where that opens it. */
  arrive(scope: 'block' | 'cluster', id: number, threads: number, warp: Warp, waits: boolean): boolean {
    if (scope === 'cluster' && this.rank !== 0) return this.peers[0]!.arrive(scope, id, threads, warp, waits);
    if (id < 0 || id > 15) warp.misuse(`there is no barrier ${id}`);
    const here = (scope === 'cluster' ? this.clusterBarrier : this.named.get(id)) ?? {
      arrived: 0,
      warps: [],
      waiting: [],
      needed: threads,
    };
    if (scope === 'cluster') this.clusterBarrier = here;
    else this.named.set(id, here);
    // `barrier.cluster.wait` comes behind an arrival of its own.
    if (!(scope === 'cluster' && waits && here.warps.includes(warp))) {
      here.arrived += 32;
      here.warps.push(warp);
    }
    if (waits) here.waiting.push(warp);
    this.launch.events++;
    return this.open(scope, id, here);
  }

  private open(scope: 'block' | 'cluster', id: number, here: Rendezvous): boolean {
    const all = scope === 'cluster' ? this.peers.flatMap((p) => p.warps) : this.warps;
    const needed = here.needed || all.filter((w) => !w.done || here.warps.includes(w)).length * 32;
    if (here.arrived < needed) return false;
    // A cluster's warps arrive first and wait later.
    if (scope === 'cluster' && here.waiting.length < here.warps.length) return false;
    if (scope === 'cluster') this.clusterBarrier = undefined;
    else this.named.delete(id);
    if (this.launch.checks) {
      const [clock, fenced] = [new Int32Array(this.clusterWarps + 1), new Int32Array(this.clusterWarps + 1)];
      for (const w of here.warps) {
        join(clock, w.clock);
        join(fenced, w.fenced);
      }
      for (const w of here.warps) {
        if (here.waiting.includes(w)) {
          w.clock.set(clock);
          w.fenced.set(fenced);
        }
        w.clock[w.id]!++;
      }
    }
    for (const w of here.waiting) w.blocked = undefined;
    this.launch.events++;
    return true;
  }

  /** Barriers that a warp's exit may have opened. */
  retryBarriers(): void {
    for (const [id, here] of this.named) this.open('block', id, here);
    if (this.clusterBarrier) this.open('cluster', 0, this.clusterBarrier);
  }

  /** Whether a step touches registers of a matrix instruction that runs. */
  checkRegisters(warp: Warp, step: Step): void {
    for (const i of step.instructions) {
      if (i.parts[0] === 'wgmma') continue;
      const [slots, writes] = this.launch.program.registersOf(i);
      for (const slot of slots) {
        const use = warp.busy.get(slot);
        if (use === undefined || (use === 'read' && !writes.has(slot))) continue;
        this.launch.report('inFlight', 'a register of a wgmma that was not waited for is used', warp, undefined, i);
        return;
      }
    }
  }
}
