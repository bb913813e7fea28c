import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../src');

/** What each folder may import from, besides itself. `index.ts` is the public barrel. */
const layers: Readonly<Record<string, readonly string[]>> = {
  diagnostics: [],
  ir: ['diagnostics'],
  frontend: ['diagnostics', 'ir'],
  lowering: ['diagnostics', 'ir'],
  simulator: ['diagnostics', 'ir', 'lowering'],
  drivers: ['diagnostics', 'ir', 'lowering'],
  api: ['diagnostics', 'ir', 'frontend', 'lowering', 'simulator', 'drivers'],
  runtime: ['diagnostics', 'ir', 'lowering', 'drivers'],
  testing: ['diagnostics', 'ir', 'frontend', 'api'],
  cli: ['diagnostics', 'ir', 'lowering', 'drivers', 'api'],
  'index.ts': ['diagnostics', 'ir', 'frontend', 'api'],
};

/** Packages and Node facilities that exactly one file may touch. */
const sole: readonly { readonly what: RegExp; readonly file: string }[] = [
  { what: /from 'execa'|from 'node:child_process'|import\('execa'\)/, file: 'drivers/run.ts' },
  { what: /from 'handlebars'|import\('handlebars'\)/, file: 'lowering/render.ts' },
  { what: /'koffi'/, file: 'runtime/foreign.ts' },
  { what: /process\.env\b/, file: 'drivers/environment.ts' },
];

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((f) => f.endsWith('.ts'))
  .sort();
const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((m) => m[1]!);

/** The files of src that are loaded before a file runs: what it imports by name and not for types alone. */
function startsWith(file: string): string[] {
  const statements = [...textOf(file).matchAll(/^(?:import|export) (?!type )([^;]*?) from '(\.[^']+)';/gms)];
  return statements
    .filter(([, names]) => !/^\{(?:\s*type \w+(?: as \w+)?,?)+\s*\}$/.test(names!))
    .map(([, , from]) => join(dirname(file), from!).replace(/\.js$/, '.ts'));
}

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

describe('the structure of src', () => {
  test('every folder imports only from below, and ir from no Node module', () => {
    const wrong: string[] = [];
    for (const file of files) {
      const own = file.split('/')[0]!;
      for (const from of importsOf(textOf(file))) {
        const to = from.startsWith('.') ? relative(root, join(root, dirname(file), from)).split('/')[0]! : undefined;
        const fine = to ? to === own || (layers[own] ?? []).includes(to) : own !== 'ir' || !from.startsWith('node:');
        if (!fine) wrong.push(`${file} imports ${from}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('no file needs, to start, a file that needs it', () => {
    const needed = new Map(files.map((file) => [file, startsWith(file)]));
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      const at = path.indexOf(file);
      if (at >= 0) cycles.push([...path.slice(at), file].join(' -> '));
      if (at >= 0 || done.has(file)) return;
      for (const next of needed.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test('processes, templates and the environment belong to one file each', () => {
    const wrong = files.flatMap((file) =>
      sole
        .filter(({ what, file: owner }) => file !== owner && what.test(withoutComments(textOf(file))))
        .map((s) => `${file}: ${s.what}`),
    );
    expect(wrong).toEqual([]);
  });

  test('no source file is longer than 600 lines', () => {
    expect(files.filter((f) => textOf(f).split('\n').length > 601)).toEqual([]);
  });
});
