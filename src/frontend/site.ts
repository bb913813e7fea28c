/** Where the user's code is: the innermost frame outside of this package, and the user frames that led to it. */

import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CallLoc, type FileLoc, fileLoc, type Loc, unknownLoc } from '../diagnostics/location.js';

const packageRoot = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
/** Frames of the package itself: its sources (as test runners and source maps name them) and its build. */
const ownFolders = [`${packageRoot}${sep}src${sep}`, `${packageRoot}${sep}dist${sep}`];

/** Deep enough for a helper called from a helper inside loops of a kernel body. */
const frameLimit = 24;

interface RawFrame {
  readonly script: string;
  readonly line: number;
  readonly col: number;
}

const asPath = (script: string): string => (script.startsWith('file:') ? fileURLToPath(script) : script);

/** Whether a frame is the user's: not this package's, not Node's, not of another package (a test runner, say). */
function isUsers(file: string): boolean {
  return (
    file !== '' &&
    !file.startsWith('node:') &&
    !file.includes(`${sep}node_modules${sep}`) &&
    !ownFolders.some((folder) => file.startsWith(folder))
  );
}

/** The frames that led to a call into this package: the first run of user frames. What called the tracer is not among them. */
function firstRun<T>(frames: readonly T[], file: (frame: T) => string): T[] {
  const start = frames.findIndex((f) => isUsers(file(f)));
  if (start < 0) return [];
  const end = frames.findIndex((f, i) => i > start && !isUsers(file(f)));
  return frames.slice(start, end < 0 ? undefined : end);
}

/** User frames as the engine sees them, before source maps. */
function rawFrames(): RawFrame[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  try {
    Error.stackTraceLimit = frameLimit;
    Error.prepareStackTrace = (_, sites) =>
      sites.map((s) => ({
        script: s.getFileName() ?? '',
        line: s.getLineNumber() ?? 0,
        col: s.getColumnNumber() ?? 0,
      }));
    Error.captureStackTrace(holder);
    return firstRun(holder.stack as RawFrame[], (f) => asPath(f.script));
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** User frames as text, with whichever source mapper is installed (Node's own, a test runner's). */
function mappedFrames(): FileLoc[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = frameLimit;
  const { stack } = new Error('location');
  Error.stackTraceLimit = stackTraceLimit;
  return parseStack(stack ?? '');
}

const framePattern = /^\s+at (?:.*? \()?((?:file:\/\/)?[^()]+?):(\d+):(\d+)\)?$/;

/** The first run of user frames in a stack's text, innermost first. */
export function parseStack(stack: string): FileLoc[] {
  const frames = stack.split('\n').flatMap((text) => {
    const match = framePattern.exec(text);
    return match ? [fileLoc(asPath(match[1]!), Number(match[2]), Number(match[3]))] : [];
  });
  return firstRun(frames, (f) => f.file);
}

const known = new Map<string, Loc>();

/** The place in the user's code that called into this package: absolute paths, call chain included. */
export function userLoc(): Loc {
  const raw = rawFrames();
  if (raw.length === 0) return unknownLoc;
  const key = raw.map((f) => `${f.script}:${f.line}:${f.col}`).join('|');
  let loc = known.get(key);
  if (!loc) {
    loc = chain(mappedFrames());
    known.set(key, loc);
  }
  return loc;
}

/** Innermost frame with the chain of its callers. */
function chain(frames: readonly FileLoc[]): Loc {
  const nested = frames.reduceRight<FileLoc | CallLoc | undefined>(
    (caller, callee) => (caller ? { kind: 'call', callee, caller } : callee),
    undefined,
  );
  return nested ?? unknownLoc;
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
