/** Collects what the checks find: one finding for each place, with the number of elements that it is about. */

import type { Diagnostic } from '../../diagnostics/diagnostic.js';

/** Findings beyond this many are counted only; the first ones are what a person mends. */
const maxFindings = 20;

interface Finding {
  count: number;
  readonly make: (count: number) => Diagnostic;
}

export class Findings {
  private readonly found = new Map<string, Finding>();

  /** @param key of the place; a repeated one raises the count of the first. @param make is asked at the end. */
  report(key: string, make: () => (count: number) => Diagnostic, count = 1): void {
    const known = this.found.get(key);
    if (known) known.count += count;
    else if (this.found.size < maxFindings) this.found.set(key, { count, make: make() });
  }

  get isEmpty(): boolean {
    return this.found.size === 0;
  }

  diagnostics(): Diagnostic[] {
    return [...this.found.values()].map(({ make, count }) => make(count));
  }
}
