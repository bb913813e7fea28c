/** Exact linear forms over unknowns, and proofs that one is not negative. */

/** An unknown integer and what bounds it. Its bounds speak of unknowns with smaller ids only, so proofs come to an end. */
export interface Unknown {
  readonly id: number;
  readonly low: number;
  readonly high: number;
  /** Every value is a multiple of this. */
  readonly multipleOf: number;
  readonly atLeast: readonly Affine[];
  readonly atMost: readonly Affine[];
}

/** `(constant + Σ coefficient · unknown) / over`, without rounding; `over` is positive. */
export interface Affine {
  readonly constant: number;
  readonly terms: ReadonlyMap<Unknown, number>;
  readonly over: number;
}

/** Forms longer than this are not followed: the work on a form stays constant. */
export const maxTerms = 8;

export function gcd(a: number, b: number): number {
  let [x, y] = [Math.abs(a), Math.abs(b)];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

export function constantForm(constant: number): Affine {
  return { constant, terms: new Map(), over: 1 };
}

export function unknownForm(unknown: Unknown): Affine {
  return { constant: 0, terms: new Map([[unknown, 1]]), over: 1 };
}

/** The form's value if it has no unknowns. */
export function tryConstant({ constant, terms, over }: Affine): number | undefined {
  return terms.size === 0 ? constant / over : undefined;
}

function reduced(constant: number, terms: Map<Unknown, number>, over: number): Affine | undefined {
  let shared = gcd(constant, over);
  for (const [unknown, coefficient] of terms) {
    if (coefficient === 0) terms.delete(unknown);
    else shared = gcd(shared, coefficient);
  }
  const all = [constant, over, ...terms.values()];
  if (terms.size > maxTerms || !all.every(Number.isSafeInteger)) return undefined;
  if (shared <= 1) return { constant, terms, over };
  for (const [unknown, coefficient] of terms) terms.set(unknown, coefficient / shared);
  return { constant: constant / shared, terms, over: over / shared };
}

/** `a + factor · b`; undefined where the form gets too long or its numbers too large. */
export function plus(a: Affine, b: Affine, factor = 1): Affine | undefined {
  const terms = new Map<Unknown, number>();
  for (const [unknown, coefficient] of a.terms) terms.set(unknown, coefficient * b.over);
  for (const [unknown, coefficient] of b.terms)
    terms.set(unknown, (terms.get(unknown) ?? 0) + factor * coefficient * a.over);
  return reduced(a.constant * b.over + factor * b.constant * a.over, terms, a.over * b.over);
}

/** `a · factor / divisor`, exactly; the divisor is positive. */
export function times(a: Affine, factor: number, divisor = 1): Affine | undefined {
  const terms = new Map([...a.terms].map(([unknown, coefficient]) => [unknown, coefficient * factor]));
  return reduced(a.constant * factor, terms, a.over * divisor);
}

/** Least and greatest value by the unknowns' own bounds. */
export function rangeOf({ constant, terms, over }: Affine): { readonly low: number; readonly high: number } {
  let low = constant;
  let high = constant;
  for (const [unknown, coefficient] of terms) {
    low += coefficient * (coefficient > 0 ? unknown.low : unknown.high);
    high += coefficient * (coefficient > 0 ? unknown.high : unknown.low);
  }
  return { low: low / over, high: high / over };
}

/** A number that divides every value of a form of integers; 0 for the form that is always 0. */
export function divisorOf({ constant, terms, over }: Affine): number {
  let shared = constant;
  for (const [unknown, coefficient] of terms) {
    const step = coefficient * unknown.multipleOf;
    shared = gcd(shared, Number.isSafeInteger(step) ? step : coefficient);
  }
  return shared % over === 0 ? Math.abs(shared / over) : 1;
}

/** Text that is the same for equal forms. */
export function keyOf({ constant, terms, over }: Affine): string {
  const sorted = [...terms].sort(([a], [b]) => a.id - b.id);
  return `${sorted.map(([{ id }, coefficient]) => `${coefficient}u${id}`).join('+')}+${constant}/${over}`;
}

/** Substitutions that one proof may try. */
const maxSteps = 64;

/**
 * Whether a form that stands for an integer is proven to be at least 0: the youngest unknown is replaced by each of its
 * bounds in turn until numbers decide.
 */
export function isNonNegative(form: Affine): boolean {
  let steps = maxSteps;
  const holds = (current: Affine): boolean => {
    // An integer above -1 is at least 0.
    if (rangeOf(current).low > -1) return true;
    const youngest = [...current.terms.keys()].reduce<Unknown | undefined>(
      (a, b) => (a && a.id > b.id ? a : b),
      undefined,
    );
    if (!youngest) return false;
    const coefficient = current.terms.get(youngest)!;
    const own = coefficient > 0 ? youngest.low : youngest.high;
    const bounds = [...(coefficient > 0 ? youngest.atLeast : youngest.atMost)];
    if (Number.isFinite(own)) bounds.push(constantForm(own));
    const rest: Affine = { ...current, terms: new Map([...current.terms].filter(([u]) => u !== youngest)) };
    return bounds.some((bound) => {
      if (--steps < 0) return false;
      const scaled = times(bound, coefficient, current.over);
      const next = scaled && plus(rest, scaled);
      return next !== undefined && holds(next);
    });
  };
  return holds(form);
}
