/**
 * `npm run bench:interpret [-- --json FILE]`: the interpreter on the example matmul, 512^3 in f32 with tiles of 64, with
 * each check of the sanitizer, with all of them and with none, taken in turns.
 */

import { writeFileSync } from 'node:fs';
import { loadKernels } from '../dist/api/loader.js';
import { f32, interpret } from '../dist/index.js';
import { nd } from '../dist/testing/index.js';
import { median } from './table.js';

const rounds = Number(process.env.ROUNDS ?? 5);
const [matmul] = [...(await loadKernels('examples/matmul.kernel.ts')).kernels.values()];
const kernel = matmul.with({ bm: 64, bn: 64, bk: 64 });
const inputs = { a: nd.random(f32, [512, 512], { seed: 1 }), b: nd.random(f32, [512, 512], { seed: 2 }) };

const cases = [
  { name: 'no check', options: {}, goal: 1000 },
  ...['bounds', 'uninit', 'race', 'padding', 'overflow', 'divzero'].map((check) => ({
    name: check,
    options: { sanitize: [check] },
  })),
  { name: 'the first NaN or infinity', options: { trapNaN: true } },
  { name: 'all checks', options: { sanitize: true }, goal: 4000 },
  { name: 'all checks, programs in turns', options: { sanitize: true, seed: 1 } },
];
const times = cases.map(() => []);
for (let round = 0; round < rounds; round++)
  for (const [i, { options }] of cases.entries()) {
    const start = performance.now();
    await interpret(kernel, inputs, options);
    times[i].push(performance.now() - start);
  }

const ms = (x) => `${x.toFixed(0)} ms`;
const lines = cases.map(({ name, goal }, i) => {
  const overhead = median(times[i]) / median(times[0]) - 1;
  const range = `${ms(Math.min(...times[i]))} … ${ms(Math.max(...times[i]))}`;
  const more = i === 0 ? '' : `${overhead < 0 ? '' : '+'}${(100 * overhead).toFixed(0)} %`;
  return `| ${name} | ${ms(median(times[i]))} | ${more} | ${range} | ${goal ? ms(goal) : ''} |`;
});
process.stdout.write(`matmul 512^3 f32, tiles of 64

| checks | median of ${rounds} | overhead | smallest … largest | goal |
|---|---|---|---|---|
${lines.join('\n')}
`);
const json = process.argv.indexOf('--json');
if (json > 0) {
  const rows = cases.map(({ name, goal }, i) => ({
    name: `interpret/${name}`,
    metric: 'time',
    ours: median(times[i]) * 1e6,
    peer: (goal ?? median(times[0])) * 1e6,
    peerName: goal ? 'goal' : 'no check',
    unit: 'ns',
    spread: [Math.min(...times[i]) * 1e6, Math.max(...times[i]) * 1e6],
  }));
  writeFileSync(process.argv[json + 1], `${JSON.stringify({ rows }, undefined, 2)}\n`);
}
