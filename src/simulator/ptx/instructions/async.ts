/** Copies that run beside the warps, the barriers that tell of their end, and fences. */

import { join } from '../../access-checker.js';
import {
  act,
  eachLane,
  guarded,
  type InstructionTable,
  nothing,
  placeOf,
  type Reader,
  reader,
  type Scope,
  setPredicate,
} from '../instruction.js';
import type { Operand } from '../module.js';
import { unsupported } from '../symbols.js';
import { copyBox, type Direction, replacedWord } from '../tensor-map.js';
import { finish, type Warp } from '../warp.js';
import { has, operand } from './arithmetic.js';
import { accessKinds } from './memory.js';

const addressBits = 0xffffff;

/** Reads the address that an operand names: lower and upper word. */
const addressReaders = (o: Operand | undefined, { symbols }: Scope): readonly [Reader, Reader] => [
  reader(o, symbols),
  reader(o, symbols, 1),
];

/** Ends the phase of the barrier that counts the bytes of a copy, once they are there. */
function complete(warp: Warp, address: number, bytes: number): void {
  const block = warp.block.peerOf(address, warp);
  const barrier = block.barrierAt(address & addressBits, warp);
  barrier.bytes -= bytes;
  block.settle(barrier);
}

/** 4, 8 or 16 bytes for each lane; what lies beyond the size of the source is filled with zeros. */
function copyAsync(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const to = reader(operand(i, 0), symbols);
  const [low, high] = addressReaders(operand(i, 1), scope);
  const sizeOperand = operand(i, 2);
  if (sizeOperand.kind !== 'immediate') unsupported(i);
  const size = Number(sizeOperand.value);
  const ignore = i.operands[3];
  if (ignore?.kind === 'predicate') unsupported(i, 'a predicate that ignores the source');
  const available = ignore === undefined ? () => size : reader(ignore, symbols);
  return act(scope, (warp, mask) => {
    const { block } = warp;
    const todo: { lane: number; from: number; window: number; to: number; count: number }[] = [];
    eachLane(mask, (lane) => {
      const count = Math.min(Math.max(available(warp, lane), 0), size);
      const at = block.sharedAt(to(warp, lane) >>> 0, 0, size, accessKinds.store, warp, lane);
      block.checker?.setPending(at, size, true);
      todo.push({ lane, from: low(warp, lane) >>> 0, window: high(warp, lane), to: at, count });
    });
    const perform = (): void => {
      for (const { lane, from, window, to: at, count } of todo) {
        if (count === size) block.globalAt(from, window, size, accessKinds.load, warp, lane);
        else if (count > 0) block.globalRange(from, window, count, 'load', warp);
        block.shared.u8.set(block.global.views.u8.subarray(from, from + count), at);
        block.shared.u8.fill(0, at + count, at + size);
      }
    };
    const settle = (): void => {
      if (!block.checker) return;
      for (const { to: at, lane } of todo) {
        block.checker.setPending(at, size, false);
        block.checker.access(at, size, 'store', warp, lane);
      }
    };
    if (block.launch.schedule.loads === 'early') perform();
    warp.copies.open.push({ perform: block.launch.schedule.loads === 'early' ? () => {} : perform, settle });
  });
}

type Queue = (warp: Warp) => Warp['copies'];
const commit = (queue: Queue) => (scope: Scope) =>
  act(scope, (warp) => {
    const q = queue(warp);
    q.groups.push(q.open);
    q.open = [];
  });
const waitFor = (queue: Queue, all: boolean) => (scope: Scope) => {
  const left = scope.instruction.operands[0];
  const count = left?.kind === 'immediate' ? Number(left.value) : 0;
  return act(scope, (warp) => {
    const q = queue(warp);
    if (all) {
      q.groups.push(q.open);
      q.open = [];
    }
    while (q.groups.length > count) finish(q.groups.shift()!);
  });
};
const copies: Queue = (w) => w.copies;
const bulk: Queue = (w) => w.bulk;

/** `cp.async.bulk`: a run of bytes between global and shared memory, or from one block's shared memory to another's. */
function copyBulk(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const [destination, source] = [i.parts[3]!.split('::')[0], i.parts[4]!.split('::')[0]];
  const store = destination === 'global';
  if (store ? source !== 'shared' : source !== 'global') unsupported(i);
  const [low, high] = addressReaders(operand(i, store ? 0 : 1), scope);
  const shared = reader(operand(i, store ? 1 : 0), symbols);
  const size = reader(operand(i, 2), symbols);
  const barrier = store ? undefined : reader(operand(i, 3), symbols);
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const { block } = warp;
      const { schedule } = block.launch;
      const [from, window, at, n] = [
        low(warp, lane) >>> 0,
        high(warp, lane),
        shared(warp, lane) >>> 0,
        size(warp, lane),
      ];
      if (n % 16 !== 0 || at % 16 !== 0 || from % 16 !== 0)
        warp.misuse('a bulk copy that is not a multiple of 16 bytes', lane);
      const target = block.peerOf(at, warp);
      const own = at & addressBits;
      const barrierAddress = barrier ? barrier(warp, lane) >>> 0 : 0;
      const perform = (): void => {
        const o = target.sharedRange(own, n, store ? 'asyncRead' : 'asyncWrite', warp);
        const g = block.globalRange(from, window, n, store ? 'asyncWrite' : 'asyncRead', warp);
        const [globalBytes, sharedBytes] = [block.global.views.u8, target.shared.u8];
        if (store) globalBytes.set(sharedBytes.subarray(o, o + n), g);
        else {
          sharedBytes.set(globalBytes.subarray(g, g + n), o);
          complete(warp, barrierAddress, n);
        }
      };
      schedulePerform(warp, store, perform, schedule);
    }),
  );
}

/** Does a copy now or later, by the schedule: loads until their barrier is needed, stores until their group is waited for. */
function schedulePerform(
  warp: Warp,
  store: boolean,
  perform: () => void,
  schedule: { loads: string; compute: string },
): void {
  if (store) {
    const late = schedule.compute === 'late';
    if (!late) perform();
    warp.bulk.open.push({ perform: late ? perform : () => {} });
  } else if (schedule.loads === 'late') warp.block.pending.push(perform);
  else perform();
}

const reductions = ['add', 'min', 'max'] as const;

/** `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`. */
function copyTensor(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const reduces = i.parts[1] === 'reduce';
  const store = i.parts.indexOf('global') < i.parts.findIndex((p) => p.startsWith('shared'));
  if (
    i.parts.some((p) => p.includes('im2col') || p.includes('gather') || p.includes('scatter') || p === 'cta_group::2')
  )
    unsupported(i, 'a mode of tensor copies');
  const multicast = i.parts.some((p) => p.includes('multicast'));
  const direction: Direction = reduces
    ? (reductions.find((r) => has(i, r)) ?? unsupported(i))
    : store
      ? 'store'
      : 'load';
  const map = operand(i, store ? 0 : 1);
  if (map.kind !== 'address') unsupported(i);
  const [low, high] = addressReaders(map, scope);
  const coordinates = map.kind === 'address' ? map.coordinates.map((c) => reader(c, symbols)) : [];
  const shared = reader(operand(i, store ? 1 : 0), symbols);
  const barrier = store ? undefined : reader(operand(i, 2), symbols);
  const mask16 = multicast ? reader(operand(i, 3), symbols) : undefined;
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const { block } = warp;
      const [mapLow, mapHigh] = [low(warp, lane) >>> 0, high(warp, lane)];
      const at = coordinates.map((c) => c(warp, lane));
      const address = shared(warp, lane) >>> 0;
      const own = address & addressBits;
      const source = {
        memory: block.memoryOf(mapHigh, warp),
        at: block.genericAt(mapLow, mapHigh, 64, accessKinds.load, warp, lane),
      };
      if (store)
        return schedulePerform(
          warp,
          true,
          () => void copyBox(block, warp, source, at, address, direction),
          block.launch.schedule,
        );
      const barrierAt = barrier!(warp, lane) >>> 0;
      const to = mask16
        ? block.peers.filter((p) => (mask16(warp, lane) >>> p.rank) & 1)
        : [block.peerOf(address, warp)];
      const perform = (): void => {
        for (const peer of to) {
          const bytes = copyBox(peer, warp, source, at, own, direction);
          const counted = mask16 ? peer : block.peerOf(barrierAt, warp);
          const b = counted.barrierAt(barrierAt & addressBits, warp, lane);
          b.bytes -= bytes;
          counted.settle(b);
        }
      };
      schedulePerform(warp, false, perform, block.launch.schedule);
    }),
  );
}

/** The block whose barrier an address names, and the place there. */
const ownerOf = (warp: Warp, address: number) => warp.block.peerOf(address, warp);

function initialise(scope: Scope) {
  const [address, count] = [0, 1].map((n) => reader(operand(scope.instruction, n), scope.symbols)) as [Reader, Reader];
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const { block } = warp;
      const at = block.sharedAt(address(warp, lane) >>> 0, 0, 8, accessKinds.store, warp, lane);
      const n = count(warp, lane);
      if (n < 1) warp.misuse(`an mbarrier for ${n} arrivals`, lane);
      block.barriers.set(at, { count: n, pending: n, bytes: 0, phase: 0, clock: undefined, fenced: undefined });
    }),
  );
}

/** Arrivals and announcements of bytes. The state that an arrival gives is the phase. */
function arrive(scope: Scope, arrives: boolean) {
  const { instruction: i, symbols } = scope;
  const at = i.operands.findIndex((o) => o.kind === 'address');
  const result = at === 1 ? operand(i, 0) : undefined;
  const to = result?.kind === 'register' ? placeOf(result, symbols) : undefined;
  const address = reader(operand(i, at), symbols);
  const announces = has(i, 'expect_tx');
  if (has(i, 'noComplete')) unsupported(i);
  const bytes = announces ? reader(operand(i, at + 1), symbols) : () => 0;
  const given = announces ? undefined : i.operands[at + 1];
  const count = !arrives ? () => 0 : given ? reader(given, symbols) : () => 1;
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const where = address(warp, lane) >>> 0;
      const block = ownerOf(warp, where);
      const barrier = block.barrierAt(where & addressBits, warp, lane);
      const n = count(warp, lane);
      if (n > barrier.pending) warp.misuse('more arrivals than the mbarrier expects in one phase', lane);
      const { phase } = barrier;
      barrier.bytes += bytes(warp, lane);
      barrier.pending -= n;
      if (n > 0) block.release(barrier, warp);
      block.settle(barrier);
      if (to !== undefined) {
        warp.registers[to + lane] = phase;
        if (result?.kind === 'register' && result.words > 1) warp.registers[to + 32 + lane] = 0;
      }
    }),
  );
}

/** Whether a phase is over: by its parity, or by the state that an arrival gave. */
function wait(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const flag = operand(i, 0);
  if (flag.kind !== 'predicate') return unsupported(i);
  const [address, phase] = [1, 2].map((n) => reader(operand(i, n), symbols)) as [Reader, Reader];
  const tests = (warp: Warp, all: number): boolean => {
    const mask = guarded(warp, all, i.guard);
    let over = 0;
    eachLane(mask, (lane) => {
      const where = address(warp, lane) >>> 0;
      const barrier = ownerOf(warp, where).barrierAt(where & addressBits, warp, lane);
      if (barrier.phase === (phase(warp, lane) & 1)) return;
      over |= 1 << lane;
      warp.block.acquire(barrier, warp);
    });
    setPredicate(warp, flag.index, mask, over);
    return over === mask;
  };
  return { kind: 'try' as const, converges: false, run: tests };
}

function fence(scope: Scope) {
  const proxy = scope.instruction.parts[1] === 'proxy';
  return act(scope, (warp) => {
    if (!proxy || !warp.block.launch.checks) return;
    join(warp.fenced, warp.clock);
    warp.clock[warp.id]!++;
  });
}

function replaceField(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const name = i.parts[3]!;
  const shared = i.parts.some((p) => p.startsWith('shared'));
  const [low, high] = addressReaders(operand(i, 0), scope);
  const index = i.operands.length > 2 ? operand(i, 1) : undefined;
  const word = replacedWord(name, index?.kind === 'immediate' ? Number(index.value) : 0) ?? unsupported(i);
  const value = operand(i, i.operands.length - 1);
  const words = (name === 'global_address' ? [0, 1] : [0]).map((w) => reader(value, symbols, w));
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const { block } = warp;
      const window = shared ? 3 : high(warp, lane);
      const at = block.genericAt((low(warp, lane) >>> 0) + word * 4, window, 4, accessKinds.store, warp, lane);
      words.forEach((read, w) => (block.memoryOf(window, warp).i32[(at >> 2) + w] = read(warp, lane)));
    }),
  );
}

function copyMap(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const [low, high] = addressReaders(operand(i, 0), scope);
  const source = reader(operand(i, 1), symbols);
  return act(
    scope,
    (warp) => {
      const { block } = warp;
      const to = block.globalRange(low(warp, 0) >>> 0, high(warp, 0), 128, 'store', warp);
      const from = block.sharedRange(source(warp, 0) >>> 0, 128, 'load', warp);
      block.global.views.u8.set(block.shared.u8.subarray(from, from + 128), to);
    },
    true,
  );
}

/** Takes a block that has not begun, when there is one, and tells of it in 16 bytes of shared memory. */
function tryCancel(scope: Scope) {
  const [address, barrier] = [0, 1].map((n) => reader(operand(scope.instruction, n), scope.symbols)) as [
    Reader,
    Reader,
  ];
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const { block } = warp;
      const [where, barrierAt] = [address(warp, lane) >>> 0, barrier(warp, lane) >>> 0];
      const perform = (): void => {
        const at = block.sharedRange(where, 16, 'asyncWrite', warp);
        const taken = block.launch.waiting.shift();
        block.shared.i32.set(taken ? [1, ...taken] : [0, 0, 0, 0], at >> 2);
        complete(warp, barrierAt, 16);
      };
      schedulePerform(warp, false, perform, block.launch.schedule);
    }),
  );
}

function queryCancel(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const handle = placeOf(operand(i, 1), symbols);
  const result = operand(i, 0);
  if (i.parts[2] === 'is_canceled') {
    if (result.kind !== 'predicate') return unsupported(i);
    return act(scope, (warp, mask) => {
      let taken = 0;
      eachLane(mask, (lane) => {
        if (warp.registers[handle + lane]! & 1) taken |= 1 << lane;
      });
      setPredicate(warp, result.index, mask, taken);
    });
  }
  const first = { x: 1, y: 2, z: 3 }[i.parts[2]!.split('::')[1] ?? 'x'] ?? 1;
  const elements = result.kind === 'vector' ? result.elements : [result];
  return act(scope, (warp, mask) =>
    elements.forEach((e, n) => {
      if (e.kind !== 'register') return;
      eachLane(mask, (lane) => {
        warp.registers[e.slot * 32 + lane] = first + n > 3 ? 0 : warp.registers[handle + (first + n) * 32 + lane]!;
      });
    }),
  );
}

const many = ['address', 'any', 'any?', 'any?', 'any?'] as const;

export const asynchronous = {
  'cp.async': {
    doc: 'copy of 4, 8 or 16 bytes for each lane; counts as an ordinary write',
    operands: ['address', 'address', 'constant', 'any?', 'value?'],
    proxy: 'generic',
    warp: copyAsync,
  },
  'cp.async.commit_group': { doc: 'closes a group of `cp.async`', operands: [], warp: commit(copies) },
  'cp.async.wait_group': {
    doc: 'waits until so many groups are left',
    operands: ['constant'],
    warp: waitFor(copies, false),
  },
  'cp.async.wait_all': { doc: 'waits for every `cp.async`', operands: [], warp: waitFor(copies, true) },
  'cp.async.bulk': { doc: 'copy of a run of bytes', operands: many, proxy: 'async', warp: copyBulk },
  'cp.async.bulk.tensor': { doc: 'copy of a box of a tensor', operands: many, proxy: 'async', warp: copyTensor },
  'cp.reduce.async.bulk.tensor': {
    doc: 'sum into a box of a tensor',
    operands: many,
    proxy: 'async',
    warp: copyTensor,
  },
  'cp.async.bulk.prefetch': { doc: 'cache hint', operands: ['any', 'any?', 'any?'], warp: () => nothing() },
  'cp.async.bulk.commit_group': { doc: 'closes a group of stores', operands: [], warp: commit(bulk) },
  'cp.async.bulk.wait_group': {
    doc: 'waits until so many groups of stores are left',
    operands: ['constant'],
    warp: waitFor(bulk, false),
  },
  'mbarrier.init': {
    doc: 'a barrier in shared memory',
    operands: ['address', 'value'],
    proxy: 'generic',
    warp: initialise,
  },
  'mbarrier.inval': {
    doc: 'ends the life of a barrier',
    operands: ['address'],
    proxy: 'generic',
    warp: (scope) => {
      const address = reader(operand(scope.instruction, 0), scope.symbols);
      return act(scope, (warp, mask) =>
        eachLane(mask, (lane) => {
          const at = address(warp, lane) >>> 0;
          warp.block.barrierAt(at, warp, lane);
          warp.block.barriers.delete(at);
        }),
      );
    },
  },
  'mbarrier.arrive': {
    doc: 'arrival, also with an announcement of bytes',
    operands: ['any', 'any?', 'any?'],
    warp: (s) => arrive(s, true),
  },
  'mbarrier.expect_tx': { doc: 'announcement of bytes', operands: ['address', 'value'], warp: (s) => arrive(s, false) },
  'mbarrier.try_wait': {
    doc: 'whether a phase is over',
    operands: ['predicate', 'address', 'value', 'value?'],
    warp: wait,
  },
  'mbarrier.test_wait': { doc: 'whether a phase is over', operands: ['predicate', 'address', 'value'], warp: wait },
  fence: {
    doc: 'memory fence; `proxy` orders ordinary and asynchronous accesses',
    operands: ['any?', 'any?'],
    warp: fence,
  },
  'tensormap.replace': {
    doc: 'writes a field of a tensor map',
    operands: ['address', 'value', 'value?'],
    warp: replaceField,
  },
  'tensormap.cp_fenceproxy': {
    doc: 'publishes a tensor map',
    operands: ['address', 'address', 'constant'],
    warp: copyMap,
  },
  'clusterlaunchcontrol.try_cancel': {
    doc: 'takes a block that has not begun',
    operands: ['address', 'address'],
    warp: tryCancel,
  },
  'clusterlaunchcontrol.query_cancel': { doc: 'what was taken', operands: ['any', 'value'], warp: queryCancel },
} satisfies InstructionTable;
