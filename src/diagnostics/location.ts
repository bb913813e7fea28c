/** A place in a user's file. Lines and columns count from 1; `file` is printed as given (relative to the entry file's folder). */
export interface FileLoc {
  readonly kind: 'file';
  readonly file: string;
  readonly line: number;
  readonly col: number;
}

/** `callee` was reached from `caller`: the innermost user frame and the chain of user frames that led to it. */
export interface CallLoc {
  readonly kind: 'call';
  readonly callee: FileLoc;
  readonly caller: FileLoc | CallLoc;
}

/** Made by `pass` out of ops at several places. */
export interface FusedLoc {
  readonly kind: 'fused';
  readonly pass: string;
  readonly from: readonly Loc[];
}

export interface UnknownLoc {
  readonly kind: 'unknown';
}

export type Loc = FileLoc | CallLoc | FusedLoc | UnknownLoc;

export const unknownLoc: UnknownLoc = Object.freeze({ kind: 'unknown' });

export function fileLoc(file: string, line: number, col: number): FileLoc {
  return { kind: 'file', file, line, col };
}

/** The location of what `pass` made from `from`; nested and repeated origins are flattened, so chains of passes stay short. */
export function fusedLoc(pass: string, from: readonly Loc[]): Loc {
  const seen = new Map<string, Loc>();
  const visit = (loc: Loc): void => {
    if (loc.kind === 'fused') loc.from.forEach(visit);
    else if (loc.kind !== 'unknown') seen.set(printLoc(loc), loc);
  };
  from.forEach(visit);
  const origins = [...seen.values()];
  if (origins.length === 0) return unknownLoc;
  return origins.length === 1 ? origins[0]! : { kind: 'fused', pass, from: origins };
}

/** The first file position of a location: where a diagnostic points. */
export function primaryLoc(loc: Loc): FileLoc | undefined {
  switch (loc.kind) {
    case 'file':
      return loc;
    case 'call':
      return loc.callee;
    case 'fused':
      for (const from of loc.from) {
        const found = primaryLoc(from);
        if (found) return found;
      }
      return undefined;
    case 'unknown':
      return undefined;
  }
}

/** The user frames that led to a location, innermost first, without the innermost itself. */
export function callersOf(loc: Loc): FileLoc[] {
  const frames: FileLoc[] = [];
  for (let at: Loc = loc; at.kind === 'call'; ) {
    at = at.caller;
    frames.push(at.kind === 'call' ? at.callee : at);
  }
  return frames;
}

/** Text form, as `.kir` writes it inside `loc(…)`. */
export function printLoc(loc: Loc): string {
  switch (loc.kind) {
    case 'file':
      return `${JSON.stringify(loc.file)}:${loc.line}:${loc.col}`;
    case 'call':
      return `${printLoc(loc.callee)} at ${printLoc(loc.caller)}`;
    case 'fused':
      return `fused<${JSON.stringify(loc.pass)}>[${loc.from.map(printLoc).join(', ')}]`;
    case 'unknown':
      return 'unknown';
  }
}
