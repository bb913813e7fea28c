/** Every code of the product: `explain`, SARIF rules, `-Wno-CODE` and `docs/errors.md` read it. Loaded only when one of them needs it. */

import { areas } from './codes/index.js';
import { type Code, invariant } from './diagnostic.js';
import { nearest } from './nearest.js';

/** What is known of a code without its arguments. */
export type CatalogueEntry = Pick<Code<never>, 'code' | 'severity' | 'title' | 'explanation'>;

function collect(): ReadonlyMap<string, CatalogueEntry> {
  const all = new Map<string, CatalogueEntry>();
  for (const area of areas)
    for (const entry of Object.values<CatalogueEntry>(area)) {
      invariant(!all.has(entry.code), `code ${entry.code} is defined twice`);
      all.set(entry.code, entry);
    }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** By code, in ascending order. */
export const catalogue: ReadonlyMap<string, CatalogueEntry> = collect();

export function findCode(code: string): CatalogueEntry | undefined {
  return catalogue.get(code);
}

/** Reads a code as people write it: `TW0123`, `tw123`, `123`. Undefined when it is no code at all. */
export function parseCode(text: string): string | undefined {
  const digits = /^(?:tw)?(\d{1,4})$/i.exec(text.trim())?.[1];
  return digits === undefined ? undefined : `TW${digits.padStart(4, '0')}`;
}

/** The code that `text` was probably meant to be. */
export function nearestCode(text: string): string | undefined {
  return nearest(parseCode(text) ?? text, catalogue.keys());
}
