import { callersOf, type FileLoc, type Loc, primaryLoc, printLoc } from './location.js';

export interface RelatedPlace {
  /** `called from` for the frames of a call chain, `also made from` for the other origins of what a pass made. */
  readonly how: 'called from' | 'also made from';
  readonly at: FileLoc;
}

export interface Places {
  /** Where to point; undefined when the location names no file. */
  readonly primary: FileLoc | undefined;
  /** How that place was reached, innermost frame first. */
  readonly related: readonly RelatedPlace[];
}

/** A location as a reader sees it: one place to point at, and the rest to mention. Every output format shows these. */
export function placesOf(loc: Loc): Places {
  const primary = primaryLoc(loc);
  if (loc.kind !== 'fused') return { primary, related: callersOf(loc).map((at) => ({ how: 'called from', at })) };
  const origins = loc.from.map(placesOf);
  const first = origins.findIndex((origin) => origin.primary !== undefined);
  if (first < 0) return { primary: undefined, related: [] };
  const seen = new Set([printLoc(origins[first]!.primary!)]);
  const others: RelatedPlace[] = [];
  for (const { primary: at } of origins.slice(first + 1)) {
    if (!at || seen.has(printLoc(at))) continue;
    seen.add(printLoc(at));
    others.push({ how: 'also made from', at });
  }
  return { primary, related: [...origins[first]!.related, ...others] };
}
