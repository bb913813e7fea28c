/** Matrix instructions: MFMA of CDNA and WMMA of RDNA. EXEC does not matter to them. */

import { brainValues, halfValues } from '../../formats.js';
import {
  type Form,
  type InstructionEntry,
  type InstructionTable,
  numberIn,
  placeOf,
  type Scope,
  type WaveFunction,
} from '../instruction.js';
import type { AmdTarget, Constant, Operand } from '../module.js';
import { eightBits } from '../numbers.js';
import { unsupported } from '../unsupported.js';
import type { Wave } from '../wave.js';

type Element = 'f16' | 'bf16' | 'f32' | 'xf32' | 'f64' | 'i8' | 'u8' | 'fp8' | 'bf8';
const bytesOf: Readonly<Record<Element, number>> = {
  f16: 2,
  bf16: 2,
  f32: 4,
  xf32: 4,
  f64: 8,
  i8: 1,
  u8: 1,
  fp8: 1,
  bf8: 1,
};

const signedBytes = Float32Array.from({ length: 256 }, (_, i) => (i << 24) >> 24);
const unsignedBytes = Float32Array.from({ length: 256 }, (_, i) => i);
function valuesOf(element: Element, target: AmdTarget): Float32Array | undefined {
  switch (element) {
    case 'f16':
      return halfValues;
    case 'bf16':
      return brainValues;
    case 'i8':
      return signedBytes;
    case 'u8':
      return unsignedBytes;
    case 'fp8':
    case 'bf8':
      return eightBits[target.fp8][element].values;
    default:
      return undefined;
  }
}

/** Element `j` of the registers that begin at `at`, in a lane. */
function elementAt(
  wave: Wave,
  at: number,
  j: number,
  lane: number,
  element: Element,
  values: Float32Array | undefined,
): number {
  const bytes = bytesOf[element];
  if (element === 'f64') {
    pair[0] = wave.vector[at + 128 * j + lane]!;
    pair[1] = wave.vector[at + 128 * j + 64 + lane]!;
    return double[0]!;
  }
  if (!values) {
    const x = wave.floats[at + 64 * j + lane]!;
    return element === 'xf32' ? reduced(x) : x;
  }
  const word = wave.vector[at + 64 * Math.floor((j * bytes) / 4) + lane]!;
  return values[(word >>> (8 * ((j * bytes) & 3))) & (bytes === 2 ? 0xffff : 0xff)]!;
}
const double = new Float64Array(1);
const pair = new Int32Array(double.buffer);
const single = new Float32Array(1);
const singleBits = new Int32Array(single.buffer);
/** The reduced f32 of `xf32`: 10 bits of mantissa, rounded to even. */
function reduced(x: number): number {
  if (!Number.isFinite(x)) return x;
  single[0] = x;
  const bits = singleBits[0]!;
  singleBits[0] = (bits + 0xfff + ((bits >>> 13) & 1)) & ~0x1fff;
  return single[0]!;
}

type Load = (wave: Wave, at: number, out: Float64Array) => void;

/** Reads the elements of all lanes from the registers that begin at `at`; `place` says where each belongs. */
function loader(
  element: Element,
  target: AmdTarget,
  lanes: number,
  perLane: number,
  place: (lane: number, j: number) => number,
): Load {
  const to = Int32Array.from({ length: lanes * perLane }, (_, n) => place(Math.floor(n / perLane), n % perLane));
  const values = valuesOf(element, target);
  if (!values)
    return (wave, at, out) => {
      for (let n = 0; n < to.length; n++)
        out[to[n]!] = elementAt(wave, at, n % perLane, Math.floor(n / perLane), element, undefined);
    };
  const bits = 8 * bytesOf[element];
  const perWord = 32 / bits;
  const mask = 2 ** bits - 1;
  return ({ vector }, at, out) => {
    let n = 0;
    for (let l = 0; l < lanes; l++)
      for (let j = 0; j < perLane; j += perWord) {
        const word = vector[at + 64 * (j / perWord) + l]!;
        for (let e = 0; e < perWord; e++) out[to[n++]!] = values[(word >>> (bits * e)) & mask]!;
      }
  };
}

/** Adds to each sum the product of a row of A and a column of B, which begin where `rows` and `columns` say. */
function addProducts(
  sums: Float64Array,
  A: Float64Array,
  B: Float64Array,
  rows: Int32Array,
  columns: Int32Array,
  depth: number,
): void {
  for (let n = 0; n < sums.length; n++) {
    const [x, y] = [rows[n]!, columns[n]!];
    let sum = sums[n]!;
    for (let k = 0; k < depth; k++) sum += A[x + k]! * B[y + k]!;
    sums[n] = sum;
  }
}

interface Product {
  readonly rows: number;
  readonly depth: number;
  /** Blocks that are multiplied side by side. */
  readonly blocks: number;
  readonly a: Element;
  readonly b: Element;
  readonly result: 'f32' | 'i32' | 'f64';
}

const constantOf = (c: Operand, result: Product['result']): number => {
  const { float, value } = c as Constant;
  return float ?? (result === 'i32' ? Number(BigInt.asIntN(32, value)) : Number(value));
};

/**
 * A of lane l: row l % N of its block, and elements of k by l / N. B likewise by column. C and D: column l % N; rows go
 * in groups of four over registers and parts of the wave.
 */
function multiply(
  { instruction: i, target }: Scope,
  { rows: N, depth: K, blocks, a: ta, b: tb, result }: Product,
): WaveFunction {
  const perLane = (N * K * blocks) / 64;
  const [d, a, b, c] = i.operands as [Operand, Operand, Operand, Operand];
  const wide = result === 'f64' ? 2 : 1;
  const registersOfResult = (N * N * blocks) / 64;
  const [ra, rb, rd] = [placeOf(i, a), placeOf(i, b), placeOf(i, d)];
  const rc = c.kind === 'constant' ? -1 : placeOf(i, c);
  const start = c.kind === 'constant' ? constantOf(c, result) : 0;
  const [A, B] = [new Float64Array(N * K * blocks), new Float64Array(N * K * blocks)];
  const lanesOfBlock = 64 / blocks;
  const place = (l: number, j: number): number => {
    const block = Math.floor(l / lanesOfBlock);
    const within = l % lanesOfBlock;
    return (block * N + (within % N)) * K + perLane * Math.floor(within / N) + j;
  };
  const [loadA, loadB] = [loader(ta, target, 64, perLane, place), loader(tb, target, 64, perLane, place)];
  // Which row and block a register of a lane holds.
  const groups = 64 / N;
  const placeOfResult = (r: number, l: number): readonly [block: number, row: number] => {
    if (blocks > 1 && N === 4) return [Math.floor(l / 4), r];
    const part = Math.floor(l / N);
    if (result === 'f64') return [0, groups * r + part];
    const row = 4 * groups * Math.floor(r / 4) + 4 * part + (r % 4);
    return [Math.floor(row / N), row % N];
  };
  const sums = new Float64Array(64 * registersOfResult);
  const [rows, columns] = [new Int32Array(sums.length), new Int32Array(sums.length)];
  for (let n = 0; n < sums.length; n++) {
    const [block, row] = placeOfResult(n >> 6, n & 63);
    rows[n] = (block * N + row) * K;
    columns[n] = (block * N + ((n & 63) % N)) * K;
  }
  return (wave) => {
    loadA(wave, ra, A);
    loadB(wave, rb, B);
    wave.group.launch.products += N * N * K * blocks;
    const file = result === 'i32' ? wave.vector : wave.floats;
    for (let n = 0; n < sums.length; n++) {
      if (rc < 0) sums[n] = start;
      else sums[n] = wide === 2 ? elementAt(wave, rc, n >> 6, n & 63, 'f64', undefined) : file[rc + n]!;
    }
    addProducts(sums, A, B, rows, columns, K);
    for (let n = 0; n < sums.length; n++) {
      if (wide === 1) file[rd + n] = sums[n]!;
      else {
        const at = rd + 128 * (n >> 6) + (n & 63);
        double[0] = sums[n]!;
        wave.vector[at] = pair[0]!;
        wave.vector[at + 64] = pair[1]!;
      }
    }
  };
}

const registersOf = (elements: number, bytes: number): number => Math.max(1, (elements * bytes) / 4);
/** Modifiers that broadcast or permute blocks are not modelled: they are refused. */
function mfma(product: Product): InstructionEntry {
  const { rows, depth, blocks, a, b, result } = product;
  const elements = (rows * depth * blocks) / 64;
  const out = ((rows * rows * blocks) / 64) * (result === 'f64' ? 2 : 1);
  return {
    doc: `D = A B + C, ${rows}x${rows}x${depth}${blocks > 1 ? ` in ${blocks} blocks` : ''}`,
    operands: [
      `V${out}` as Form,
      `r${registersOf(elements, bytesOf[a])}` as Form,
      `r${registersOf(elements, bytesOf[b])}` as Form,
      `v${out}` as Form,
    ],
    wave: (scope) => multiply(scope, product),
  };
}
const product = (
  rows: number,
  depth: number,
  a: Element,
  { b = a, result = 'f32', blocks = 1 }: { b?: Element; result?: Product['result']; blocks?: number } = {},
): InstructionEntry => mfma({ rows, depth, blocks, a, b, result });

const eight = ['fp8', 'bf8'] as const;
/** A and B of 8 bits each, their formats chosen by `cbsz` and `blgp`. */
const chosen = (rows: number, depth: number): InstructionEntry => {
  const { doc, operands } = product(rows, depth, 'fp8');
  return {
    doc,
    operands: operands!,
    modifiers: ['cbsz', 'blgp'],
    wave: (scope) => {
      const element = (name: string): Element =>
        eight[numberIn(scope.instruction, name)] ?? unsupported(scope.instruction, `the format ${name}`);
      return multiply(scope, { rows, depth, blocks: 1, a: element('cbsz'), b: element('blgp'), result: 'f32' });
    },
  };
};

/**
 * WMMA of 16x16x16 on 32 lanes. gfx11: both halves of the wave hold all of A and B, and D of row 2r + half. gfx12: the
 * halves hold 8 elements of k each, and D of row 8 half + r.
 */
function wmma(a: Element, result: 'f32' | 'i32' | 'f16' | 'bf16', b: Element = a): InstructionEntry {
  return {
    doc: 'D = A B + C, 16x16x16',
    modifiers: result === 'i32' ? ['neg_lo', 'neg_hi', 'clamp'] : [],
    uses: (i) => {
      const [d, ...rest] = i.operands.map(registersOfOperand);
      return { reads: rest.flat(), writes: d ?? [] };
    },
    wave: ({ instruction: i, target }) => {
      const late = target.generation === 12;
      const [d, oa, ob, c] = i.operands as [Operand, Operand, Operand, Operand];
      // Integers say by neg_lo whether A and B are signed.
      const signs = i.modifiers.neg_lo;
      const elementOf = (e: Element, n: number): Element =>
        result !== 'i32' ? e : Array.isArray(signs) && signs[n] === 1 ? 'i8' : 'u8';
      const [ta, tb] = [elementOf(a, 0), elementOf(b, 1)];
      const perLane = late ? 8 : 16;
      if (i.modifiers.clamp) unsupported(i, "the modifier 'clamp'");
      const narrow = result === 'f16' || result === 'bf16';
      const outRegisters = narrow && late ? 4 : 8;
      const counts = [outRegisters, (perLane * bytesOf[ta]) / 4, (perLane * bytesOf[tb]) / 4];
      [d, oa, ob].forEach((o, n) => {
        if (o.kind !== 'vector' || o.count !== counts[n])
          unsupported(i, `operand ${n + 1} is not of ${counts[n]} registers`);
      });
      if (narrow) return unsupported(i, 'a result of 16 bits');
      const [ra, rb, rd] = [placeOf(i, oa), placeOf(i, ob), placeOf(i, d)];
      const rc = c.kind === 'constant' ? -1 : placeOf(i, c);
      const start = c.kind === 'constant' ? constantOf(c, result) : 0;
      const [A, B, sums] = [new Float64Array(256), new Float64Array(256), new Float64Array(256)];
      const place = (l: number, j: number): number => (l & 15) * 16 + (late ? 8 * (l >> 4) : 0) + j;
      const [loadA, loadB] = [loader(ta, target, 32, perLane, place), loader(tb, target, 32, perLane, place)];
      const rows = Int32Array.from(sums, (_, n) => {
        const [r, half] = [n >> 5, (n >> 4) & 1];
        return 16 * (late ? 8 * half + r : 2 * r + half);
      });
      const columns = Int32Array.from(sums, (_, n) => 16 * (n & 15));
      return (wave) => {
        loadA(wave, ra, A);
        loadB(wave, rb, B);
        wave.group.launch.products += 4096;
        const file = result === 'i32' ? wave.vector : wave.floats;
        for (let n = 0; n < 256; n++) sums[n] = rc < 0 ? start : file[rc + 64 * (n >> 5) + (n & 31)]!;
        addProducts(sums, A, B, rows, columns, 16);
        for (let n = 0; n < 256; n++) file[rd + 64 * (n >> 5) + (n & 31)] = sums[n]!;
      };
    },
  };
}
const registersOfOperand = (o: Operand): number[] =>
  o.kind === 'vector' ? Array.from({ length: o.count }, (_, n) => o.index + n) : [];

const i32 = { result: 'i32' } as const;
const mixes = eight.flatMap((a) => eight.map((b) => [a, b] as const));

export const matrix: InstructionTable = {
  v_mfma_f32_32x32x2_f32: product(32, 2, 'f32'),
  v_mfma_f32_16x16x4_f32: product(16, 4, 'f32'),
  v_mfma_f32_32x32x4_xf32: product(32, 4, 'xf32'),
  v_mfma_f32_16x16x8_xf32: product(16, 8, 'xf32'),
  v_mfma_f32_32x32x8_f16: product(32, 8, 'f16'),
  v_mfma_f32_16x16x16_f16: product(16, 16, 'f16'),
  v_mfma_f32_32x32x16_f16: product(32, 16, 'f16'),
  v_mfma_f32_16x16x32_f16: product(16, 32, 'f16'),
  v_mfma_f32_32x32x8_bf16: product(32, 8, 'bf16'),
  v_mfma_f32_16x16x16_bf16: product(16, 16, 'bf16'),
  v_mfma_f32_32x32x8_bf16_1k: product(32, 8, 'bf16'),
  v_mfma_f32_16x16x16_bf16_1k: product(16, 16, 'bf16'),
  v_mfma_f32_32x32x16_bf16: product(32, 16, 'bf16'),
  v_mfma_f32_16x16x32_bf16: product(16, 32, 'bf16'),
  v_mfma_f32_4x4x4_16b_f16: product(4, 4, 'f16', { blocks: 16 }),
  v_mfma_f32_4x4x4_16b_bf16: product(4, 4, 'bf16', { blocks: 16 }),
  v_mfma_f32_4x4x1_16b_f32: product(4, 1, 'f32', { blocks: 16 }),
  v_mfma_i32_32x32x16_i8: product(32, 16, 'i8', i32),
  v_mfma_i32_16x16x32_i8: product(16, 32, 'i8', i32),
  v_mfma_i32_32x32x32_i8: product(32, 32, 'i8', i32),
  v_mfma_i32_16x16x64_i8: product(16, 64, 'i8', i32),
  v_mfma_f64_16x16x4_f64: product(16, 4, 'f64', { result: 'f64' }),
  v_mfma_f32_32x32x64_f8f6f4: chosen(32, 64),
  v_mfma_f32_16x16x128_f8f6f4: chosen(16, 128),
  ...Object.fromEntries(
    mixes.flatMap(([a, b]) => [
      [`v_mfma_f32_32x32x16_${a}_${b}`, product(32, 16, a, { b })] as const,
      [`v_mfma_f32_16x16x32_${a}_${b}`, product(16, 32, a, { b })] as const,
      [`v_wmma_f32_16x16x16_${a}_${b}`, wmma(a, 'f32', b)] as const,
    ]),
  ),
  v_wmma_f32_16x16x16_f16: wmma('f16', 'f32'),
  v_wmma_f32_16x16x16_bf16: wmma('bf16', 'f32'),
  v_wmma_i32_16x16x16_iu8: wmma('i8', 'i32'),
} satisfies Readonly<Record<string, InstructionEntry>>;
