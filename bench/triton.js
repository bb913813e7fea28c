/**
 * `npm run bench:triton`: our kernels through Triton IR text against the same kernels as `@triton.jit` functions: number of
 * instructions and registers for sm_90 and gfx942, and the time to get there. Needs the tool set `triton`, and no GPU.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../dist/api/compile.js';
import { loadKernels } from '../dist/api/loader.js';
import { assetPath } from '../dist/drivers/assets.js';
import { setTool } from '../dist/drivers/toolchain.js';
import { withTritonWorker } from '../dist/drivers/triton/worker.js';
import { median, writeJson } from './table.js';

const rounds = Number(process.env.ROUNDS ?? 5);
const targets = ['sm_90', 'gfx942'];
const python = await setTool('python', ['triton']);
const nvdisasm = await setTool('nvdisasm', ['triton']);
if (!python) throw new Error("tool set 'triton' is not installed: tilewright toolchain install triton");
const folder = mkdtempSync(join(tmpdir(), 'tilewright-bench-'));
const rows = [];

/** Instructions of machine code, without the padding behind it. */
function countInstructions(path) {
  if (!path.endsWith('.cubin'))
    return readFileSync(path, 'utf8')
      .split('s_endpgm')[0]
      .match(/^\t[a-z]\w+/gm).length;
  const listing = execFileSync(nvdisasm, ['-c', path], { encoding: 'utf8' });
  const all = [...listing.matchAll(/\/\*[0-9a-f]{4,}\*\/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)/g)];
  return all.filter(([, name]) => name !== 'NOP').length;
}

function countRegisters(path) {
  if (!path.endsWith('.cubin')) return Number(/\.vgpr_count:\s+(\d+)/.exec(readFileSync(path, 'utf8'))[1]);
  const usage = execFileSync(nvdisasm.replace('nvdisasm', 'cuobjdump'), ['-res-usage', path], { encoding: 'utf8' });
  return Number(/REG:(\d+)/.exec(usage)[1]);
}

/** Both sides in machine code: ours with `fast`, ours as it means by default, Triton's. */
async function compareCode(worker) {
  const { kernels } = await loadKernels(assetPath('bench/triton.kernel.ts'));
  for (const target of targets) {
    const stage = target === 'sm_90' ? 'cubin' : 'amdgcn';
    for (const kernel of kernels.values()) {
      execFileSync(python, [assetPath('bench/triton_peers.py'), kernel.name, target, folder], { stdio: 'pipe' });
      const peer = join(folder, `${kernel.name}.${stage}`);
      const ours = async (fast) => {
        const { artifacts } = await compile(kernel.with({ fast }), { target, emit: [stage], worker, cache: false });
        const path = join(folder, `ours-${kernel.name}.${stage}`);
        writeFileSync(path, artifacts.get(stage));
        return [countInstructions(path), countRegisters(path)];
      };
      const [strict] = await ours(false);
      const [fast, registers] = await ours(true);
      const name = `${kernel.name}/${target}`;
      const row = (metric, mine, theirs) =>
        rows.push({ name, metric, ours: mine, peer: theirs, peerName: 'triton.jit', unit: '', spread: [1, 1] });
      row('instructions', fast, countInstructions(peer));
      row('registers', registers, countRegisters(peer));
      row('instructions-default', strict, countInstructions(peer));
    }
  }
}

const timed = (command, args) => {
  const started = performance.now();
  execFileSync(command, args, { stdio: 'pipe' });
  return performance.now() - started;
};

/** Whole processes, in turn: from a kernel file to a cubin, and Triton's public `compile`. */
function compareTimes() {
  const ours = (...more) => [
    process.execPath,
    ['bin/tilewright.js', 'build', 'examples/vector-add.kernel.ts', '-o', `${folder}/`, ...more],
  ];
  const cases = {
    'cold process': ours('--target', 'sm_90', '--no-cache'),
    'cold process, three targets': ours('--target', 'sm_80,sm_90,gfx942', '--no-cache'),
    cached: ours('--target', 'sm_90', '--cache-dir', join(folder, 'cache')),
  };
  timed(...cases.cached);
  const times = { 'triton.compile': [], ...Object.fromEntries(Object.keys(cases).map((name) => [name, []])) };
  for (let i = 0; i < rounds; i++) {
    const cache = mkdtempSync(join(folder, 'peer-'));
    times['triton.compile'].push(timed(python, ['bench/triton_peers.py', 'vector_add', 'sm_90', cache]));
    for (const [name, [command, args]] of Object.entries(cases)) times[name].push(timed(command, args));
  }
  const peer = median(times['triton.compile']);
  for (const name of Object.keys(cases)) {
    const ratios = times[name].map((t, i) => t / times['triton.compile'][i]);
    const spread = [Math.min(...ratios), Math.max(...ratios)];
    const mine = median(times[name]);
    rows.push({
      name: `vector-add, ${name}`,
      metric: 'time',
      ours: mine,
      peer,
      peerName: 'triton.compile',
      unit: 'ms',
      spread,
    });
  }
}

/** A small kernel through a worker that is there already. */
async function timeWarm(worker) {
  const { kernels } = await loadKernels(assetPath('examples/vector-add.kernel.ts'));
  const [kernel] = kernels.values();
  const times = [];
  for (let i = 0; i < rounds + 1; i++) {
    const started = performance.now();
    await compile(kernel, { target: 'sm_90', worker, cache: false });
    times.push(performance.now() - started);
  }
  console.log(`\nvector-add through a worker that runs: ${median(times.slice(1)).toFixed(0)} ms (goal 200 ms)`);
}

function print(metrics, digits) {
  console.log(`\n| case | metric | ours | ${rows[0].peerName} | ours / theirs |\n|---|---|---|---|---|`);
  for (const { name, metric, ours, peer } of rows.filter((r) => metrics.includes(r.metric)))
    console.log(
      `| ${name} | ${metric} | ${ours.toFixed(digits)} | ${peer.toFixed(digits)} | ${(ours / peer).toFixed(2)} |`,
    );
  for (const target of targets)
    for (const metric of metrics) {
      const ratios = rows
        .filter((r) => r.metric === metric && r.name.endsWith(`/${target}`))
        .map((r) => r.ours / r.peer);
      if (ratios.length === 0) continue;
      const mean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
      console.log(`${target}, ${metric}: geometric mean ${mean.toFixed(3)}, most ${Math.max(...ratios).toFixed(2)}`);
    }
}

try {
  await withTritonWorker({}, async (worker) => {
    await compareCode(worker);
    print(['instructions', 'registers'], 0);
    print(['instructions-default'], 0);
    await timeWarm(worker);
  });
  compareTimes();
  print(['time'], 0);
  writeJson(rows);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
