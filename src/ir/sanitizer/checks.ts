/** The sanitizer's checks, by the names that `--sanitize` takes. An access out of bounds always ends a run. */

export const checkNames = [
  'bounds',
  'align',
  'uninit',
  'race',
  'fence',
  'barrier',
  'deadlock',
  'padding',
  'overflow',
  'divzero',
  'schedule',
  'leak',
] as const;
export type CheckName = (typeof checkNames)[number];

/** The checks that are on: all, some by name, or none. */
export function checksOf(sanitize: boolean | readonly CheckName[] | undefined): ReadonlySet<CheckName> {
  return new Set(sanitize === true ? checkNames : sanitize || []);
}
