/** Sums and largest elements of what a formula gives for 0, 1, … n - 1. */

export function sum(n: number, term: (i: number) => number): number {
  let total = 0;
  for (let i = 0; i < n; i++) total += term(i);
  return total;
}

export function largest(n: number, at: (i: number) => number): number {
  let best = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < n; i++) best = Math.max(best, at(i));
  return best;
}
