/**
 * `npm run bench:cpu [-- --only=NAME,…] [--json FILE]`: the corpus on this machine's CPU against NumPy and JAX, 1 and 2
 * threads, all sides in one interleaved run. Needs the tool sets `mlir` and `test`.
 */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { withTimedRun } from '../dist/api/run.js';
import { assetPath } from '../dist/drivers/assets.js';
import { setFolder } from '../dist/drivers/toolchain.js';
import { cases } from './cpu-cases.js';
import { geometricMean, print, row, writeJson } from './table.js';

/** Milliseconds between sides: the workers of OpenBLAS and XLA spin for a while after a call and would slow who is next. */
const rest = 100;
const rounds = Number(process.env.ROUNDS ?? 9);

/** A Python process that times NumPy and JAX on request. */
async function openPeers(threads) {
  const { OPENBLAS_CORETYPE, OPENBLAS_L2_SIZE, ...env } = process.env; // let NumPy choose its own kernels
  const site = await setFolder('test');
  if (!existsSync(site)) throw new Error("tool set 'test' is not installed: tilewright toolchain install test");
  const pinned = threads === 1 ? ['taskset', '-c', '0'] : [];
  const [command, ...args] = [...pinned, 'python3', assetPath('bench/peers/main.py')];
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
const unknown = only?.find((name) => !(name in cases));
if (unknown !== undefined) {
  process.stderr.write(`no case '${unknown}': ${Object.keys(cases).join(', ')}\n`);
  process.exit(2);
}
const rows = [];
for (const threads of [1, 2]) {
  const peers = await openPeers(threads);
  for (const [name, { kernel, given, sides: others = ['numpy', 'jax'] }] of Object.entries(cases)) {
    if (only && !only.includes(name)) continue;
    const ours = [];
    const theirs = Object.fromEntries(others.map((side) => [side, []]));
    await withTimedRun(kernel, given(), { threads }, async (time) => {
      await time(3);
      for (let round = 0; round < rounds; round++) {
        await setTimeout(rest);
        ours.push(Math.min(...(await time(4))));
        for (const side of others) {
          await setTimeout(rest);
          theirs[side].push(Math.min(...(await peers.time(side, name, 4))));
        }
      }
    });
    rows.push(row(`${name}/${threads}t`, ours, theirs));
  }
  peers.close();
}
print(rows, (name, ns) => {
  const { work, unit } = cases[name.split('/')[0]];
  return `${(work / ns).toFixed(1)} ${unit}`;
});
for (const threads of [1, 2]) {
  const all = rows.filter((r) => r.name.endsWith(`/${threads}t`));
  const others = all.filter((r) => !cases[r.name.split('/')[0]].products);
  const mean = (some) => (some.length ? geometricMean(some.map((r) => r.ratio)).toFixed(2) : 'none');
  const [worst] = [...all].sort((a, b) => a.ratio - b.ratio);
  process.stdout.write(
    `${threads} thread(s), geometric means of the ratios: ${mean(others)} without matrix products, ${mean(all)} over all rows; least ${worst.ratio.toFixed(2)} (${worst.name})\n`,
  );
}
writeJson(rows);
