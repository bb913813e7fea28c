/** Who knows of whose steps: vector clocks of programs, which hold only what a release and an acquire have told. */

/** By program, the last of its steps that is known. */
type Clock = Map<number, number>;

function join(into: Clock, from: ReadonlyMap<number, number>): void {
  for (const [who, step] of from) if ((into.get(who) ?? 0) < step) into.set(who, step);
}

export class Clocks {
  private readonly known = new Map<number, Clock>();
  private readonly steps = new Map<number, number>();
  /** What a release has left at an element of memory, by array and offset. */
  private readonly released = new Map<unknown, Map<number, Clock>>();

  /** The current step of a program; a release begins the next one. */
  step(who: number): number {
    return this.steps.get(who) ?? 1;
  }

  /** Whether `who` knows of a step of another. */
  isOrdered(other: number, step: number, who: number): boolean {
    return (this.known.get(who)?.get(other) ?? 0) >= step;
  }

  release(who: number, memory: unknown, at: number): void {
    const places = this.released.get(memory) ?? new Map<number, Clock>();
    this.released.set(memory, places);
    const clock: Clock = places.get(at) ?? new Map();
    join(clock, this.known.get(who) ?? new Map());
    clock.set(who, this.step(who));
    places.set(at, clock);
    this.steps.set(who, this.step(who) + 1);
  }

  acquire(who: number, memory: unknown, at: number): void {
    const clock = this.released.get(memory)?.get(at);
    if (!clock) return;
    const own = this.known.get(who) ?? new Map<number, number>();
    join(own, clock);
    this.known.set(who, own);
  }
}
