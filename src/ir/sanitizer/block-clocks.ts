/** What each warpgroup of a block knows of the others, and of copies and products. */

/** Steps of warpgroups, those that a fence has shown to asynchronous work, and asynchronous work that is done. */
interface Knowledge {
  readonly steps: Int32Array;
  readonly fenced: Int32Array;
  readonly done: Set<number>;
}

function join(into: Knowledge, from: Knowledge): void {
  for (let i = 0; i < into.steps.length; i++) {
    into.steps[i] = Math.max(into.steps[i]!, from.steps[i]!);
    into.fenced[i] = Math.max(into.fenced[i]!, from.fenced[i]!);
  }
  for (const agent of from.done) into.done.add(agent);
}

const nothing = (warpgroups: number): Knowledge => ({
  steps: new Int32Array(warpgroups),
  fenced: new Int32Array(warpgroups),
  done: new Set(),
});

/** The clock of one warpgroup. */
export class Clock {
  readonly own: Knowledge;

  constructor(
    readonly warpgroup: number,
    warpgroups: number,
  ) {
    this.own = nothing(warpgroups);
    this.own.steps[warpgroup] = 1;
  }

  get step(): number {
    return this.own.steps[this.warpgroup]!;
  }

  /** Whether an access of an agent comes before what this warpgroup does now. */
  knows(agent: number, step: number): boolean {
    return agent <= this.own.steps.length ? this.own.steps[agent - 1]! >= step : this.own.done.has(agent);
  }

  isFenced(warpgroup: number, step: number): boolean {
    return this.own.fenced[warpgroup - 1]! >= step;
  }

  /** What it has written and knows of becomes visible to asynchronous work. */
  fence(): void {
    this.own.fenced.set(this.own.steps);
    this.own.steps[this.warpgroup]!++;
  }
}

export class BlockClocks {
  readonly clocks: readonly Clock[];
  private agents: number;
  private readonly meetings = new Map<unknown, Knowledge>();
  /** Asynchronous work by what waits for it: products and stores of each warpgroup, in order. */
  private readonly open = new Map<string, number[]>();
  private readonly byWork = new Map<unknown, number>();

  constructor(private readonly warpgroups: number) {
    this.clocks = Array.from({ length: warpgroups }, (_, wg) => new Clock(wg, warpgroups));
    this.agents = warpgroups;
  }

  private meeting(at: unknown): Knowledge {
    const found = this.meetings.get(at) ?? nothing(this.warpgroups);
    this.meetings.set(at, found);
    return found;
  }

  /** A warpgroup arrives: whoever waits there later knows what it knows. */
  arrive(wg: number, at: unknown): void {
    const { own } = this.clocks[wg]!;
    join(this.meeting(at), own);
    own.steps[wg]!++;
  }

  wait(wg: number, at: unknown): void {
    join(this.clocks[wg]!.own, this.meeting(at));
  }

  /** A load begins; `work` tells it again when it lands. */
  begin(work: unknown): number {
    this.byWork.set(work, ++this.agents);
    return this.agents;
  }

  /** A load has landed: whoever waits at `at` knows. */
  land(work: unknown, at: unknown): void {
    this.meeting(at).done.add(this.byWork.get(work)!);
  }

  /** Work that a warpgroup waits for in order. */
  queue(wg: number, kind: 'store' | 'product'): number {
    const key = `${kind} ${wg}`;
    this.open.set(key, [...(this.open.get(key) ?? []), ++this.agents]);
    return this.agents;
  }

  /** All but the last `pending` of them are done. */
  settle(wg: number, kind: 'store' | 'product', pending: number): void {
    const list = this.open.get(`${kind} ${wg}`) ?? [];
    for (const agent of list.splice(0, Math.max(0, list.length - pending))) this.clocks[wg]!.own.done.add(agent);
  }
}
