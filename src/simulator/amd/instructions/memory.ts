/** Global and scratch memory: `buffer_`, `global_`, `flat_`, `scratch_` and scalar loads. */

import { simulatorCodes } from '../../../diagnostics/codes/simulator.js';
import {
  type Access,
  halfRead,
  loadInto,
  loads,
  loadZero,
  setWord,
  storeFrom,
  stores,
  takeData,
  wordAt,
} from '../access.js';
import { type WideFunction, type WordFunction, wideFunctions, wordFunctions } from '../atomic-functions.js';
import {
  halfOf,
  type InstructionEntry,
  type InstructionTable,
  numberIn,
  operandAt,
  placeOf,
  type RegisterUse,
  registersOf,
  type WaveFunction,
} from '../instruction.js';
import { type Instruction, type Operand, registers, vectorRegisters } from '../module.js';
import { unsupported } from '../unsupported.js';
import { poison, type Wave } from '../wave.js';
import { scalarReader } from './lanes.js';

type Kind = 'load' | 'store' | 'atomic';
/** Offset in the arena of the access of a lane; -1 where a descriptor's range leaves it out. */
type Address = (wave: Wave, lane: number, bytes: number, kind: Kind) => number;

interface Parts {
  readonly data: Operand | undefined;
  readonly result: Operand | undefined;
  readonly address: Address;
  /** Registers of the address. */
  readonly reads: readonly number[];
}

const cacheHints = ['sc0', 'sc1', 'nt', 'glc', 'slc', 'dlc', 'scope', 'th'] as const;
const inactive = -2;
const outside = -1;
const word = 2 ** 32;

/** Whether an atomic gives the old value back. */
const returns = ({ modifiers }: Instruction): boolean =>
  modifiers.sc0 === true || modifiers.glc === true || modifiers.th === 'TH_ATOMIC_RETURN';

function bufferParts(i: Instruction, kind: Kind): Parts {
  const lds = i.modifiers.lds === true;
  const [data, vector, resource, scalar] = lds ? [undefined, ...i.operands] : i.operands;
  if (resource?.kind !== 'scalar' || resource.count !== 4)
    return unsupported(i, 'a descriptor of four registers is missing');
  const { index } = resource;
  const at = i.modifiers.offen ? placeOf(i, vector) : undefined;
  if (at === undefined && vector?.kind !== 'none') unsupported(i, 'an address that `offen` does not ask for');
  const offset = numberIn(i, 'offset');
  const more = scalarReader(scalar);
  const address: Address = (wave, lane, bytes, what) => {
    const { scalar: s } = wave;
    const within = (at === undefined ? 0 : wave.vector[at + lane]! >>> 0) + offset;
    const base = more(wave) >>> 0;
    if (((s[index + 1]! >>> 16) & 0x3fff) !== 0)
      wave.fail(simulatorCodes.misuse, 'a buffer descriptor with a stride, which is not modelled', lane);
    // The range check of raw buffers leaves the scalar offset out of the offset.
    if (within + bytes > (s[index + 2]! >>> 0) - base) return outside;
    const low = (s[index]! >>> 0) + within + base;
    return wave.group.launch.globalAt(low % word, s[index + 1]! + Math.floor(low / word), bytes, what, wave, lane);
  };
  const reads = [vector, resource, scalar].flatMap(registersOf);
  return { data, result: kind === 'store' ? undefined : data, address, reads };
}

function globalAddress(i: Instruction, vector: Operand | undefined, scalar: Operand | undefined): Address {
  const at = placeOf(i, vector);
  const offset = numberIn(i, 'offset');
  const base = scalar?.kind === 'scalar' ? scalar.index : undefined;
  const wide = vector?.kind === 'vector' && vector.count === 2;
  if (wide === (base !== undefined)) unsupported(i, 'an address of the wrong size');
  return (wave, lane, bytes, what) => {
    const own = wave.vector[at + lane]! >>> 0;
    const low = own + offset + (base === undefined ? 0 : wave.scalar[base]! >>> 0);
    const high = base === undefined ? wave.vector[at + 64 + lane]! : wave.scalar[base + 1]!;
    const inside = ((low % word) + word) % word;
    return wave.group.launch.globalAt(inside, high + Math.floor(low / word), bytes, what, wave, lane);
  };
}
function globalParts(i: Instruction, kind: Kind): Parts {
  const hasResult = kind === 'load' || (kind === 'atomic' && returns(i));
  const [result, rest] = hasResult ? [i.operands[0], i.operands.slice(1)] : [undefined, i.operands];
  const [vector, data, scalar] = kind === 'load' ? [rest[0], undefined, rest[1]] : rest;
  return { data, result, address: globalAddress(i, vector, scalar), reads: [vector, scalar].flatMap(registersOf) };
}

type PartsOf = (i: Instruction, kind: Kind) => Parts;
/** What the operands of a memory instruction say of registers. */
const useOfParts =
  (partsOf: PartsOf, kind: Kind, half?: Access['half']) =>
  (i: Instruction): RegisterUse => {
    const { data, result, reads } = partsOf(i, kind);
    const writes =
      kind === 'load' || (kind === 'atomic' && returns(i)) ? registersOf(result).map((r) => halfOf(r, half)) : [];
    const toLds = i.modifiers.lds === true ? [vectorRegisters + registers.m0] : [];
    return {
      reads: [...reads, ...(kind === 'load' ? [] : registersOf(data).map((r) => halfOf(r, half))), ...toLds],
      writes,
    };
  };

function addresses(wave: Wave, address: Address, bytes: number, kind: Kind): Float64Array {
  const at = new Float64Array(64).fill(inactive);
  for (let l = 0; l < 64; l++) if (wave.isActive(l)) at[l] = address(wave, l, bytes, kind);
  return at;
}
const memoryOf = (wave: Wave) => wave.group.launch.global.views;

/** Moves from global memory straight into the local data share: lane `l` writes at m0 + offset + size * l. */
function loadToLds(i: Instruction, access: Access, address: Address): WaveFunction {
  const offset = numberIn(i, 'offset');
  const { bytes, words } = access;
  return (wave) => {
    const at = addresses(wave, address, bytes, 'load');
    const to = at.map((a, l) =>
      a === inactive
        ? -1
        : wave.group.ldsAt((wave.scalar[registers.m0]! & 0x3ffff) + offset + bytes * l, bytes, 'write', wave, l),
    );
    wave.issue('load', [], () => {
      for (let l = 0; l < 64; l++) {
        if (at[l] === inactive) continue;
        wave.group.observe(to[l]!, bytes, 'store', wave, l);
        for (let w = 0; w < words; w++)
          setWord(wave.group.lds, to[l]! + 4 * w, at[l]! < 0 ? 0 : wordAt(memoryOf(wave), at[l]! + 4 * w));
      }
    });
  };
}

const load = (access: Access, partsOf: PartsOf): InstructionEntry => ({
  doc: `load of ${access.bytes} bytes`,
  modifiers: ['offen', 'offset', 'lds', ...cacheHints],
  uses: useOfParts(partsOf, 'load', access.half),
  kind: 'load',
  wave: ({ instruction: i }) => {
    const { result, address } = partsOf(i, 'load');
    if (i.modifiers.lds) return loadToLds(i, access, address);
    checkCount(i, result, access.words);
    const to = placeOf(i, result);
    const writes = registersOf(result).map((r) => halfOf(r, access.half));
    return (wave) => {
      const at = addresses(wave, address, access.bytes, 'load');
      if (!access.half) wave.spoil(to, access.words, undefined);
      wave.issue('load', writes, () => {
        for (let l = 0; l < 64; l++)
          if (at[l] === outside) loadZero(wave, to, l, access);
          else if (at[l]! >= 0) loadInto(wave, memoryOf(wave), at[l]!, to, l, access);
      });
    };
  },
});
function checkCount(i: Instruction, o: Operand | undefined, words: number): void {
  if (o?.kind !== 'vector' || o.count !== words) unsupported(i, `the data are ${words} registers`);
}

const store = (access: Access, partsOf: PartsOf): InstructionEntry => ({
  doc: `store of ${access.bytes} bytes`,
  modifiers: ['offen', 'offset', ...cacheHints],
  uses: useOfParts(partsOf, 'store', halfRead(access)),
  kind: 'store',
  wave: ({ instruction: i }) => {
    const { data, address } = partsOf(i, 'store');
    checkCount(i, data, access.words);
    const from = placeOf(i, data);
    return (wave) => {
      const at = addresses(wave, address, access.bytes, 'store');
      const taken = takeData(wave, from, access);
      wave.issue('store', [], () => {
        for (let l = 0; l < 64; l++) if (at[l]! >= 0) storeFrom(memoryOf(wave), at[l]!, taken, l, access);
      });
    };
  },
});

/** Compare and swap: new value, then the one that is expected. */
type Update = WordFunction | WideFunction | 'cmpswap';
const atomic = (update: Update, words: 1 | 2, partsOf: PartsOf): InstructionEntry => ({
  doc: 'reads, changes and writes memory as one',
  modifiers: ['offen', 'offset', ...cacheHints],
  uses: useOfParts(partsOf, 'atomic'),
  kind: 'load',
  wave: ({ instruction: i }) => {
    const { data, result, address } = partsOf(i, 'atomic');
    checkCount(i, data, update === 'cmpswap' ? 2 * words : words);
    const from = placeOf(i, data);
    const old = returns(i);
    const to = old ? placeOf(i, result) : 0;
    const writes = old ? registersOf(result).slice(0, words) : [];
    const taken = {
      bytes: 4,
      words: update === 'cmpswap' ? 2 * words : words,
      signed: false,
      half: undefined,
    } as const;
    return (wave) => {
      const at = addresses(wave, address, 4 * words, 'atomic');
      const data = takeData(wave, from, taken);
      if (old) wave.spoil(to, words, undefined);
      wave.issue(old ? 'load' : 'store', writes, () => {
        for (let l = 0; l < 64; l++) if (at[l]! >= 0) change(wave, at[l]!, data, l);
      });
    };
    function change(wave: Wave, at: number, data: Int32Array, l: number): void {
      const memory = memoryOf(wave);
      const words32 = Array.from({ length: words }, (_, w) => wordAt(memory, at + 4 * w));
      const given = data.subarray(l * taken.words, (l + 1) * taken.words);
      if (update === 'cmpswap') {
        if (words32.every((w, n) => w === given[words + n]))
          for (let w = 0; w < words; w++) setWord(memory, at + 4 * w, given[w]!);
      } else if (words === 1) setWord(memory, at, (update as WordFunction)(words32[0]!, given[0]!));
      else {
        const wide = (low: number, high: number): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0);
        const next = (update as WideFunction)(wide(words32[0]!, words32[1]!), wide(given[0]!, given[1]!));
        setWord(memory, at, Number(BigInt.asIntN(32, next)));
        setWord(memory, at + 4, Number(BigInt.asIntN(32, next >> 32n)));
      }
      if (old) for (let w = 0; w < words; w++) wave.vector[to + w * 64 + l] = words32[w]!;
    }
  },
});

/** Memory of single lanes. */
const scratch = (access: Access, kind: 'load' | 'store'): InstructionEntry => {
  const parts = (i: Instruction) => {
    const [data, vector, scalar] = kind === 'load' ? i.operands : [i.operands[1], i.operands[0], i.operands[2]];
    return { data, vector, scalar };
  };
  return {
    doc: `${kind} of ${access.bytes} bytes of the lane's own memory`,
    modifiers: ['offset', ...cacheHints],
    kind,
    uses: (i) => {
      const { data, vector, scalar } = parts(i);
      const address = [vector, scalar].flatMap(registersOf);
      return kind === 'load'
        ? { reads: address, writes: registersOf(data) }
        : { reads: [...address, ...registersOf(data)], writes: [] };
    },
    wave: ({ instruction: i }) => {
      const { data, vector, scalar } = parts(i);
      const { words, bytes } = access;
      if (bytes < 4) unsupported(i, 'scratch of less than a word');
      checkCount(i, data, words);
      const register = placeOf(i, data);
      const own = vector?.kind === 'vector' ? vector.index * 64 : undefined;
      const offset = numberIn(i, 'offset');
      const base = scalarReader(scalar);
      const writes = kind === 'load' ? registersOf(data) : [];
      const addressOf = (wave: Wave, lane: number): number => {
        const at = base(wave) + (own === undefined ? 0 : wave.vector[own + lane]!) + offset;
        if (at < 0 || at + bytes > wave.scratchBytes || (at & 3) !== 0)
          wave.fail(
            simulatorCodes.badAccess,
            `scratch access of ${bytes} bytes at offset ${at} of ${wave.scratchBytes}`,
            lane,
          );
        wave.group.launch.noteAccess(i, 'local', ((at >> 2) * 64 + lane) * 4, bytes, kind === 'store', lane);
        return (at >> 2) * 64 + lane;
      };
      return (wave) => {
        const at = new Int32Array(64).fill(-1);
        for (let l = 0; l < 64; l++) if (wave.isActive(l)) at[l] = addressOf(wave, l);
        const taken = takeData(wave, register, access);
        if (kind === 'load') wave.spoil(register, words, undefined);
        wave.issue(kind, writes, () => {
          for (let l = 0; l < 64; l++) {
            if (at[l]! < 0) continue;
            for (let w = 0; w < words; w++)
              if (kind === 'load') wave.vector[register + w * 64 + l] = wave.scratch[at[l]! + w * 64]!;
              else wave.scratch[at[l]! + w * 64] = taken[l * words + w]!;
          }
        });
      };
    },
  };
};

const scalarLoad = (words: 1 | 2 | 3 | 4 | 8 | 16, buffer: boolean): InstructionEntry => ({
  doc: `scalar load of ${words} words`,
  operands: [`S${words}` as 'S1', buffer ? 's4' : 's2', 's1'],
  modifiers: ['offset', ...cacheHints],
  kind: 'scalar',
  wave: ({ instruction: i }) => {
    const [d, base] = [operandAt(i, 0), operandAt(i, 1)];
    if (d.kind !== 'scalar' || base.kind !== 'scalar') return unsupported(i, 'an operand that is no scalar register');
    const more = scalarReader(i.operands[2]);
    const offset = numberIn(i, 'offset');
    const writes = registersOf(d);
    return (wave) => {
      const { scalar } = wave;
      const low = (scalar[base.index]! >>> 0) + (more(wave) >>> 0) + offset;
      const high = scalar[base.index + 1]! + Math.floor(low / word);
      // The lowest two bits of the address are ignored.
      const at = wave.group.launch.globalAt((low % word) - (low % 4), high, 4 * words, 'load', wave, undefined);
      if (wave.loadsLate) scalar.fill(poison, d.index, d.index + words);
      wave.issue('scalar', writes, () => {
        for (let w = 0; w < words; w++) scalar[d.index + w] = wordAt(memoryOf(wave), at + 4 * w);
      });
    };
  },
});

const spaces: Readonly<Record<string, PartsOf>> = { buffer: bufferParts, global: globalParts, flat: globalParts };

export const memory: InstructionTable = Object.fromEntries([
  ...Object.entries(spaces).flatMap(([space, partsOf]) => [
    ...Object.entries(loads).map(([name, access]) => [`${space}_load_${name}`, load(access, partsOf)] as const),
    ...Object.entries(stores).map(([name, access]) => [`${space}_store_${name}`, store(access, partsOf)] as const),
    ...Object.entries(wordFunctions).map(([name, f]) => [`${space}_atomic_${name}`, atomic(f, 1, partsOf)] as const),
    ...Object.entries(wideFunctions).map(([name, f]) => [`${space}_atomic_${name}`, atomic(f, 2, partsOf)] as const),
    [`${space}_atomic_cmpswap`, atomic('cmpswap', 1, partsOf)] as const,
    [`${space}_atomic_cmpswap_x2`, atomic('cmpswap', 2, partsOf)] as const,
  ]),
  ...['dword', 'dwordx3', 'dwordx4'].map((name): readonly [string, InstructionEntry] => [
    `global_load_lds_${name}`,
    {
      doc: 'load into the local data share',
      modifiers: ['offset', ...cacheHints],
      uses: (i) => ({ reads: [...i.operands.flatMap(registersOf), vectorRegisters + registers.m0], writes: [] }),
      kind: 'load',
      wave: ({ instruction: i }) => loadToLds(i, loads[name]!, globalAddress(i, i.operands[0], i.operands[1])),
    },
  ]),
  ...Object.entries(loads).map(([name, access]) => [`scratch_load_${name}`, scratch(access, 'load')] as const),
  ...Object.entries(stores).map(([name, access]) => [`scratch_store_${name}`, scratch(access, 'store')] as const),
  ...([1, 2, 3, 4, 8, 16] as const).flatMap((words) => {
    const name = `dword${words === 1 ? '' : `x${words}`}`;
    return [
      [`s_load_${name}`, scalarLoad(words, false)] as const,
      [`s_buffer_load_${name}`, scalarLoad(words, true)] as const,
    ];
  }),
]);
