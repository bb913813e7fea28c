/**
 * `npm run bench:compile`: what it costs to get from a kernel file to text, to a library and to a result; and that
 * tracing and passes grow linearly with the number of ops.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lower } from '../dist/api/compile.js';
import { loadKernels } from '../dist/api/loader.js';
import { array, blockProgram, cdiv, dim, f32, grid, kernel } from '../dist/index.js';
import { runPasses } from '../dist/ir/pass.js';
import { loweringPipeline } from '../dist/ir/passes/index.js';
import { median } from './table.js';

const rounds = Number(process.env.ROUNDS ?? 9);
const timed = (work) => {
  const start = performance.now();
  work();
  return performance.now() - start;
};
const medianOf = (work) => median(Array.from({ length: rounds }, () => timed(work)));
const rows = [];
const row = (name, ms, goal) => rows.push(`| ${name} | ${ms.toFixed(0)} ms | ${goal} |`);

const [flash] = [...(await loadKernels('examples/flash-attention.kernel.ts')).kernels.values()];
for (let i = 0; i < 5; i++) lower(flash.with({ causal: i % 2 === 0 }), 'cpu');
row(
  'flash-attention: trace and lower to MLIR text, warm',
  medianOf(() => lower(flash.with({ causal: true }), 'cpu')),
  '30 / 60 ms',
);

const folder = mkdtempSync(join(tmpdir(), 'tilewright-bench-'));
const cli = (...args) => execFileSync(process.execPath, ['bin/tilewright.js', ...args], { stdio: 'pipe' });
const sizes = ['--input', 'm=512', '--input', 'n=512'];
const run = (...more) =>
  cli(
    'run',
    'examples/softmax.kernel.ts',
    ...sizes,
    '--input',
    'x=random:1',
    '--output',
    `y=@${join(folder, 'y.npy')}`,
    ...more,
  );
row(
  'for comparison: `node` that does nothing',
  medianOf(() => execFileSync(process.execPath, ['-e', ''])),
  '',
);
row(
  'build --emit=kir, cold process',
  medianOf(() => cli('build', 'examples/softmax.kernel.ts', '--emit=kir', '-o', join(folder, 'k.kir'))),
  '300 / 400 ms',
);
run();
row(
  'run, kernel cached, cold process',
  medianOf(() => run()),
  '400 / 600 ms',
);
row(
  'run, nothing cached, cold process',
  medianOf(() => run('--no-cache')),
  '1500 / 2000 ms',
);
rmSync(folder, { recursive: true });
process.stdout.write(`| what | median of ${rounds} | goal / floor |\n|---|---|---|\n${rows.join('\n')}\n\n`);

const chain = (ops) =>
  kernel('chain', {}, () => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, 64) });
    const v = array(f32, [n]).block([64], [g.i]);
    return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => {
      const first = x.load();
      let t = first;
      for (let i = 0; i < ops / 2; i++) t = t.mul(first).add(i % 7);
      y.store(t);
    });
  });
process.stdout.write('| ops | trace, µs an op | passes, µs an op |\n|---|---|---|\n');
for (const ops of [1000, 10_000, 100_000]) {
  let traced;
  const trace = timed(() => {
    traced = chain(ops).trace();
  });
  const count = traced.kernel.launches[0].body.ops.length;
  const passes = timed(() => runPasses(traced.kernel, loweringPipeline));
  process.stdout.write(
    `| ${count} | ${((trace * 1000) / count).toFixed(1)} | ${((passes * 1000) / count).toFixed(1)} |\n`,
  );
}
