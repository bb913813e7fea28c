/** Kernels that tests of the front end share, and ways to look at what they trace to. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { array, blockProgram, cdiv, dim, f32, grid, type Kernel, kernel, printKernel } from 'tilewright';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { callersOf, type FileLoc, primaryLoc } from '../../src/diagnostics/location.js';
import type { Kernel as IrKernel } from '../../src/ir/kernel.js';
import { walk } from '../../src/ir/walk.js';
import { diagnosticsOf } from './thrown.js';

/** A kernel over x, y → z, all f32[n] in blocks of 64, with this body; typed loosely, for mistakes. */
// biome-ignore lint/suspicious/noExplicitAny: the mistakes of tests are ones that TypeScript would catch
export const vector = (body: (refs: any, g: any) => unknown) =>
  kernel('k', {}, () => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, 64) });
    const v = array(f32, [n]).block([64], [g.i]);
    return blockProgram({ grid: g, inputs: { x: v, y: v }, outputs: { z: v } }, (refs) => body(refs, g) as never);
  });

// biome-ignore lint/suspicious/noExplicitAny: any kernel prints
type AnyKernel = Kernel<any, any, any>;

/** The kernel IR without locations. */
export const irOf = (k: AnyKernel): string => printKernel(k.trace().kernel, { locs: false });

/** The lines of the first launch's body, without their indentation there. */
export function bodyOf(k: AnyKernel): string[] {
  const lines = irOf(k).split('\n');
  const start = lines.findIndex((line) => line.startsWith('  launch'));
  const end = lines.indexOf('  }', start);
  return lines.slice(start + 1, end).map((line) => line.slice(4));
}

/** A fixture of kernels for a loader. */
export const fixture = (file: string): string => fileURLToPath(new URL(`./kernels/${file}`, import.meta.url));

/** `file:line:col` of the `count`-th occurrence of a text in a fixture. */
export function placeOf(file: string, text: string, count = 1): string {
  const source = readFileSync(fixture(file), 'utf8');
  let at = -1;
  for (let i = 0; i < count; i++) at = source.indexOf(text, at + 1);
  if (at < 0) throw new Error(`no '${text}' in ${file}`);
  const before = source.slice(0, at).split('\n');
  return `${file}:${before.length}:${before.at(-1)!.length + 1}`;
}

export const placeText = ({ file, line, col }: FileLoc): string => `${file}:${line}:${col}`;

/** `name file:line:col ← caller ← caller` of every op of the first launch. */
export function placesOf({ launches }: IrKernel): string[] {
  const places: string[] = [];
  walk(launches[0]!.body, ({ name, loc }) => {
    const frames = [primaryLoc(loc), ...callersOf(loc)];
    places.push(`${name} ${frames.map((f) => (f ? placeText(f) : '?')).join(' ← ')}`);
  });
  return places;
}

/** The source at a place: what stands there up to the next parenthesis, comma or blank. */
function wordAt({ file, line, col }: FileLoc): string {
  const text = readFileSync(file, 'utf8').split('\n')[line - 1]!;
  return /^[\w.]*/.exec(text.slice(col - 1))![0];
}

/** The first finding that `work` throws, as `CODE at WORD: message`, where WORD is what the caret points at. */
export async function findingOf(work: () => unknown): Promise<string> {
  const [{ code, loc, message }] = (await diagnosticsOf(work)) as [Diagnostic];
  const at = primaryLoc(loc);
  return `${code} at ${at ? wordAt(at) : '?'}: ${message}`;
}
