/**
 * `npm run bench:cpu`: example kernels on this machine's CPU against NumPy and JAX, 1 and 2 threads, all sides in one
 * interleaved run. Needs the tool sets `mlir` and `test`.
 */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { loadKernels } from '../dist/api/loader.js';
import { withTimedRun } from '../dist/api/run.js';
import { assetPath } from '../dist/drivers/assets.js';
import { setFolder } from '../dist/drivers/toolchain.js';
import { f32 } from '../dist/ir/dtypes.js';
import { nd } from '../dist/testing/index.js';
import { print, row, writeJson } from './table.js';

/** Milliseconds between sides: the workers of OpenBLAS and XLA spin for a while after a call and would slow who is next. */
const rest = 100;
const rounds = Number(process.env.ROUNDS ?? 9);
const example = async (name) => [...(await loadKernels(assetPath(`examples/${name}.kernel.ts`))).kernels.values()][0];
const random = (shape, seed) => nd.random(f32, shape, { seed });

const cases = {
  add: {
    kernel: (await example('vector-add')).with({ block: 8192 }),
    given: () => ({ x: random([1 << 24], 1), y: random([1 << 24], 2) }),
    work: 12 * (1 << 24),
    unit: 'GB/s',
  },
  softmax: {
    kernel: await example('softmax'),
    given: () => ({ x: random([4096, 1024], 3) }),
    work: 8 * 4096 * 1024,
    unit: 'GB/s',
  },
  matmul: {
    kernel: await example('matmul'),
    given: () => ({ a: random([1024, 1024], 4), b: random([1024, 1024], 5) }),
    work: 2 * 1024 ** 3,
    unit: 'GFLOP/s',
  },
  attention: {
    kernel: await example('flash-attention'),
    given: () => ({
      q: random([1, 1024, 64], 6),
      k: random([1, 1024, 64], 7),
      v: random([1, 1024, 64], 8),
      scale: 0.125,
    }),
    work: 4 * 1024 * 1024 * 64,
    unit: 'GFLOP/s',
  },
};

/** A Python process that times NumPy and JAX on request. */
async function openPeers(threads) {
  const { OPENBLAS_CORETYPE, OPENBLAS_L2_SIZE, ...env } = process.env; // let NumPy choose its own kernels
  const site = await setFolder('test');
  if (!existsSync(site)) throw new Error("tool set 'test' is not installed: tilewright toolchain install test");
  const pinned = threads === 1 ? ['taskset', '-c', '0'] : [];
  const [command, ...args] = [...pinned, 'python3', assetPath('bench/peers.py')];
  const child = spawn(command, args, {
    env: {
      ...env,
      PYTHONPATH: site,
      OMP_NUM_THREADS: `${threads}`,
      OPENBLAS_NUM_THREADS: `${threads}`,
      JAX_PLATFORMS: 'cpu',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    async time(side, name, count) {
      child.stdin.write(`${side} ${name} ${count}\n`);
      return (await lines.next()).value.split(' ').map(Number);
    },
    close: () => child.stdin.end(),
  };
}

const only = process.argv
  .find((a) => a.startsWith('--only='))
  ?.slice(7)
  .split(',');
const rows = [];
for (const threads of [1, 2]) {
  const peers = await openPeers(threads);
  for (const [name, { kernel, given }] of Object.entries(cases)) {
    if (only && !only.includes(name)) continue;
    const sides = { ours: [], numpy: [], jax: [] };
    await withTimedRun(kernel, given(), { threads }, async (time) => {
      await time(3);
      for (let round = 0; round < rounds; round++) {
        await setTimeout(rest);
        sides.ours.push(Math.min(...(await time(4))));
        // JAX allocates its result on each call; where that is most of the work the comparison is with NumPy in place.
        for (const side of name === 'add' ? ['numpy'] : ['numpy', 'jax']) {
          await setTimeout(rest);
          sides[side].push(Math.min(...(await peers.time(side, name, 4))));
        }
      }
    });
    const { ours, ...others } = sides;
    rows.push(
      row(`${name}/${threads}t`, ours, Object.fromEntries(Object.entries(others).filter(([, t]) => t.length > 0))),
    );
  }
  peers.close();
}
print(rows, (name, ns) => {
  const { work, unit } = cases[name.split('/')[0]];
  return `${(work / ns).toFixed(1)} ${unit}`;
});
writeJson(rows);
