/**
 * `npm run test:acceptance [-- --json FILE] [--backend B,…] [--id N,…]`: the kernels of `kernels/` against the oracle,
 * every case and dtype, in the interpreter, on the CPU and as evaluated Triton IR, or on any back end of
 * `test/oracle/matrix.ts`, as sim:sm_90a; prints a table and ends with exit code 1 where one does not pass.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { withTritonWorker } from '../dist/drivers/triton/worker.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = (path) => join(root, 'dist', path.replace(/\.ts$/, '.js'));

/** Sources of the package as they are built, so that kernels and harness share one copy of them. */
const built = {
  name: 'built',
  setup(plugin) {
    const entries = { tilewright: 'index.js', 'tilewright/testing': 'testing/index.js' };
    plugin.onResolve({ filter: /^tilewright(\/|$)/ }, ({ path }) => ({ path: dist(entries[path]), external: true }));
    plugin.onResolve({ filter: /\/src\// }, ({ path }) => ({ path: dist(path.split('/src/')[1]), external: true }));
  },
};

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};

async function loadMatrix() {
  const outfile = join(root, 'build', `acceptance-${process.pid}.mjs`);
  const options = { bundle: true, format: 'esm', platform: 'node', logLevel: 'error', plugins: [built] };
  await build({ entryPoints: [join(root, 'test/oracle/matrix.ts')], outfile, ...options });
  try {
    return await import(pathToFileURL(outfile));
  } finally {
    rmSync(outfile);
  }
}

const { backends, calls } = await loadMatrix();
const chosen = option('--backend')?.split(',') ?? ['interpret', 'cpu', 'ttir'];
const unknown = chosen.find((b) => !backends.includes(b));
if (unknown !== undefined) {
  process.stderr.write(`no back end '${unknown}': ${backends.join(', ')}\n`);
  process.exit(2);
}
const ids = option('--id')?.split(',').map(Number);
const rows = [];
const runAll = async (shared) => {
  for (const call of calls(chosen, ids, shared)) rows.push(await call());
};
if (chosen.some((b) => b.startsWith('sim:'))) await withTritonWorker({}, (worker) => runAll({ worker }));
else await runAll({});

/** The largest error, and how much of what is allowed it is. */
function shown({ pass, maxError, maxShare }) {
  if (!pass) return 'FAILED';
  return maxError === 0 ? 'exact' : `${maxError.toExponential(1)}, ${Math.ceil(maxShare * 100)} %`;
}

process.stdout.write(`| id | kernel | dtype | case | ${chosen.join(' | ')} |\n|${'---|'.repeat(4 + chosen.length)}\n`);
for (let i = 0; i < rows.length; i += chosen.length) {
  const group = rows.slice(i, i + chosen.length);
  const cells = group.map(shown);
  const { id, name, dtype, case: kind } = group[0];
  process.stdout.write(`| ${id} | ${name} | ${dtype} | ${kind} | ${cells.join(' | ')} |\n`);
}
const failed = rows.filter((r) => !r.pass);
for (const r of failed)
  for (const f of r.failures) process.stderr.write(`${r.name} ${r.dtype} ${r.case} ${r.backend}: ${f}\n`);
const file = option('--json');
if (file) writeFileSync(file, `${JSON.stringify({ rows: rows.map(({ failures, ...row }) => row) }, null, 2)}\n`);
process.stdout.write(`${rows.length - failed.length} passed, ${failed.length} failed\n`);
process.exitCode = failed.length ? 1 : 0;
