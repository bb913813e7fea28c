/** Matrix instructions on registers and shared memory: mma.sync, ldmatrix, stmatrix, wgmma. */

import { join } from '../../access-checker.js';
import { halfValues, toHalf } from '../../formats.js';
import {
  act,
  elementsOf,
  type InstructionTable,
  nothing,
  placeOf,
  type Reader,
  reader,
  type Scope,
} from '../instruction.js';
import {
  accumulatorPlace,
  elementTypes,
  multiplyAdd,
  readFragmentA,
  readFragmentB,
  readTile,
  type TileShape,
} from '../matrix.js';
import type { Operand } from '../module.js';
import { unsupported } from '../symbols.js';
import type { Warp } from '../warp.js';
import { has, operand } from './arithmetic.js';
import { accessKinds } from './memory.js';

const placesOf = (o: Operand, { symbols }: Scope): number[] => elementsOf(o).map((e) => placeOf(e, symbols));

/** D = A B + C of one warp, 16 by 8. */
function mma(scope: Scope) {
  const { instruction: i } = scope;
  const parts = i.parts.filter((p) => p !== 'satfinite');
  const shape = parts.find((p) => /^m\d+n\d+k\d+$/.test(p));
  const [, M, N, K] = (/^m(\d+)n(\d+)k(\d+)$/.exec(shape ?? '') ?? unsupported(i)).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const [dType, aType, bType, cType] = parts.slice(-4) as [string, string, string, string];
  const [a, b] = [elementTypes[aType] ?? unsupported(i), elementTypes[bType] ?? unsupported(i)];
  if (M !== 16 || N !== 8 || a.perWord !== b.perWord || dType !== cType || !['f32', 'f16', 's32'].includes(dType))
    unsupported(i, `the shape or types of this mma`);
  if (!has(i, 'row') || !has(i, 'col')) unsupported(i, 'this layout of mma');
  const [to, fromA, fromB] = [0, 1, 2].map((n) => placesOf(operand(i, n), scope)) as [number[], number[], number[]];
  const addend = elementsOf(operand(i, 3));
  const added = addend.map((e) => (e.kind === 'immediate' ? undefined : placeOf(e, scope.symbols)));
  const integer = dType === 's32';
  const [A, B] = [new Float64Array(16 * K), new Float64Array(8 * K)];
  const C = integer ? new Float64Array(128) : new Float32Array(128);
  return act(
    scope,
    (warp) => {
      const { registers, floats } = warp;
      readFragmentA(warp, fromA, a, A, K);
      readFragmentB(warp, fromB, b, B, K);
      for (let n = 0; n < 4; n++) {
        const at = added[dType === 'f16' ? n >> 1 : n];
        for (let lane = 0; lane < 32; lane++) {
          const word = at === undefined ? 0 : registers[at + lane]!;
          const value =
            dType === 'f16'
              ? halfValues[(word >>> (16 * (n & 1))) & 0xffff]!
              : integer
                ? word
                : at === undefined
                  ? 0
                  : floats[at + lane]!;
          C[accumulatorPlace(lane, n, 8)] = value;
        }
      }
      multiplyAdd(A, B, C, 16, 8, K);
      for (let lane = 0; lane < 32; lane++) {
        const value = (n: number): number => C[accumulatorPlace(lane, n, 8)]!;
        if (dType === 'f16')
          for (let n = 0; n < 2; n++)
            registers[to[n]! + lane] = toHalf(value(2 * n)) | (toHalf(value(2 * n + 1)) << 16);
        else if (integer) for (let n = 0; n < 4; n++) registers[to[n]! + lane] = value(n);
        else for (let n = 0; n < 4; n++) floats[to[n]! + lane] = value(n);
      }
      warp.block.launch.products += 128 * K;
    },
    true,
  );
}

/** 8 by 8 matrices of 16-bit elements; lane `8 m + r` gives the address of row `r` of matrix `m`. */
function moveMatrices(scope: Scope, loads: boolean) {
  const { instruction: i, symbols } = scope;
  if (!has(i, 'm8n8') || !has(i, 'b16')) unsupported(i);
  const count = Number(/^x(\d)$/.exec(i.parts.find((p) => /^x\d$/.test(p)) ?? '')?.[1] ?? unsupported(i));
  const trans = has(i, 'trans');
  const address = reader(operand(i, loads ? 1 : 0), symbols);
  const places = placesOf(operand(i, loads ? 0 : 1), scope);
  const rows = new Int32Array(32);
  return act(
    scope,
    (warp) => {
      const { block, registers } = warp;
      const { i32, u16 } = block.shared;
      for (let lane = 0; lane < 8 * count; lane++)
        rows[lane] = block.sharedAt(
          address(warp, lane) >>> 0,
          0,
          16,
          loads ? accessKinds.load : accessKinds.store,
          warp,
          lane,
        );
      places.forEach((at, m) => {
        for (let lane = 0; lane < 32; lane++) {
          if (!trans) {
            const word = (rows[m * 8 + (lane >> 2)]! >> 2) + (lane & 3);
            if (loads) registers[at + lane] = i32[word]!;
            else i32[word] = registers[at + lane]!;
            continue;
          }
          const row = m * 8 + (lane & 3) * 2;
          const [first, second] = [(rows[row]! >> 1) + (lane >> 2), (rows[row + 1]! >> 1) + (lane >> 2)];
          if (loads) registers[at + lane] = u16[first]! | (u16[second]! << 16);
          else {
            u16[first] = registers[at + lane]!;
            u16[second] = registers[at + lane]! >>> 16;
          }
        }
      });
    },
    true,
  );
}

type Descriptor = readonly [low: Reader, high: Reader];

/** D += A B of the four warps of a warpgroup; each does 16 of its 64 rows. */
function warpgroupMma(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const parts = i.parts.filter((p) => p !== 'satfinite');
  const [, N, K] = (/^m64n(\d+)k(\d+)$/.exec(parts.find((p) => p.startsWith('m64n')) ?? '') ?? unsupported(i)).map(
    Number,
  ) as [number, number, number];
  const [dType, aType, bType] = parts.slice(-3) as [string, string, string];
  const [a, b] = [elementTypes[aType] ?? unsupported(i), elementTypes[bType] ?? unsupported(i)];
  const integer = dType === 's32';
  if (a.perWord !== b.perWord || K !== a.perWord * 8 || !(dType === 'f32' || integer))
    unsupported(i, 'the types of this wgmma');
  const accumulators = placesOf(operand(i, 0), scope);
  if (accumulators.length !== N / 2) unsupported(i, 'the number of accumulators of this wgmma');
  const fromRegisters = operand(i, 1).kind === 'vector';
  const registersA = fromRegisters ? placesOf(operand(i, 1), scope) : [];
  const descriptor = (n: number): Descriptor => [reader(operand(i, n), symbols), reader(operand(i, n), symbols, 1)];
  const [descriptorA, descriptorB] = [fromRegisters ? undefined : descriptor(1), descriptor(2)];
  const constant = (n: number): number => {
    const o = i.operands[n];
    return o?.kind === 'immediate' ? Number(o.value) : 1;
  };
  const scaleD = operand(i, 3);
  const [signA, signB] = integer ? [1, 1] : [constant(4), constant(5)];
  const flags = a.perWord === 2;
  const transposedA = flags && !fromRegisters && constant(6) === 1 && i.operands.length > 6;
  const transposedB = flags && constant(fromRegisters ? 6 : 7) === 1 && i.operands.length > (fromRegisters ? 6 : 7);
  const shape = (rows: number, firstRow: number, transposed: boolean, element: typeof a): TileShape => ({
    rows,
    K,
    firstRow,
    transposed,
    element,
    generation: 'hopper',
  });
  const shapesA = [0, 16, 32, 48].map((row) => shape(16, row, transposedA, a));
  const shapeB = shape(N, 0, transposedB, b);
  const [A, B] = [new Float64Array(16 * K), new Float64Array(N * K)];
  const C = integer ? new Float64Array(16 * N) : new Float32Array(16 * N);
  const places = Int32Array.from({ length: accumulators.length * 32 }, (_, n) => accumulatorPlace(n & 31, n >> 5, N));
  const busy = [
    ...accumulators.map((p) => [p / 32, 'written'] as const),
    ...registersA.map((p) => [p / 32, 'read'] as const),
  ];
  return act(
    scope,
    (warp, mask) => {
      if (mask !== -1) warp.misuse('a wgmma that not all lanes of the warp execute');
      const { block } = warp;
      const keep =
        scaleD.kind === 'immediate'
          ? scaleD.value !== 0n
          : scaleD.kind === 'predicate'
            ? ((warp.predicates[scaleD.index]! & 1) === 1) !== scaleD.negated
            : warp.registers[placeOf(scaleD, symbols)] !== 0;
      const words = (d: Descriptor): readonly [number, number] => [d[0](warp, 0), d[1](warp, 0)];
      const [tileA, tileB] = [descriptorA ? words(descriptorA) : undefined, words(descriptorB)];
      const perform = (): void => {
        const D = integer ? warp.registers : warp.floats;
        if (tileA) readTile(block, warp, ...tileA, shapesA[warp.index & 3]!, A);
        else readFragmentA(warp, registersA, a, A, K);
        readTile(block, warp, ...tileB, shapeB, B);
        if (signA < 0) for (let n = 0; n < A.length; n++) A[n] = -A[n]!;
        if (signB < 0) for (let n = 0; n < B.length; n++) B[n] = -B[n]!;
        if (keep) for (let n = 0; n < places.length; n++) C[places[n]!] = D[accumulators[n >> 5]! + (n & 31)]!;
        else C.fill(0);
        multiplyAdd(A, B, C, 16, N, K);
        for (let n = 0; n < places.length; n++) D[accumulators[n >> 5]! + (n & 31)] = C[places[n]!]!;
        block.launch.products += 16 * N * K;
      };
      if (block.launch.checks) for (const [slot, use] of busy) warp.busy.set(slot, use);
      if (block.launch.schedule.compute === 'late') warp.matrix.open.push(perform);
      else perform();
    },
    true,
  );
}

const warpgroupOf = (warp: Warp): readonly Warp[] => {
  const four = warp.block.warps.slice(warp.index & ~3, (warp.index & ~3) + 4);
  return four.length === 4 ? four : warp.misuse('a wgmma needs four warps');
};

function commit(scope: Scope) {
  return act(
    scope,
    (warp) => {
      const { checks } = warp.block.launch;
      warp.matrix.groups.push({ jobs: warp.matrix.open, clock: checks ? warp.clock.slice() : undefined });
      warp.matrix.open = [];
      if (checks) warp.clock[warp.id]!++;
      warp.block.launch.events++;
    },
    true,
  );
}

/** A group belongs to the warpgroup: it is over when all four warps have issued it, and then for all four. */
function waitForGroups({ instruction: i }: Scope) {
  const left = operand(i, 0);
  const count = left.kind === 'immediate' ? Number(left.value) : unsupported(i);
  return {
    kind: 'hold' as const,
    converges: true,
    run: (warp: Warp): boolean => {
      const finished = warp.matrix.groups.length - count;
      if (finished > 0) {
        const four = warpgroupOf(warp);
        if (four.some((w) => w.matrix.groups.length < finished)) return false;
        for (const w of four)
          for (const group of w.matrix.groups.slice(0, finished)) {
            for (const job of group.jobs) job();
            group.jobs = [];
            if (group.clock) join(warp.clock, group.clock);
          }
      }
      // With groups left, which registers are free is not followed.
      if (count === 0 || finished > 0) warp.busy.clear();
      return true;
    },
  };
}

export const matrix = {
  'mma.sync': { doc: 'matrix product of a warp', operands: ['vector', 'vector', 'vector', 'vector'], warp: mma },
  ldmatrix: {
    doc: 'loads matrices as fragments',
    operands: ['any', 'address'],
    proxy: 'generic',
    warp: (s) => moveMatrices(s, true),
  },
  stmatrix: {
    doc: 'stores fragments as matrices',
    operands: ['address', 'any'],
    proxy: 'generic',
    warp: (s) => moveMatrices(s, false),
  },
  'wgmma.fence': { doc: 'orders registers before a wgmma', operands: [], warp: () => nothing(true) },
  'wgmma.mma_async': {
    doc: 'matrix product of a warpgroup',
    operands: ['vector', 'any', 'value', 'any', 'any?', 'any?', 'any?', 'any?'],
    proxy: 'async',
    warp: warpgroupMma,
  },
  'wgmma.commit_group': { doc: 'closes a group of wgmma', operands: [], warp: commit },
  'wgmma.wait_group': { doc: 'waits until so many groups are left', operands: ['constant'], warp: waitForGroups },
} satisfies InstructionTable;
