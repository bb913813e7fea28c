/** Watches the shared memory of one block of an explicit program. */

import { sanitizerCodes } from '../../diagnostics/codes/sanitizer.js';
import { type BlockAccess, type Buffer, forEachRun } from '../interpreter/memory.js';
import type { AsyncEvent } from '../interpreter/observer.js';
import { elementCount } from '../types.js';
import type { GenericOp } from '../value.js';
import { indexText } from './access-map.js';
import { BlockClocks } from './block-clocks.js';
import type { CheckName } from './checks.js';
import type { Findings } from './findings.js';
import { type EarlierShared, type SharedFaults, SharedShadow } from './shared.js';

export interface BlockOptions {
  readonly checks: ReadonlySet<CheckName>;
  readonly findings: Findings;
  readonly ops: readonly GenericOp[];
  readonly ids: ReadonlyMap<GenericOp, number>;
  /** `(i=0)` */
  readonly program: string;
}

export class BlockWatch {
  private readonly clocks: BlockClocks;
  private readonly shadows = new Map<unknown, SharedShadow>();

  constructor(
    private readonly warpgroups: number,
    private readonly options: BlockOptions,
  ) {
    this.clocks = new BlockClocks(warpgroups);
  }

  /** An ordinary read, or one of asynchronous work. */
  read(op: GenericOp, access: BlockAccess, wg: number, agent?: number): void {
    this.touch(op, access, wg, (shadow, at, id, faults) => shadow.read(at, this.clocks.clocks[wg]!, id, faults, agent));
  }

  write(op: GenericOp, access: BlockAccess, wg: number, agent?: number): void {
    this.touch(op, access, wg, (shadow, at, id, faults) =>
      shadow.write(at, this.clocks.clocks[wg]!, id, faults, agent),
    );
  }

  event(event: AsyncEvent, wg: number): void {
    const { clocks } = this;
    switch (event.kind) {
      case 'arrive':
        return clocks.arrive(wg, event.barrier);
      case 'wait':
        return clocks.wait(wg, event.barrier);
      case 'meet':
        return clocks.arrive(wg, event.sync);
      case 'met':
        return clocks.wait(wg, event.sync);
      case 'fence':
        return clocks.clocks[wg]!.fence();
      case 'load':
        this.write(event.op, event.target, wg, clocks.begin(event.target));
        return clocks.arrive(wg, event.barrier);
      case 'loaded':
        return clocks.land(event.target, event.barrier);
      case 'store':
        return this.read(event.op, event.source, wg, clocks.queue(wg, 'store'));
      case 'storesDone':
        return clocks.settle(wg, 'store', (event.op.attrs as { pending: number }).pending);
      case 'product': {
        const agent = clocks.queue(wg, 'product');
        for (const source of event.sources) this.read(event.op, source, wg, agent);
        return;
      }
      case 'productsWaited':
        return clocks.settle(wg, 'product', event.pending);
      case 'stored':
      case 'productDone':
        return;
    }
  }

  private touch(
    op: GenericOp,
    access: BlockAccess,
    wg: number,
    each: (shadow: SharedShadow, at: number, id: number, faults: SharedFaults) => void,
  ): void {
    const { buffer } = access;
    let shadow = this.shadows.get(buffer.data);
    if (!shadow) {
      shadow = new SharedShadow(elementCount(buffer.shape), this.warpgroups);
      this.shadows.set(buffer.data, shadow);
    }
    const known = shadow;
    const id = this.options.ids.get(op)!;
    const faults = this.faultsOf(op, id, buffer, wg);
    forEachRun(access, (_, from, count, stride) => {
      for (let i = 0, at = from; i < count; i++, at += stride) each(known, at, id, faults);
    });
  }

  private faultsOf(op: GenericOp, id: number, buffer: Buffer, wg: number): SharedFaults {
    const { checks, findings, ops, program } = this.options;
    const who = `warpgroup ${wg} of program ${program}`;
    const element = (at: number): string => `${buffer.name}${indexText(buffer.shape, at)}`;
    return {
      uninitialised: (at) => {
        if (!checks.has('uninit')) return;
        findings.report(
          `uninitialised ${id} ${buffer.name}`,
          () => (count) =>
            sanitizerCodes.uninitialised(
              { access: op.name, element: element(at), count, program: who },
              { loc: op.loc, help: 'copy or store to it first' },
            ),
        );
      },
      race: (at, earlier: EarlierShared) => {
        if (!checks.has('race')) return;
        findings.report(`shared ${id} ${earlier.op} ${buffer.name}`, () => (count) => {
          const other = ops[earlier.op]!;
          const by =
            earlier.agent <= this.warpgroups ? ` by warpgroup ${earlier.agent - 1}` : ', which is not waited for';
          return sanitizerCodes.sharedRace(
            { access: op.name, element: element(at), count, who, other: `${earlier.how} of ${other.name}${by}` },
            {
              loc: op.loc,
              notes: [{ message: 'the earlier access', loc: other.loc }],
              help: 'wait for what the earlier access belongs to, before this one',
            },
          );
        });
      },
      unfenced: (at, by) => {
        if (!checks.has('fence')) return;
        findings.report(
          `unfenced ${id} ${by} ${buffer.name}`,
          () => (count) =>
            sanitizerCodes.missingFence(
              { access: op.name, element: element(at), count, who },
              {
                loc: op.loc,
                notes: [{ message: 'it was written here', loc: ops[by]!.loc }],
                help: 'call commitSmem() between the store and this',
              },
            ),
        );
      },
    };
  }
}
