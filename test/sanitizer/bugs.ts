/** Runs the seeded bugs of `bugs/`. */

import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Arguments, InterpretRunOptions } from '../../src/api/run.js';
import { interpret } from '../../src/api/run.js';
import type { AnyKernel } from '../../src/api/source.js';
import { CompileError } from '../../src/diagnostics/diagnostic.js';
import { primaryLoc } from '../../src/diagnostics/location.js';

export const bugsFolder = join(dirname(fileURLToPath(import.meta.url)), 'bugs');

export interface SeededBug {
  readonly name: string;
  /** What is wrong: the comment above the kernel. */
  readonly what: string;
  readonly wrong: AnyKernel;
  readonly right: AnyKernel;
  readonly inputs: Arguments<object>;
  readonly options: InterpretRunOptions;
  /** `TW5101 line 8` */
  readonly expected: string;
}

/** Reads the kernel of a file, and from its text what must be found: the line with a code in a comment at its end. */
export async function loadBug(file: string): Promise<SeededBug> {
  const { bug, inputs, options = {} } = await import(file);
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const at = lines.findIndex((line) => /\/\/ TW\d{4}$/.test(line));
  if (at < 0) throw new Error(`no line of ${file} says what must be found there`);
  return {
    name: basename(file, '.kernel.ts'),
    what: /^\/\*\* (.*) \*\/$/m.exec(text)?.[1] ?? '',
    wrong: bug.with({ wrong: true }),
    right: bug,
    inputs,
    options,
    expected: `${lines[at]!.slice(-6)} line ${at + 1}`,
  };
}

async function findings(kernel: AnyKernel, inputs: Arguments<object>, options: InterpretRunOptions): Promise<string[]> {
  try {
    await interpret(kernel, inputs, { sanitize: true, maxSteps: 1_000_000, ...options });
    return [];
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return error.diagnostics.map((d) => `${d.code} line ${primaryLoc(d.loc)?.line}`);
  }
}

/** What is found in the wrong kernel, as `CODE line LINE`. */
export function findingsOf({ wrong, inputs, options }: SeededBug): Promise<string[]> {
  return findings(wrong, inputs, options);
}

/** What is found in the right kernel: with its programs in order, then in `seeds` orders drawn from seeds. */
export async function falseAlarms({ right, inputs, options }: SeededBug, seeds: number): Promise<string[]> {
  return [
    ...(await findings(right, inputs, { ...options, seeds: 1 })),
    ...(await findings(right, inputs, { ...options, seed: 1, seeds })),
  ];
}
