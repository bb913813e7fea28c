/** Kernels that are written with Triton's own front end, compiled on the spot, and what they must compute. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../src/drivers/run.js';
import { setTool } from '../../src/drivers/toolchain.js';
import { bf16, type DType, f8e4m3fn, f8e4m3fnuz, f8e5m2, f16, f32, i32 } from '../../src/ir/dtypes.js';
import { codecOf } from '../../src/ir/numerics/formats.js';
import type { Buffers, DeviceArgument, DeviceLaunch } from '../../src/simulator/index.js';

export interface Made {
  readonly text: string;
  readonly threads: number;
  readonly shared: number;
  readonly scratch: readonly [number, number];
}

export interface Case {
  readonly buffers: Buffers;
  /** Buffers by name, integers and floats. */
  readonly arguments: readonly (string | number | { readonly float: number })[];
  readonly grid: readonly [number, number, number];
  /** What the buffers must hold afterwards, and how far off it may be. */
  readonly expected: Readonly<Record<string, readonly number[]>>;
  readonly read: (buffers: Buffers, name: string) => readonly number[];
  readonly tolerance: number;
}

let state = 1;
const random = (): number => {
  state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return (state >>> 0) / 2 ** 31 - 1;
};
const list = (n: number, f: (i: number) => number = () => random()): number[] =>
  Array.from({ length: n }, (_, i) => f(i));
const plain = (buffers: Buffers, name: string): readonly number[] => Array.from(buffers[name] as Float32Array);
const codec = (dtype: DType) => codecOf(dtype);
const halves = (values: readonly number[]): Uint16Array => Uint16Array.from(values, (x) => codec(f16).encode(x, false));
const ofHalves = (codes: Uint16Array): number[] => Array.from(codes, (x) => codec(f16).decode[x]!);
const asHalves = (buffers: Buffers, name: string): readonly number[] => ofHalves(buffers[name] as Uint16Array);
const blocks = (n: number, size: number): number => Math.ceil(n / size);

/** Operands of `matmul` by variant: how a number is stored, and what is read back. */
const elements: Readonly<Record<string, (values: readonly number[]) => readonly [ArrayBufferView, number[]]>> = {
  f16: (v) => [halves(v), ofHalves(halves(v))],
  bf16: (v) => coded(v, bf16, 2),
  f32: (v) => [Float32Array.from(v), v.map(Math.fround)],
  tf32: (v) => [Float32Array.from(v), v.map(Math.fround)],
  f64: (v) => [Float64Array.from(v), [...v]],
  i8: (v) => [Int8Array.from(v, (x) => x * 100), v.map((x) => Math.trunc(x * 100))],
  e4m3: (v) => coded(v, f8e4m3fn, 1),
  e5m2: (v) => coded(v, f8e5m2, 1),
  e4m3fnuz: (v) => coded(v, f8e4m3fnuz, 1),
};
function coded(values: readonly number[], dtype: DType, bytes: 1 | 2): readonly [ArrayBufferView, number[]] {
  const codes = values.map((x) => codec(dtype).encode(x, true));
  return [bytes === 1 ? Uint8Array.from(codes) : Uint16Array.from(codes), codes.map((c) => codec(dtype).decode[c]!)];
}

/** Ragged sizes; loops longer than the pipeline is deep. */
const cases: Readonly<Record<string, (variant: string) => Case>> = {
  vector_add() {
    const n = 1003;
    const [x, y] = [Float32Array.from(list(n)), Float32Array.from(list(n))];
    const z = list(n, (i) => Math.fround(x[i]! + y[i]!));
    const buffers = { x, y, z: new Float32Array(n) };
    return {
      buffers,
      arguments: ['x', 'y', 'z', n],
      grid: [blocks(n, 256), 1, 1],
      expected: { z },
      read: plain,
      tolerance: 0,
    };
  },
  softmax() {
    const [n, rows] = [781, 3];
    const x = Float32Array.from(list(n * rows, () => 8 * random()));
    const y = Array.from({ length: rows }, (_, r) => {
      const row = [...x.slice(r * n, r * n + n)];
      const most = Math.max(...row);
      const e = row.map((v) => Math.exp(v - most));
      const sum = e.reduce((a, b) => a + b, 0);
      return e.map((v) => v / sum);
    }).flat();
    const buffers = { x, y: new Float32Array(n * rows) };
    return { buffers, arguments: ['x', 'y', n], grid: [rows, 1, 1], expected: { y }, read: plain, tolerance: 2e-7 };
  },
  layer_norm() {
    const [n, rows] = [700, 2];
    const [x, w] = [halves(list(n * rows, () => 3 * random())), halves(list(n))];
    const [xs, ws] = [ofHalves(x), ofHalves(w)];
    const y = Array.from({ length: rows }, (_, r) => {
      const row = xs.slice(r * n, r * n + n);
      const mean = row.reduce((a, b) => a + b, 0) / n;
      const variance = row.reduce((a, b) => a + b * b, 0) / n - mean * mean;
      return row.map((v, i) => ((v - mean) / Math.sqrt(variance + 1e-5)) * ws[i]!);
    }).flat();
    const buffers = { x, w, y: new Uint16Array(n * rows) };
    const given = ['x', 'w', 'y', n, { float: 1e-5 }];
    return { buffers, arguments: given, grid: [rows, 1, 1], expected: { y }, read: asHalves, tolerance: 2e-3 };
  },
  histogram() {
    const [n, bins] = [1100, 64];
    const x = Int32Array.from(list(n), (v) => Math.floor((v + 1) * 32) & 63);
    const counts = list(bins, (b) => x.filter((v) => v === b).length);
    const buffers = { x, each: new Int32Array(bins), together: new Int32Array(bins) };
    const expected = { each: counts, together: counts };
    return {
      buffers,
      arguments: ['x', 'each', 'together', n],
      grid: [blocks(n, 512), 1, 1],
      expected,
      read: plain,
      tolerance: 0,
    };
  },
  scan() {
    const n = 500;
    const x = Int32Array.from(list(n, (i) => (i * 37) % 101));
    let sum = 0;
    const y = Array.from(x, (v) => (sum += v));
    return {
      buffers: { x, y: new Int32Array(n) },
      arguments: ['x', 'y', n],
      grid: [1, 1, 1],
      expected: { y },
      read: plain,
      tolerance: 0,
    };
  },
  polynomial() {
    const n = 300;
    const [x, y] = [Float64Array.from(list(n, () => 5 * random())), Float64Array.from(list(n, () => 2 + random()))];
    const z = list(n, (i) => x[i]! * y[i]! + x[i]! / y[i]! - Math.sqrt(y[i]!) + Math.floor(x[i]!));
    const buffers = { x, y, z: new Float64Array(n) };
    return {
      buffers,
      arguments: ['x', 'y', 'z', n],
      grid: [blocks(n, 256), 1, 1],
      expected: { z },
      read: plain,
      tolerance: 1e-14,
    };
  },
  attention() {
    const [s, d, scale] = [128, 32, 0.25];
    const [q, k, v] = [halves(list(s * d)), halves(list(s * d)), halves(list(s * d))];
    const [qs, ks, vs] = [ofHalves(q), ofHalves(k), ofHalves(v)];
    const o = Array.from({ length: s }, (_, i) => {
      const scores = list(s, (j) => list(d, (c) => qs[i * d + c]! * ks[j * d + c]!).reduce((a, b) => a + b, 0) * scale);
      const most = Math.max(...scores);
      const e = scores.map((x) => Math.exp(x - most));
      const sum = e.reduce((a, b) => a + b, 0);
      return list(d, (c) => e.reduce((a, w, j) => a + w * vs[j * d + c]!, 0) / sum);
    }).flat();
    const buffers = { q, k, v, o: new Uint16Array(s * d) };
    const given = ['q', 'k', 'v', 'o', s, { float: scale }];
    return { buffers, arguments: given, grid: [s / 64, 1, 1], expected: { o }, read: asHalves, tolerance: 2e-3 };
  },
  matmul(variant) {
    const [m, n, k] = [72, 40, 144];
    const [[a, as], [b, bs]] = [elements[variant]!(list(m * k)), elements[variant]!(list(k * n))];
    const c = list(m * n, (at) => {
      const [i, j] = [Math.floor(at / n), at % n];
      let sum = 0;
      for (let t = 0; t < k; t++) sum += as[i * k + t]! * bs[t * n + j]!;
      return sum;
    });
    const out =
      variant === 'i8' ? new Int32Array(m * n) : variant === 'f64' ? new Float64Array(m * n) : new Float32Array(m * n);
    const tolerance = { i8: 0, f64: 1e-13, tf32: 2e-2 }[variant] ?? 1e-5;
    const buffers = { a, b, c: out };
    const given = ['a', 'b', 'c', m, n, k];
    return {
      buffers,
      arguments: given,
      grid: [blocks(m, 64), blocks(n, 64), 1],
      expected: { c },
      read: plain,
      tolerance,
    };
  },
};

/** Code of the jobs, each `TARGET:KERNEL[:VARIANT]`, by job. Two processes: each takes a second to start. */
export async function compileReferences(jobs: readonly string[]): Promise<Map<string, Made>> {
  const folder = mkdtempSync(join(tmpdir(), 'tilewright-reference-'));
  try {
    const python = await setTool('python', ['triton']);
    const script = fileURLToPath(new URL('triton_reference.py', import.meta.url));
    const parts = [0, 1].map((p) => jobs.filter((_, i) => i % 2 === p)).filter((part) => part.length > 0);
    const outcomes = await Promise.all(parts.map((part) => run('python', python!, ['-B', script, folder, ...part])));
    const made = new Map<string, Made>();
    for (const { ok, stdout, stderr } of outcomes) {
      if (!ok) throw new Error(stderr);
      for (const line of Buffer.from(stdout).toString().trim().split('\n')) {
        const { what, file, ...rest } = JSON.parse(line) as Omit<Made, 'text'> & { what: string; file: string };
        made.set(what, { ...rest, text: readFileSync(join(folder, file), 'utf8') });
      }
    }
    return made;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A job made ready to run: its memory is new for each call. */
export function prepare(job: string, { threads, shared, scratch }: Made) {
  const [target, name, variant = 'plain'] = job.split(':') as [string, string, string?];
  const { buffers, grid, expected, read, tolerance, ...given } = cases[name]!(variant);
  const programs = grid[0] * grid[1] * grid[2];
  const memory: Record<string, ArrayBufferView> = { ...buffers };
  const scratchArguments = scratch.map((bytes, i): DeviceArgument => {
    if (bytes === 0) return { kind: 'null' };
    memory[`scratch ${i}`] = new Uint8Array(bytes * programs);
    return { kind: 'buffer', name: `scratch ${i}` };
  });
  const argument = (a: Case['arguments'][number]): DeviceArgument => {
    if (typeof a === 'string') return { kind: 'buffer', name: a };
    return typeof a === 'number'
      ? { kind: 'scalar', dtype: i32, value: a }
      : { kind: 'scalar', dtype: f32, value: a.float };
  };
  const launch: DeviceLaunch = {
    grid,
    block: [threads, 1, 1],
    sharedBytes: shared,
    arguments: [...given.arguments.map(argument), ...scratchArguments],
  };
  /** The first element that is wrong, in words. */
  const wrong = (): string | undefined => {
    for (const [buffer, want] of Object.entries(expected)) {
      const got = read(memory, buffer);
      const at = got.findIndex((x, i) => !(Math.abs(x - want[i]!) <= tolerance * Math.max(1, Math.abs(want[i]!))));
      if (at >= 0) return `${buffer}[${at}] is ${got[at]}, expected ${want[at]}`;
    }
    return undefined;
  };
  return { target, variant, launch, memory, wrong };
}
