/**
 * Builds `dist/`: the entry points, and what they share in `dist/chunks/`. A command loads a few files instead of some
 * hundred, which is most of its time. Packages are bundled too, their licences beside them; declarations are `tsc`'s.
 */

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** `dist/a/b.js` by its source. */
const sourceOf = (built) => `src/${built.replace(/\.js$/, '.ts')}`;

/** What others may import, by package.json; the kernels are a program of the package's own user, built by `tsc`. */
const { exports: exported } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const published = Object.values(exported)
  .flatMap((e) => (typeof e === 'string' ? [] : [e.default.replace('./dist/', '')]))
  .filter((f) => !f.startsWith('kernels/'));

/** What scripts, benchmarks and the acceptance run reach into: it must be the same copy as what they load by name. */
const reachedInto = ['scripts', 'bench', 'test/oracle', 'test/support/ttir'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((f) => /\.[jt]s$/.test(f))
    .flatMap((f) => [
      ...readFileSync(join(root, folder, f), 'utf8').matchAll(/'(?:\.\.\/)+(?:dist|src)\/([\w/-]+\.js)'/g),
    ])
    .map(([, built]) => built)
    .filter((f) => !f.startsWith('kernels/')),
);

rmSync(dist, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [...new Set(['cli/main.js', ...published, ...reachedInto])].map(sourceOf),
  outbase: 'src',
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // They come with a binary of each system.
  external: ['esbuild', 'koffi'],
  // Packages in CommonJS ask for Node's modules with it.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
  metafile: true,
  logLevel: 'warning',
});

for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
  const misplaced = Object.keys(inputs).find(
    (input) => input.startsWith('src/') && readFileSync(join(root, input), 'utf8').includes('import.meta.url'),
  );
  if (misplaced && file.split('/').length !== 3)
    throw new Error(`${misplaced} finds the package's files from two folders below it, but became a part of ${file}`);
}

const packageFolder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const folders = Object.keys(metafile.inputs).flatMap((input) => packageFolder.exec(input)?.[1] ?? []);
const notices = [...new Set(folders)].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const file = readdirSync(join(root, folder)).find((f) => /^licen[cs]e/i.test(f));
  if (!file && !license) throw new Error(`${relative(root, dirname(folder))}/${name} states no licence`);
  const text = file ? readFileSync(join(root, folder, file), 'utf8').trim() : `Licence: ${license}`;
  return `${name} ${version}\n\n${text}\n`;
});
writeFileSync(join(dist, 'third-party-licences.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));
