/** Data parallel primitives: the first source comes from another lane, by a fixed pattern. */

import type { WaveFunction } from './instruction.js';
import { type AmdTarget, gatherRegister, type Instruction, type Modifier } from './module.js';
import { unsupported } from './unsupported.js';

/** Which lane a lane reads; -1 for none. */
type Pattern = (lane: number) => number;

function patternOf(name: string, value: Modifier): Pattern | undefined {
  const n = typeof value === 'number' ? value : 0;
  const list = Array.isArray(value) ? (value as readonly number[]) : [];
  switch (name) {
    case 'quad_perm':
      return (l) => (l & ~3) + list[l & 3]!;
    case 'dpp8':
      return (l) => (l & ~7) + list[l & 7]!;
    case 'row_shl':
      return (l) => ((l & 15) + n < 16 ? l + n : -1);
    case 'row_shr':
      return (l) => ((l & 15) >= n ? l - n : -1);
    case 'row_ror':
      return (l) => (l & ~15) + ((l - n) & 15);
    case 'row_mirror':
      return (l) => (l & ~15) + 15 - (l & 15);
    case 'row_half_mirror':
      return (l) => (l & ~7) + 7 - (l & 7);
    case 'row_newbcast':
    case 'row_share':
      return (l) => (l & ~15) + n;
    case 'row_xmask':
      return (l) => l ^ n;
    case 'row_bcast':
      return n === 15 ? (l) => (l < 16 ? -1 : (l & ~15) - 1) : (l) => (l < 32 ? -1 : 31);
    case 'wave_shl':
      return (l) => (l < 63 ? l + 1 : -1);
    case 'wave_shr':
      return (l) => l - 1;
    case 'wave_rol':
      return (l) => (l + 1) & 63;
    case 'wave_ror':
      return (l) => (l - 1) & 63;
    default:
      return undefined;
  }
}

export interface Gather {
  /** Fills the gather register, and says which lanes may write. */
  readonly gather: WaveFunction;
  /** The instruction on that register. */
  readonly instruction: Instruction;
}

export function gatherStep(i: Instruction, results: number, { lanes }: AmdTarget): Gather {
  const source = i.operands[results];
  if (source?.kind !== 'vector' || source.count !== 1) return unsupported(i, 'DPP of something else than one register');
  const controls = Object.entries(i.modifiers).flatMap(([name, value]) => patternOf(name, value) ?? []);
  const [pattern] = controls;
  if (!pattern || controls.length > 1) return unsupported(i, 'DPP needs one pattern');
  const mask = (name: string): number => {
    const value = i.modifiers[name] ?? 15;
    return typeof value === 'number' ? value : unsupported(i, `the modifier '${name}'`);
  };
  const [rows, banks] = [mask('row_mask'), mask('bank_mask')];
  // Assemblers write 0 or 1 for the same bit: lanes that have no source read 0.
  const zero = i.modifiers.bound_ctrl !== undefined;
  const inactiveToo = i.modifiers.fi === 1;
  const from = Int32Array.from({ length: lanes }, (_, l) => {
    const other = pattern(l);
    return other < lanes ? other : -1;
  });
  const allowed = new Int32Array(2);
  for (let l = 0; l < lanes; l++)
    if ((rows >> (l >> 4)) & 1 && (banks >> ((l >> 2) & 3)) & 1) allowed[l >> 5]! |= 1 << (l & 31);
  const [at, to] = [source.index * 64, gatherRegister * 64];
  const half = source.half;
  if (half) unsupported(i, 'DPP of half a register');
  return {
    gather: (wave) => {
      const { vector, gathered } = wave;
      gathered.set(allowed);
      for (let l = 0; l < lanes; l++) {
        const other = from[l]!;
        const there = other >= 0 && (inactiveToo || wave.isActive(other));
        vector[to + l] = there ? vector[at + other]! : 0;
        if (!there && !zero) gathered[l >> 5]! &= ~(1 << (l & 31));
      }
    },
    instruction: {
      ...i,
      operands: i.operands.with(results, { ...source, index: gatherRegister }),
      modifiers: Object.fromEntries(Object.entries(i.modifiers).filter(([name]) => patternOf(name, 0) === undefined)),
    },
  };
}
