/**
 * `npm run bench:launch [-- --json FILE]`: what a launch costs beside a bare call of the driver, from C and from Node, on the
 * recording driver of the tests, which records nothing here: only the difference of both sides says something.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildLauncher, compileLauncher, launcherFiles } from '../dist/api/launcher.js';
import { loadKernels } from '../dist/api/loader.js';
import { formatLaunchPlan } from '../dist/lowering/launch-plan.js';
import { row } from './table.js';

const rounds = Number(process.env.ROUNDS ?? 20);
const root = resolve(import.meta.dirname, '..');
const sources = join(root, 'test/support/fake-drivers');
const folder = mkdtempSync(join(tmpdir(), 'tilewright-bench-'));
const cc = (...args) => execFileSync('cc', ['-O2', ...args], { stdio: 'inherit' });

/** Runs in a process of its own: calls through the runtime, and bare ones through the same foreign-function package. */
const nodeSide = `
import koffi from 'koffi';
import { load } from 'tilewright/runtime';
const [plan, driver, rounds] = process.argv.slice(2);
const add = await load(plan);
const library = koffi.load(driver);
const launch = library.func('cuLaunchKernel', 'int', ['void *', ...Array(7).fill('uint'), 'void *', 'void *', 'void *']);
const buffer = { address: 4096n, bytes: 4096 };
const args = { x: buffer, y: buffer, z: buffer, n: 1000 };
const calls = 20000;
const parameters = new BigUint64Array(8);
for (let r = 0; r <= Number(rounds); r++) {
  let start = performance.now();
  for (let i = 0; i < calls; i++) add.launch(args);
  const ours = (performance.now() - start) / calls * 1e6;
  start = performance.now();
  for (let i = 0; i < calls; i++) launch(4096n, 1, 1, 1, 128, 1, 1, 0, null, parameters, null);
  if (r > 0) console.log('round ' + ours + ' ' + (performance.now() - start) / calls * 1e6);
}
`;

function measured(text) {
  const found = [...text.matchAll(/^round ([\d.]+) ([\d.]+)$/gm)];
  return [found.map((m) => Number(m[1])), found.map((m) => Number(m[2]))];
}

try {
  const driver = join(folder, 'fake-cuda.so');
  cc('-shared', '-fPIC', join(sources, 'fake-cuda.c'), '-o', driver);
  const [kernel] = [...(await loadKernels(join(root, 'examples/vector-add.kernel.ts'))).kernels.values()];
  const launcher = await buildLauncher(kernel, ['sm_80', 'sm_90a', 'gfx942', 'cpu']);
  for (const [file, text] of launcherFiles(launcher)) writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, 'vector_add.so'), (await compileLauncher(launcher, 'so')).bytes);
  writeFileSync(join(folder, 'vector_add.sm_90a.plan.json'), formatLaunchPlan(launcher.compiled[1].plan));
  const program = join(folder, 'bench');
  cc('-I', folder, join(sources, 'bench.c'), join(folder, 'vector_add.c'), '-o', program, '-ldl', '-lpthread', '-lm');
  const env = { PATH: process.env.PATH, TILEWRIGHT_CUDA_LIB: driver };
  const run = (path, args) => {
    const { status, stdout, stderr } = spawnSync(path, args, { cwd: root, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr || stdout);
    return stdout;
  };
  const c = run(program, [String(rounds)]);
  mkdirSync(join(root, 'build'), { recursive: true });
  const script = join(root, 'build', `bench-launch-${process.pid}.mjs`);
  writeFileSync(script, nodeSide);
  let node;
  try {
    node = run(process.execPath, [script, join(folder, 'vector_add.sm_90a.plan.json'), driver, String(rounds)]);
  } finally {
    rmSync(script);
  }
  const rows = [
    ['launch/c', c],
    ['launch/node', node],
  ].map(([name, text]) => {
    const [ours, bare] = measured(text);
    return row(name, ours, { 'bare call': bare });
  });
  process.stdout.write('| case | ours | bare call | overhead |\n|---|---|---|---|\n');
  for (const r of rows)
    process.stdout.write(
      `| ${r.name} | ${r.ours.toFixed(0)} ns | ${r.peer.toFixed(0)} ns | ${(r.ours - r.peer).toFixed(0)} ns |\n`,
    );
  process.stdout.write(`first load of the image: ${(Number(/^load (\d+)$/m.exec(c)[1]) / 1e6).toFixed(2)} ms\n`);
  const at = process.argv.indexOf('--json');
  if (at > 0) writeFileSync(process.argv[at + 1], `${JSON.stringify({ rows }, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
