// What a program does with tilewright/runtime, told as lines of JSON: runtime.mjs FOLDER TARGET
import { join } from 'node:path';
import { load, openDevice } from 'tilewright/runtime';

const [folder, target] = process.argv.slice(2);
const say = (what, value) => console.log(JSON.stringify([what, value]));
const attempt = async (what, work) => {
  try {
    say(what, (await work()) ?? 'done');
  } catch (error) {
    say(what, `${error.name} ${error.status}: ${error.message}`);
  }
};

const plan = join(folder, `layer_norm.${target}.plan.json`);
const [m, n, eps] = [2, 4, 1e-5];
const x = Float32Array.of(1, 2, 3, 4, 2, 4, 6, 8);
const [w, b, y] = [new Float32Array(4).fill(1), new Float32Array(4), new Float32Array(8)];

await attempt('missing plan', () => load(join(folder, 'none.plan.json')).catch((e) => e.status));
await attempt('missing library', () => load(plan, { library: join(folder, 'none.so') }).catch((e) => e.status));
await attempt('load', async () => {
  const norm = await load(plan);
  say('kernel', [norm.name, norm.target]);
  let args = { x, w, b, y, eps, m, n };
  if (target !== 'cpu') {
    const device = await openDevice(target.startsWith('sm_') ? 'cuda' : 'hip');
    const [dx, dw, db, dy] = [device.upload(x), device.upload(w), device.upload(b), device.alloc(y.byteLength)];
    args = { ...args, x: dx, w: dw, b: db, y: dy };
    const stream = device.stream();
    const [start, end] = [device.event(), device.event()];
    start.record(stream);
    norm.launch(args, { stream });
    end.record(stream);
    end.synchronize();
    say('milliseconds', end.since(start));
    stream.synchronize();
    say('back', Array.from(dx.read(new Float32Array(8))));
    await attempt('too large', () => dx.write(new Float32Array(9)));
    await attempt('host memory', () => norm.launch({ ...args, x }));
  } else {
    norm.launch(args);
    say(
      'values',
      Array.from(y, (v) => Math.round(v * 1e4) / 1e4),
    );
    await attempt('misaligned', () => norm.launch({ ...args, x: new Uint8Array(new ArrayBuffer(64), 1, 32) }));
  }
  await attempt('missing argument', () => norm.launch({ ...args, w: undefined }));
  await attempt('unknown argument', () => norm.launch({ ...args, z: 1 }));
  await attempt('too short', () => norm.launch({ ...args, m: 3 }));
  await attempt('promise', () => norm.launch({ ...args, m: 0, n: 2000, w: args.x, b: args.x }));
  await attempt('wrong kind', () => norm.launch({ ...args, n: 1.5 }));
  await attempt('empty', () => norm.launch({ ...args, m: 0 }));
  norm.unload();
  norm.launch(args);
});
