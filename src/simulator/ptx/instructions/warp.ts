/** Control flow and what lanes of a warp, warps of a block and blocks of a cluster do together. */

import { maxNumber, minNumber } from '../../formats.js';
import {
  act,
  eachLane,
  firstLane,
  type guarded,
  type InstructionTable,
  nothing,
  placeOf,
  reader,
  type Scope,
  setPredicate,
} from '../instruction.js';
import type { Operand } from '../module.js';
import { unsupported } from '../symbols.js';
import { has, operand, typeOf } from './arithmetic.js';

const predicateOf = (o: Operand | undefined, { symbols }: Scope): number =>
  o?.kind === 'predicate' ? o.index : symbols.refuse('an operand that must be a predicate');

function shuffle(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const mode = i.parts[2];
  const result = operand(i, 0);
  const [to, flag] = result.kind === 'pair' ? [result.first, result.second] : [result, undefined];
  const [source, by, clamp] = [1, 2, 3].map((n) => reader(operand(i, n), symbols)) as [
    ReturnType<typeof reader>,
    ReturnType<typeof reader>,
    ReturnType<typeof reader>,
  ];
  const at = to.kind === 'sink' ? undefined : placeOf(to, symbols);
  const flagIndex = flag === undefined || flag.kind === 'sink' ? undefined : predicateOf(flag, scope);
  const values = new Int32Array(32);
  return act(
    scope,
    (warp, mask) => {
      let inRange = 0;
      eachLane(mask, (lane) => {
        const b = by(warp, lane) & 31;
        const c = clamp(warp, lane);
        const segment = (c >> 8) & 31;
        const least = lane & segment;
        const bound = least | (c & 31 & ~segment);
        const wanted =
          mode === 'bfly' ? lane ^ b : mode === 'idx' ? least | (b & ~segment) : mode === 'up' ? lane - b : lane + b;
        const fits = mode === 'up' ? wanted >= bound : wanted <= bound;
        if (fits) inRange |= 1 << lane;
        const from = fits ? wanted : lane;
        if (!((mask >>> from) & 1)) warp.misuse(`a shuffle reads lane ${from}, which does not take part`, lane);
        values[lane] = source(warp, from);
      });
      if (at !== undefined) eachLane(mask, (lane) => (warp.registers[at + lane] = values[lane]!));
      if (flagIndex !== undefined) setPredicate(warp, flagIndex, mask, inRange);
    },
    true,
  );
}

function vote(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const a = operand(i, 1);
  const truth = (warp: Parameters<typeof guarded>[0]): number => {
    if (a.kind === 'immediate') return a.value === 0n ? 0 : -1;
    const bits = warp.predicates[predicateOf(a, scope)]!;
    return a.kind === 'predicate' && a.negated ? ~bits : bits;
  };
  const mode = i.parts.find((p) => ['ballot', 'any', 'all', 'uni'].includes(p));
  return act(
    scope,
    (warp, mask) => {
      const bits = truth(warp) & mask;
      if (mode === 'ballot') {
        const at = placeOf(operand(i, 0), symbols);
        return eachLane(mask, (lane) => (warp.registers[at + lane] = bits));
      }
      const result = mode === 'any' ? bits !== 0 : mode === 'all' ? bits === mask : bits === 0 || bits === mask;
      setPredicate(warp, predicateOf(operand(i, 0), scope), mask, result ? mask : 0);
    },
    true,
  );
}

function match(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const result = operand(i, 0);
  const [to, flag] = result.kind === 'pair' ? [result.first, result.second] : [result, undefined];
  const [low, high] = [reader(operand(i, 1), symbols), reader(operand(i, 1), symbols, 1)];
  const at = placeOf(to, symbols);
  return act(
    scope,
    (warp, mask) => {
      const same = (a: number, b: number): boolean => low(warp, a) === low(warp, b) && high(warp, a) === high(warp, b);
      const sets = Array.from({ length: 32 }, (_, lane) => {
        let bits = 0;
        eachLane(mask, (other) => {
          if (same(lane, other)) bits |= 1 << other;
        });
        return bits;
      });
      const all = sets[firstLane(mask)] === mask;
      eachLane(mask, (lane) => (warp.registers[at + lane] = has(i, 'all') ? (all ? mask : 0) : sets[lane]!));
      if (flag) setPredicate(warp, predicateOf(flag, scope), mask, all ? mask : 0);
    },
    true,
  );
}

type Fold = (a: number, b: number) => number;
const folds: Readonly<Record<string, Fold>> = {
  add: (a, b) => (a + b) | 0,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  min: Math.min,
  max: Math.max,
};

function reduce(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const type = typeOf(i);
  const name = i.parts[2]!;
  const float = type === 'f32';
  const fold = float && !has(i, 'NaN') ? { min: minNumber, max: maxNumber }[name] : folds[name];
  if (!fold) unsupported(i);
  const source = reader(operand(i, 1), symbols);
  const [at, from] = [placeOf(operand(i, 0), symbols), float ? placeOf(operand(i, 1), symbols) : 0];
  return act(
    scope,
    (warp, mask) => {
      let result: number | undefined;
      eachLane(mask, (lane) => {
        const raw = float ? warp.floats[from + lane]! : type === 'u32' ? source(warp, lane) >>> 0 : source(warp, lane);
        const x = has(i, 'abs') ? Math.abs(raw) : raw;
        result = result === undefined ? x : fold!(result, x);
      });
      const target = float ? warp.floats : warp.registers;
      eachLane(mask, (lane) => (target[at + lane] = result!));
    },
    true,
  );
}

function barrier(scope: Scope, waits: boolean) {
  const { instruction: i, symbols } = scope;
  if (i.guard) unsupported(i, 'a barrier under a predicate');
  return {
    kind: 'barrier' as const,
    converges: true,
    scope: 'block' as const,
    waits,
    barrier: reader(i.operands[0], symbols),
    threads: reader(i.operands[1], symbols),
  };
}
const barrierEntry = (doc: string, waits: boolean) => ({
  doc,
  operands: ['value', 'value?'] as const,
  warp: (scope: Scope) => barrier(scope, waits),
});
const clusterBarrier = (waits: boolean) => () => ({
  kind: 'barrier' as const,
  converges: true,
  scope: 'cluster' as const,
  waits,
  barrier: () => 0,
  threads: () => 0,
});

const ignored = (doc: string, converges = false) => ({
  doc,
  operands: ['any?', 'any?', 'any?', 'any?', 'any?'] as const,
  warp: () => nothing(converges),
});

/** Sets a register of every lane to what the warp knows. */
const query = (doc: string, value: (mask: number) => number) => ({
  doc,
  operands: ['register'] as const,
  warp: (scope: Scope) => {
    const at = placeOf(operand(scope.instruction, 0), scope.symbols);
    return act(scope, (warp, mask) => eachLane(mask, (lane) => (warp.registers[at + lane] = value(mask))));
  },
});

export const warpInstructions = {
  bra: {
    doc: 'branch',
    operands: ['label'],
    warp: ({ instruction: { guard, target } }) => ({ kind: 'branch', converges: false, guard, target: target! }),
  },
  ret: {
    doc: 'end of the thread',
    operands: [],
    warp: ({ instruction: { guard } }) => ({ kind: 'exit', converges: false, guard }),
  },
  exit: {
    doc: 'end of the thread',
    operands: [],
    warp: ({ instruction: { guard } }) => ({ kind: 'exit', converges: false, guard }),
  },
  trap: {
    doc: 'stops the kernel with an error',
    operands: [],
    warp: (scope) => act(scope, (warp) => warp.misuse('the kernel executed a trap')),
  },
  'shfl.sync': {
    doc: 'values of other lanes',
    operands: ['register', 'value', 'value', 'value', 'value'],
    warp: shuffle,
  },
  'vote.sync': { doc: 'a predicate over all lanes', operands: ['any', 'predicate', 'value'], warp: vote },
  'match.any.sync': { doc: 'lanes that have the same value', operands: ['register', 'value', 'value'], warp: match },
  'match.all.sync': {
    doc: 'whether all lanes have the same value',
    operands: ['register', 'value', 'value'],
    warp: match,
  },
  'redux.sync': { doc: 'reduction over all lanes', operands: ['register', 'value', 'value'], warp: reduce },
  'elect.sync': {
    doc: 'chooses one lane: the first',
    operands: ['register', 'value'],
    warp: (scope) => {
      const result = operand(scope.instruction, 0);
      if (result.kind !== 'pair') return unsupported(scope.instruction);
      const at = result.first.kind === 'sink' ? undefined : placeOf(result.first, scope.symbols);
      const flag = predicateOf(result.second, scope);
      return act(
        scope,
        (warp, mask) => {
          const chosen = firstLane(mask);
          if (at !== undefined) eachLane(mask, (lane) => (warp.registers[at + lane] = chosen));
          setPredicate(warp, flag, mask, 1 << chosen);
        },
        true,
      );
    },
  },
  activemask: query('mask of the lanes that run', (mask) => mask),
  'bar.sync': barrierEntry('barrier of a block', true),
  'bar.cta.sync': barrierEntry('barrier of a block', true),
  'barrier.sync': barrierEntry('barrier of a block', true),
  'barrier.cta.sync': barrierEntry('barrier of a block', true),
  'bar.arrive': barrierEntry('arrival at a barrier of a block', false),
  'bar.cta.arrive': barrierEntry('arrival at a barrier of a block', false),
  'barrier.arrive': barrierEntry('arrival at a barrier of a block', false),
  'barrier.cta.arrive': barrierEntry('arrival at a barrier of a block', false),
  'bar.warp.sync': { doc: 'barrier of a warp', operands: ['value'], warp: () => nothing(true) },
  'barrier.cluster.arrive': { doc: 'arrival at the barrier of a cluster', operands: [], warp: clusterBarrier(false) },
  'barrier.cluster.wait': { doc: 'wait at the barrier of a cluster', operands: [], warp: clusterBarrier(true) },
  membar: ignored('memory fence; memory is never weaker than the order of execution here'),
  setmaxnreg: ignored('number of registers', true),
  nanosleep: ignored('pause'),
  prefetch: ignored('cache hint'),
  prefetchu: ignored('cache hint'),
  createpolicy: ignored('cache hint'),
  discard: ignored('cache hint'),
  applypriority: ignored('cache hint'),
  griddepcontrol: ignored('order of dependent grids'),
  pmevent: ignored('counter of a profiler'),
} satisfies InstructionTable;
