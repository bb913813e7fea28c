/** Where the user's code is: the innermost frame outside of this package, and the user frames that led to it. */

import { findSourceMap, type SourceMap } from 'node:module';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type CallLoc,
  callersOf,
  type FileLoc,
  fileLoc,
  type Loc,
  primaryLoc,
  unknownLoc,
} from '../diagnostics/location.js';

const packageRoot = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
/** Frames of the package itself: its sources (as test runners and source maps name them) and its build. */
const ownFolders = ['src', 'dist', 'bin'].map((folder) => `${packageRoot}${sep}${folder}${sep}`);

/** Frames cost by their number: the first limit suffices where the user's code called us directly, the second nearly always. */
const frameLimits = [10, 64] as const;

/** `package`: of another one, a test runner or a library of kernels. `other`: ours, or Node's. */
type Origin = 'user' | 'package' | 'other';

/** A script as the engine names it, and what it is to us. */
interface Script {
  /** Short stand-in for the name in keys. */
  readonly id: number;
  readonly path: string;
  readonly origin: Origin;
  /** How it was made from sources, where Node knows; test runners that transform in memory keep theirs to themselves. */
  readonly map: SourceMap | undefined;
}

const scripts = new Map<string, Script>();

function scriptOf(name: string): Script {
  let script = scripts.get(name);
  if (!script) {
    const path = asPath(name);
    script = { id: scripts.size, path, origin: originOf(path), map: findSourceMap(name) };
    scripts.set(name, script);
  }
  return script;
}

const asPath = (name: string): string => (name.startsWith('file:') ? fileURLToPath(name) : name);

/** The kernels that come with this package, as they are built. */
const ownKernels = `${packageRoot}${sep}dist${sep}kernels${sep}`;

const isPackaged = (path: string): boolean => path.includes(`${sep}node_modules${sep}`) || path.startsWith(ownKernels);

function originOf(path: string): Origin {
  const ours = ownFolders.some((folder) => path.startsWith(folder)) && !path.startsWith(ownKernels);
  if (path.startsWith('node:') || ours) return 'other';
  return isPackaged(path) ? 'package' : 'user';
}

/**
 * The frames that led to a call into this package: the user's, up to the next of a package; without any, those of
 * packages. They end where our own begin again: what called the tracer is not among them. Frames of the engine itself
 * (`Array.map`) have no file and do not count.
 */
function firstRun<T>(
  frames: readonly T[],
  scriptName: (frame: T) => string | null | undefined,
): { readonly run: readonly T[]; readonly ended: boolean } {
  const users: T[] = [];
  const packaged: T[] = [];
  let ended = false;
  for (const frame of frames) {
    const name = scriptName(frame);
    if (!name) continue;
    const { origin } = scriptOf(name);
    ended = origin === 'other' ? users.length + packaged.length > 0 : origin === 'package' && users.length > 0;
    if (ended) break;
    if (origin === 'user') users.push(frame);
    else if (origin === 'package') packaged.push(frame);
  }
  return { run: users.length > 0 ? users : packaged, ended };
}

/** The frames that led here as the engine sees them, before source maps. */
function rawFrames(): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.prepareStackTrace = (_, sites) => sites;
    for (const limit of frameLimits) {
      const holder: { stack?: NodeJS.CallSite[] } = {};
      Error.stackTraceLimit = limit;
      Error.captureStackTrace(holder);
      const { run, ended } = firstRun(holder.stack!, (site) => site.getFileName());
      if (ended || holder.stack!.length < limit || limit === frameLimits[1]) return run;
    }
    return [];
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Source positions of raw frames, by the maps that Node has. Looking them up beats a mapped stack text by far. */
function mapped(frames: readonly NodeJS.CallSite[]): FileLoc[] {
  return frames.map((frame) => {
    const { path, map } = scriptOf(frame.getFileName()!);
    const [line, col] = [frame.getLineNumber()!, frame.getColumnNumber()!];
    const entry = map?.findEntry(line - 1, col - 1);
    return entry && 'originalSource' in entry
      ? fileLoc(asPath(entry.originalSource), entry.originalLine + 1, entry.originalColumn + 1)
      : fileLoc(path, line, col);
  });
}

/** User frames by the text of a stack, with whichever source mapper is installed (a test runner's). */
function textFrames(): FileLoc[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = frameLimits[1];
  const { stack } = new Error('location');
  Error.stackTraceLimit = stackTraceLimit;
  return parseStack(stack ?? '');
}

/** `at place`, `at async place`, `at name (place)`; a place is absolute or Node's own, and its folders may have any name. */
const framePattern = /^\s+at (?:async |.*? \()?((?:file:\/\/|node:|\/|[A-Za-z]:[\\/]).*):(\d+):(\d+)\)?$/;

/** The first run of user frames in a stack's text, innermost first. */
export function parseStack(stack: string): FileLoc[] {
  const frames = stack.split('\n').flatMap((text) => {
    const match = text.includes('(eval at ') ? undefined : framePattern.exec(text);
    return match ? [fileLoc(asPath(match[1]!), Number(match[2]), Number(match[3]))] : [];
  });
  return [...firstRun(frames, (f) => f.file).run];
}

/** Places by their raw positions: a source position is looked up once. */
const known = new Map<string, Loc>();

/** Where the callback of the user's that runs now was handed to this package: what a body of a loop is called from. */
let enclosing: { readonly caller: FileLoc | CallLoc; readonly known: Map<Loc, Loc> } | undefined;

/**
 * Runs a callback of the user's that was handed over at `loc`. The frames between it and its own definition are ours, so
 * a place in it is reached from where `loc` is reached.
 */
export function within<T>(loc: Loc, callback: () => T): T {
  const outer = enclosing;
  enclosing = loc.kind === 'call' ? { caller: loc.caller, known: new Map() } : undefined;
  try {
    return callback();
  } finally {
    enclosing = outer;
  }
}

/** The place in the user's code that called into this package: absolute paths, call chain included. */
export function userLoc(): Loc {
  const raw = rawFrames();
  if (raw.length === 0) return unknownLoc;
  let key = '';
  for (const frame of raw) key += `${scriptOf(frame.getFileName()!).id}:${frame.getPosition()} `;
  let loc = known.get(key);
  if (!loc) {
    const frames = scriptOf(raw[0]!.getFileName()!).map ? mapped(raw) : textFrames();
    const own = frames.filter((f) => !isPackaged(f.file));
    loc = chain(own.length > 0 ? own : frames) ?? unknownLoc;
    known.set(key, loc);
  }
  return enclosing ? reachedFrom(loc, enclosing) : loc;
}

function reachedFrom(loc: Loc, { caller, known }: NonNullable<typeof enclosing>): Loc {
  let whole = known.get(loc);
  if (!whole) {
    whole = chain([...framesOf(loc), ...framesOf(caller)]) ?? unknownLoc;
    known.set(loc, whole);
  }
  return whole;
}

function framesOf(loc: Loc): FileLoc[] {
  const primary = primaryLoc(loc);
  return primary ? [primary, ...callersOf(loc)] : [];
}

/** Innermost frame with the chain of its callers. */
function chain(frames: readonly FileLoc[]): FileLoc | CallLoc | undefined {
  return frames.reduceRight<FileLoc | CallLoc | undefined>(
    (caller, callee) => (caller ? { kind: 'call', callee, caller } : callee),
    undefined,
  );
}

function mapFiles(loc: Loc, map: (file: string) => string): Loc {
  switch (loc.kind) {
    case 'file':
      return { ...loc, file: map(loc.file) };
    case 'call':
      return {
        kind: 'call',
        callee: mapFiles(loc.callee, map) as FileLoc,
        caller: mapFiles(loc.caller, map) as FileLoc,
      };
    case 'fused':
      return { ...loc, from: loc.from.map((l) => mapFiles(l, map)) };
    case 'unknown':
      return loc;
  }
}

/** A location with its files relative to `folder`, as artifacts carry it. */
export function relativeTo(folder: string, loc: Loc): Loc {
  return mapFiles(loc, (file) => (isAbsolute(file) ? relative(folder, file).split(sep).join('/') : file));
}

/** A location for people: files below the current folder by their relative path. `folder` is what relative files are relative to. */
export function forDisplay(loc: Loc, folder?: string): Loc {
  return mapFiles(loc, (file) => {
    const absolute = folder === undefined ? file : resolve(folder, file);
    const near = relative(process.cwd(), absolute);
    return near.startsWith('..') || isAbsolute(near) ? absolute : near;
  });
}
