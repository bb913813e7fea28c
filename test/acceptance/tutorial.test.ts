/**
 * The snippets of `docs/language.md`: each `ts` block is written to the file that its first line names, type-checked
 * and run; each `console` block runs a command and holds what it prints. BLESS=1 rewrites what is printed.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { formatNpy } from '../../src/api/npy.js';
import { f32, i32 } from '../../src/ir/dtypes.js';
import { nd } from '../../src/testing/index.js';
import { runCli } from '../support/built-cli.js';
import { describeTool } from '../support/tools.js';

const root = resolve(import.meta.dirname, '../..');
const page = join(root, 'docs/language.md');
const folder = mkdtempSync(join(tmpdir(), 'tilewright-tutorial-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = readFileSync(page, 'utf8');
const files = [...text.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(([, name, source]) => ({
  name: name!,
  source: source!,
}));
const consoles = [...text.matchAll(/^```console\n\$ (npx tilewright (.*))\n([\s\S]*?)^```$/gm)].map(
  ([block, command, args, printed]) => ({ block, command: command!, args: args!.split(' '), printed: printed! }),
);

// Lines of a snippet are counted from its comment: a diagnostic names the line that the reader sees.
for (const { name, source } of files) writeFileSync(join(folder, name), `// ${name}\n${source}`);
writeFileSync(join(folder, 'ids.npy'), formatNpy(nd.from(i32, [6], [3, 1, 3, 0, 7, 7])));
writeFileSync(join(folder, 'x.npy'), formatNpy(nd.from(f32, [8], [1, 2, 3, 4, 5, 6, 7, 8])));
writeFileSync(join(folder, 'class.npy'), formatNpy(nd.from(i32, [8], [0, 0, 1, 1, 2, 2, 0, 1])));

test('the page has its snippets', () => {
  expect(files.length).toBeGreaterThanOrEqual(9);
  expect(consoles.length).toBeGreaterThanOrEqual(10);
});

test('the snippets are well typed', () => {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  const paths = {
    tilewright: [join(root, 'dist/index.d.ts')],
    'tilewright/testing': [join(root, 'dist/testing/index.d.ts')],
  };
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { paths, allowImportingTsExtensions: true },
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...options, include: ['*.ts'] }));
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder],
    {
      encoding: 'utf8',
    },
  );
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

test('the program at the end', async () => {
  const { z } = await import(join(folder, 'main.ts'));
  expect([...z.data]).toEqual([11, 22, 33]);
});

describeTool('mlir', 'the commands', () => {
  test.each(consoles)('$command', async ({ block, command, args, printed }) => {
    const { stdout, stderr } = await runCli(args, { cwd: folder });
    const actual = `${stderr}${stdout}`;
    if (process.env.BLESS === '1' && actual !== printed)
      writeFileSync(
        page,
        readFileSync(page, 'utf8').replace(block, () => `\`\`\`console\n$ ${command}\n${actual}\`\`\``),
      );
    else expect(actual).toBe(printed);
  });
});
