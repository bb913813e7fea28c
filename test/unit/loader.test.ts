import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type OutsidePackage, packageOutside } from '../support/kernels-outside.js';

/** A kernel file's beginning: `make(name)` gives a kernel that stores a zero. */
const prelude = `import { array, blockProgram, f32, grid, kernel } from 'tilewright';
const make = (name: string) =>
  kernel(name, { block: 64 }, () =>
    blockProgram({ grid: grid({}), inputs: {}, outputs: { z: array(f32, [1]) } }, ({ z }) => z.store(0)));
`;

/** Kernel files by name. Each is loaded once, in one process outside of the test runner. */
const files = {
  'good.kernel.ts': `${prelude}import { CompilerParams } from 'tilewright/triton';
import { label } from './lib/label.js';
import limits from './lib/limits.json';
export const first = make(label), again = first;
export const second = make('second');
export const other = new CompilerParams({ numWarps: limits.warps });
export default second;
`,
  'lib/label.ts': "import { part } from '../../shared/part.js';\nexport const label: string = part + 'st';\n",
  'lib/limits.json': '{ "warps": 4 }',
  '../shared/part.ts': "export const part = 'fir';\n",
  'typed.kernel.ts': `${prelude}import { Index, type Tile, F32 } from 'tilewright';
export const same = (i: Index): Tile<F32, 0> => i as never;
export const k = make('typed');
`,
  'state.kernel.ts': `${prelude}import { Kernel } from 'tilewright';
export const k = make('state');
if (!(k instanceof Kernel) || Kernel !== (globalThis as { ourKernel?: unknown }).ourKernel) throw new Error('two copies');
`,
  'syntax.kernel.ts': 'const a = 1;\nexport const b = = 2;\n',
  'imported-syntax.kernel.ts': "import './lib/broken.js';\n",
  'lib/broken.ts': '\n\nlet 1x;\n',
  'misspelt.kernel.ts': "import { f32, kernal } from 'tilewright';\nexport const k = kernal('k', {}, () => f32);\n",
  'namespace.kernel.ts': "import * as tw from 'tilewright';\nexport const k = tw.kernal('k', {}, () => 0);\n",
  'entry-point.kernel.ts': "import * as p from 'tilewright/tritom';\nexport const k = p;\n",
  'missing-file.kernel.ts': "import { x } from './lib/nowhere.js';\nexport const k = x;\n",
  'missing-package.kernel.ts': "import x from 'no-such-package';\nexport const k = x;\n",
  'missing-export.kernel.ts': "import { x } from './lib/label.js';\nexport const k = x;\n",
  'throws.kernel.ts': `function inner(): never {
  throw new TypeError('mine');
}
const outer = (): never => inner();
outer();
`,
  'throws-text.kernel.ts': "throw 'just text';\n",
  'rejects.kernel.ts': "\nawait Promise.reject(new Error('late'));\n",
  'recursion.kernel.ts': 'function forever(): void {\n  forever();\n}\nforever();\n',
  'empty.kernel.ts': 'export const nothing = 1;\n',
  'setup.kernel.ts': `import { kernel } from 'tilewright';
const limit = (): never => { throw new RangeError('too much'); };
export const k = kernel('k', {}, () => limit());
`,
  'body.kernel.ts': `import { array, blockProgram, f32, grid, kernel } from 'tilewright';
export const k = kernel('k', {}, () =>
  blockProgram({ grid: grid({}), inputs: {}, outputs: { z: array(f32, [1]) } }, ({ z }) => {
    z.stor(0);
  }));
`,
} as const;
const kernelFiles = [
  ...(Object.keys(files) as (keyof typeof files)[]).filter((name) => name.endsWith('.kernel.ts')),
  'nowhere.kernel.ts',
  'folder.kernel.ts',
] as const;

interface Found {
  /** `export=kernel name`, in order. */
  readonly kernels?: readonly string[];
  readonly files?: readonly string[];
  /** `CODE place: message`, then notes and help, of each finding. */
  readonly findings?: readonly string[];
}

const choices = [[], ['again'], ['first', 'second'], ['secnd'], ['zzz']];

const script = `
import { readdirSync } from 'node:fs';
import { chooseKernels, loadKernels } from 'tilewright/dist/api/loader.js';
import { primaryLoc } from 'tilewright/dist/diagnostics/location.js';
import { Kernel } from 'tilewright';

globalThis.ourKernel = Kernel;
const place = (loc) => {
  const at = primaryLoc(loc);
  return at ? at.file + ':' + at.line + ':' + at.col : '?';
};
const show = ({ code, loc, message, notes, help }) => [
  code + ' ' + place(loc) + ': ' + message,
  ...notes.map((n) => 'note ' + (n.loc ? place(n.loc) : n.message)),
  ...(help ? ['help ' + help] : []),
];
const found = {};
for (const name of ${JSON.stringify(kernelFiles)}) {
  try {
    const loaded = await loadKernels(name);
    for (const k of chooseKernels(name, loaded, [])) k.trace();
    found[name] = { kernels: [...loaded.kernels].map(([e, k]) => e + '=' + k.name), files: loaded.files };
  } catch (error) {
    found[name] = { findings: error.diagnostics?.flatMap(show) ?? [String(error)] };
  }
}
const good = await loadKernels('good.kernel.ts');
const choose = (names) => {
  try {
    return chooseKernels('good.kernel.ts', good, names).map((k) => k.name);
  } catch (error) {
    return error.diagnostics.flatMap(show);
  }
};
const chosen = ${JSON.stringify(choices)}.map(choose);
console.log(JSON.stringify({ found, chosen, temporary: readdirSync(process.env.TMPDIR) }));
`;

let outside: OutsidePackage;
let found: Readonly<Record<string, Found>>;
let chosen: readonly (readonly string[])[];
let temporary: readonly string[];

beforeAll(async () => {
  outside = await packageOutside();
  for (const [name, text] of Object.entries(files)) {
    const path = join(outside.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  mkdirSync(join(outside.folder, 'folder.kernel.ts'));
  const { stdout, stderr } = await outside.run(script);
  expect(stderr).toBe('');
  ({ found, chosen, temporary } = JSON.parse(stdout));
}, 60_000);
afterAll(() => outside.remove());

describe('a kernel file', () => {
  test('gives its kernels by export, and every file of the user’s that took part', () => {
    const { kernels, files: read } = found['good.kernel.ts']!;
    expect(kernels).toEqual(['again=first', 'default=second', 'first=first', 'second=second']);
    const [base] = read![0]!.split('shared');
    expect(read!.map((f) => f.slice(base!.length))).toEqual([
      'shared/part.ts',
      'user/good.kernel.ts',
      'user/lib/label.ts',
      'user/lib/limits.json',
    ]);
  });
  test('may import types without saying so', () => {
    expect(found['typed.kernel.ts']!.kernels).toEqual(['k=typed']);
  });
  test('shares the state of the installation that loads it', () => {
    expect(found['state.kernel.ts']).toMatchObject({ kernels: ['k=state'] });
  });
  test('leaves nothing behind', () => {
    expect(temporary).toEqual([]);
  });
});

describe('choosing kernels', () => {
  test('all of them once, by export, by name', () => {
    expect(chosen.slice(0, 3)).toEqual([['first', 'second'], ['first'], ['first', 'second']]);
  });
  test('an unknown name suggests the nearest, or lists them', () => {
    expect(chosen[3]).toEqual(["TW1405 ?: 'good.kernel.ts' has no kernel 'secnd'", "help did you mean 'second'?"]);
    expect(chosen[4]).toEqual([
      "TW1405 ?: 'good.kernel.ts' has no kernel 'zzz'",
      'help its kernels are again, first, default, second',
    ]);
  });
});

describe('a bad kernel file is told at the user’s line', () => {
  test.each<[string, (typeof kernelFiles)[number], ...string[]]>([
    ['no such file', 'nowhere.kernel.ts', "TW4301 ?: cannot read 'nowhere.kernel.ts': no such file"],
    ['a folder', 'folder.kernel.ts', "TW4301 ?: cannot read 'folder.kernel.ts': it is a folder"],
    ['a syntax error', 'syntax.kernel.ts', 'TW1402 syntax.kernel.ts:2:18: Unexpected "="'],
    ['a syntax error in what it imports', 'imported-syntax.kernel.ts', 'TW1402 lib/broken.ts:3:6: Syntax error "x"'],
    [
      'a misspelt name of ours',
      'misspelt.kernel.ts',
      "TW1407 misspelt.kernel.ts:1:15: 'tilewright' does not export 'kernal'",
      "help did you mean 'kernel'?",
    ],
    [
      'a misspelt name of ours, through a namespace',
      'namespace.kernel.ts',
      "TW1407 namespace.kernel.ts:2:21: 'tilewright' does not export 'kernal'",
      "help did you mean 'kernel'?",
    ],
    [
      'an entry point that does not exist',
      'entry-point.kernel.ts',
      "TW1406 entry-point.kernel.ts:1:20: cannot resolve 'tilewright/tritom'",
      "help did you mean 'tilewright/triton'?",
    ],
    [
      'an import of a file that does not exist',
      'missing-file.kernel.ts',
      "TW1406 missing-file.kernel.ts:1:19: cannot resolve './lib/nowhere.js'",
      'help there is no such file; the path is relative to the file that imports it',
    ],
    [
      'an import of a package that does not exist',
      'missing-package.kernel.ts',
      "TW1406 missing-package.kernel.ts:1:15: cannot resolve 'no-such-package'",
      'help no such package is installed beside the file',
    ],
    [
      'an import of what a file does not export',
      'missing-export.kernel.ts',
      "TW1407 missing-export.kernel.ts:1:10: 'lib/label.ts' does not export 'x'",
    ],
    [
      'an exception while it loads: the user’s frames',
      'throws.kernel.ts',
      'TW1403 throws.kernel.ts:2:9: uncaught exception: TypeError: mine',
      'note throws.kernel.ts:4:28',
      'note throws.kernel.ts:5:1',
    ],
    [
      'something thrown that is no error',
      'throws-text.kernel.ts',
      'TW1403 throws-text.kernel.ts:1:1: uncaught exception: "just text"',
    ],
    ['a rejected promise', 'rejects.kernel.ts', 'TW1403 rejects.kernel.ts:2:22: uncaught exception: Error: late'],
    [
      'no kernels',
      'empty.kernel.ts',
      "TW1404 ?: 'empty.kernel.ts' exports no kernel",
      'help export what kernel(…) gives',
    ],
    [
      'an exception in a setup',
      'setup.kernel.ts',
      'TW1403 setup.kernel.ts:2:36: uncaught exception: RangeError: too much',
      'note setup.kernel.ts:3:40',
    ],
    [
      'an exception in a body',
      'body.kernel.ts',
      'TW1403 body.kernel.ts:4:7: uncaught exception: TypeError: z.stor is not a function',
    ],
  ])('%s', (_, file, ...findings) => {
    expect(found[file]!.findings).toEqual(findings);
  });
  test('endless recursion: its place once, not once for each frame', () => {
    const places = found['recursion.kernel.ts']!.findings!.map((f) => f.replace(/^note /, '').split(' ')[0]);
    expect(found['recursion.kernel.ts']!.findings![0]).toContain('RangeError: Maximum call stack size exceeded');
    expect(new Set(places).size).toBe(places.length);
  });
});
