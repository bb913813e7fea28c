// Launches a built kernel from Node: `node main.mjs build` on the CPU, `node main.mjs build sm_90a` on a GPU.
// Needs the packages tilewright and koffi, and no compiler.
import { join } from 'node:path';
import { load, openDevice } from 'tilewright/runtime';

const [folder = 'build', target = 'cpu'] = process.argv.slice(2);
const n = 100_000;
const x = Float32Array.from({ length: n }, (_, i) => i);
const y = Float32Array.from({ length: n }, (_, i) => i / 2);
const z = new Float32Array(n);

if (target === 'cpu') {
  const add = await load(join(folder, 'vector_add.cpu.plan.json'));
  add.launch({ x, y, z, n });
} else {
  const device = await openDevice(target.startsWith('sm_') ? 'cuda' : 'hip');
  const add = await load(join(folder, `vector_add.${target}.plan.json`));
  const [dx, dy, dz] = [device.upload(x), device.upload(y), device.alloc(z.byteLength)];
  const stream = device.stream();
  add.launch({ x: dx, y: dy, z: dz, n }, { stream });
  stream.synchronize();
  dz.read(z);
  for (const buffer of [dx, dy, dz]) buffer.free();
  stream.destroy();
}

const wrong = z.findIndex((value, i) => value !== x[i] + y[i]);
if (wrong >= 0) throw new Error(`z[${wrong}] is ${z[wrong]}, not ${x[wrong] + y[wrong]}`);
console.log(`vector_add: ${n} elements are right`);
