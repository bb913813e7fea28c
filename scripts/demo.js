/**
 * The main job, end to end: examples/matmul.kernel.ts is compiled for this machine's CPU, runs on .npy files, and its
 * result is checked against a matrix product in float64. `make demo` sets everything up first.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatNpy } from '../dist/api/npy.js';
import { f32, f64 } from '../dist/ir/dtypes.js';
import { nd } from '../dist/testing/index.js';

const [m, n, k] = [500, 384, 777];
const folder = 'build/demo';
mkdirSync(folder, { recursive: true });
const file = (name) => join(folder, name);
const say = (line) => process.stdout.write(`${line}\n`);

say(`1. Inputs a[${m}, ${k}] and b[${k}, ${n}] (f32, no multiples of any block), and a · b in float64`);
const [a, b] = [nd.random(f32, [m, k], { seed: 1 }), nd.random(f32, [k, n], { seed: 2 })];
const [x, y] = [nd.toNumbers(a), nd.toNumbers(b)];
const product = new Float64Array(m * n);
for (let i = 0; i < m; i++)
  for (let p = 0; p < k; p++) for (let j = 0; j < n; j++) product[i * n + j] += x[i * k + p] * y[p * n + j];
for (const [name, array] of [
  ['a', a],
  ['b', b],
  ['expected', { dtype: f64, shape: [m, n], data: product }],
])
  writeFileSync(file(`${name}.npy`), formatNpy(array));

const tilewright = (...args) => {
  say(`\n$ tilewright ${args.join(' ')}`);
  execFileSync(process.execPath, ['bin/tilewright.js', ...args], { stdio: 'inherit' });
};
say('\n2. The kernel is traced, lowered to MLIR, compiled, run on the files, compared with the reference, and timed');
const atol = (1e-6 * 3 * Math.sqrt(k)).toPrecision(2);
tilewright(
  'run',
  'examples/matmul.kernel.ts',
  '--input',
  `a=@${file('a.npy')}`,
  '--input',
  `b=@${file('b.npy')}`,
  '--output',
  `c=@${file('c.npy')}`,
  '--expect',
  `c=@${file('expected.npy')}`,
  '--atol',
  atol,
  '--time',
  '50',
  '--dump-dir',
  file('stages'),
);

say('\n3. Every stage can be read; each file begins with the command that goes on from it');
for (const name of readdirSync(file('stages')).sort())
  say(`   ${file(join('stages', name))}  ${statSync(file(join('stages', name))).size} bytes`);
say('\ndemo: the result is right');
