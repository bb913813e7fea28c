/**
 * `npm run test:matrix`: every example and kernel, in every dtype that it takes of f32, f16 and bf16, compiled for every GPU
 * target. Prints a table and ends with `N passed, N failed`; `-- --json FILE` writes the rows, `-- --targets A,B` chooses.
 */

import { readdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compile } from '../dist/api/compile.js';
import { loadKernels } from '../dist/api/loader.js';
import { withTritonWorker } from '../dist/drivers/triton/worker.js';
import { dtypes as dtypesByName } from '../dist/ir/dtypes.js';
import { gpuTargets } from '../dist/lowering/gpu-target.js';
import { describeResources } from '../dist/lowering/resource-bill.js';

const { values } = parseArgs({
  options: { json: { type: 'string' }, targets: { type: 'string' }, files: { type: 'string' } },
});
const targets = values.targets?.split(',') ?? gpuTargets.map((t) => t.name);
const files =
  values.files?.split(',') ??
  ['examples', 'kernels'].flatMap((folder) =>
    readdirSync(folder)
      .filter((f) => f.endsWith('.kernel.ts'))
      .map((f) => `${folder}/${f}`),
  );
const floats = ['f32', 'f16', 'bf16'].map((name) => Object.values(dtypesByName).find((d) => d.name === name));

/** A kernel in each of the dtypes; once where it has no such parameter. */
function variantsOf(kernel) {
  const allowed = kernel.params.dtype?.values;
  if (!allowed) return [['', kernel]];
  return floats.filter((d) => allowed.includes(d)).map((dtype) => [dtype.name, kernel.with({ dtype })]);
}

const rows = [];
await withTritonWorker({}, async (worker) => {
  for (const file of files) {
    for (const [name, kernel] of (await loadKernels(file)).kernels)
      for (const [dtype, variant] of variantsOf(kernel))
        rows.push(
          ...(await Promise.all(
            targets.map((target) => compileOne(`${file.split('/')[0]}/${name}`, dtype, variant, target, worker)),
          )),
        );
  }
});

async function compileOne(name, dtype, kernel, target, worker) {
  const started = performance.now();
  const row = { name, dtype, target };
  try {
    const { launches } = await compile(kernel, { target, worker });
    const facts = gpuTargets.find((t) => t.name === target);
    const note = launches.map((l) => describeResources(l.resources, facts)).join('; ');
    const spills = launches.some((l) => l.resources.spills > 0);
    return report({ ...row, pass: true, spills, resources: launches.map((l) => l.resources) }, note, started);
  } catch (error) {
    if (!error.diagnostics) throw error;
    const [{ code, message }] = error.diagnostics;
    return report({ ...row, pass: false, code, message }, `${code} ${message}`, started);
  }
}

function report(row, note, started) {
  const ms = Math.round(performance.now() - started);
  const state = row.pass ? 'ok    ' : 'FAILED';
  console.log(
    `${state} ${row.name.padEnd(28)} ${row.dtype.padEnd(5)} ${row.target.padEnd(8)} ${String(ms).padStart(6)} ms  ${note}`,
  );
  return { ...row, ms };
}

if (values.json) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
const failed = rows.filter((r) => !r.pass).length;
console.log(`${rows.length - failed} passed, ${failed} failed, ${rows.filter((r) => r.spills).length} with spills`);
process.exitCode = failed > 0 ? 1 : 0;
