/**
 * `npm run bench:sim`: the simulator, once warm: lane-instructions a second of arithmetic code, a matrix product by
 * tensor cores, and what the checks add.
 */

import { compile } from '../dist/api/compile.js';
import { loadKernels } from '../dist/api/loader.js';
import { simulateSource } from '../dist/api/simulate.js';
import { f16 } from '../dist/ir/dtypes.js';
import { loadPtx, simulateCode } from '../dist/simulator/index.js';
import { nd } from '../dist/testing/index.js';
import { median } from './table.js';

const rounds = Number(process.env.ROUNDS ?? 5);

/** A loop of dependent arithmetic: 32 instructions in each of 2000 turns, 16 warps. */
const arithmetic = `.version 8.8
.target sm_80
.visible .entry k(.param .u64 out)
{
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %d<4>;
ld.param.u64 %d0, [out];
mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F800001; mov.u32 %r2, 0;
LOOP:
${'fma.rn.f32 %f1, %f1, %f2, %f2; add.s32 %r1, %r1, %r2; xor.b32 %r1, %r1, 12345; mul.f32 %f3, %f1, %f2;\n'.repeat(8)}
add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2000; @%p1 bra LOOP;
cvt.u64.u32 %d1, %r2; st.global.f32 [%d0], %f3;
ret;
}`;

function milliseconds(work) {
  const start = performance.now();
  const result = work();
  return { ms: performance.now() - start, result };
}

const loaded = loadPtx(arithmetic);
const launch = { grid: [4, 1, 1], block: [128, 1, 1], arguments: [{ kind: 'buffer', name: 'out' }] };
const rates = [];
for (let round = 0; round <= rounds; round++) {
  const { ms, result } = milliseconds(() =>
    simulateCode(loaded, launch, { out: new Float32Array(4) }, { checks: false }),
  );
  if (round > 0) rates.push(result.laneInstructions / ms / 1e3);
}

const [matmul] = [...(await loadKernels('examples/matmul.kernel.ts')).kernels.values()];
const inputs = { a: nd.random(f16, [512, 512], { seed: 1 }), b: nd.random(f16, [512, 512], { seed: 2 }) };
const kernel = matmul.with({ dtype: f16 });
const options = { target: 'sm_90a' };
await compile(kernel, { ...options, emit: ['ptx', 'plan.json'] });
const times = { plain: [], checked: [] };
for (let round = 0; round <= rounds; round++)
  for (const [name, list] of Object.entries(times)) {
    const start = performance.now();
    await simulateSource(kernel, inputs, { ...options, checks: name === 'checked' });
    if (round > 0) list.push(performance.now() - start);
  }

const spread = (list, digits = 0) => `${Math.min(...list).toFixed(digits)} … ${Math.max(...list).toFixed(digits)}`;
const ratio = times.checked.map((t, i) => t / times.plain[i]);
process.stdout.write(`| what, median of ${rounds}, warm | value | smallest … largest | goal / floor |
|---|---|---|---|
| arithmetic, M lane-instructions a second | ${median(rates).toFixed(0)} | ${spread(rates)} | 100 / 40 |
| matmul 512^3 f16 on sm_90a, without checks, build from the cache included | ${median(times.plain).toFixed(0)} ms | ${spread(times.plain)} ms | 1000 / 2000 ms |
| the same with checks | ${median(times.checked).toFixed(0)} ms | ${spread(times.checked)} ms | |
| checks by without | ${median(ratio).toFixed(2)} | ${spread(ratio, 2)} | 2 |
`);
