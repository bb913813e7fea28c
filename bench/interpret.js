/** `npm run bench:interpret`: the interpreter on the example matmul, 512^3 in f32 with tiles of 64. */

import { loadKernels } from '../dist/api/loader.js';
import { f32, interpret } from '../dist/index.js';
import { nd } from '../dist/testing/index.js';
import { median } from './table.js';

const rounds = Number(process.env.ROUNDS ?? 5);
const [matmul] = [...(await loadKernels('examples/matmul.kernel.ts')).kernels.values()];
const kernel = matmul.with({ bm: 64, bn: 64, bk: 64 });
const inputs = { a: nd.random(f32, [512, 512], { seed: 1 }), b: nd.random(f32, [512, 512], { seed: 2 }) };
const times = [];
for (let round = 0; round < rounds; round++) {
  const start = performance.now();
  await interpret(kernel, inputs);
  times.push(performance.now() - start);
}
process.stdout.write(`| what | median of ${rounds} | smallest … largest | goal |
|---|---|---|---|
| matmul 512^3 f32, tiles of 64, first run included | ${median(times).toFixed(0)} ms | ${Math.min(...times).toFixed(0)} … ${Math.max(...times).toFixed(0)} ms | 1000 ms |
`);
