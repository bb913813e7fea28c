/** Branches, waits, the barrier, and what only hints at something. */

import type { InstructionEntry, InstructionTable } from '../instruction.js';
import { type Instruction, registers } from '../module.js';
import { unsupported } from '../unsupported.js';
import type { Counter, WaitCounts, Wave } from '../wave.js';

const branch = (doc: string, test: (wave: Wave, wide: boolean) => boolean): InstructionEntry => ({
  doc,
  operands: ['label'],
  branch: (target) => (wave) => test(wave, target.lanes === 64),
});
const anyOf =
  (register: number) =>
  ({ scalar }: Wave, wide: boolean): boolean =>
    (scalar[register]! | (wide ? scalar[register + 1]! : 0)) !== 0;
const conditionCode = anyOf(registers.vcc);
const exec = anyOf(registers.exec);

/** What the simulator has no use for: timing, caches, priorities. */
const hint = (doc: string): InstructionEntry => ({ doc, modifiers: 'any', wave: () => () => {} });

const wait = (doc: string, read: (i: Instruction) => WaitCounts): InstructionEntry => ({
  doc,
  modifiers: 'any',
  wave: ({ instruction }) => {
    const counts = read(instruction);
    return (wave) => wave.wait(counts);
  },
});
/** The count at the end of an instruction of its own for one counter. */
function countOf(i: Instruction): number {
  const o = i.operands.at(-1);
  return o?.kind === 'constant' ? Number(o.value) : unsupported(i, 'a wait without a count');
}
const waitFor = (...counters: Counter[]): InstructionEntry =>
  wait(`until few enough operations are in flight`, (i) => {
    const count = countOf(i);
    return Object.fromEntries(counters.map((c) => [c, count]));
  });
/** Two counters in one number: 6 bits each, 8 apart. */
const waitForBoth = (first: Counter, second: Counter): InstructionEntry =>
  wait('until few enough operations of both kinds are in flight', (i) => {
    const count = countOf(i);
    return { [first]: (count >> 8) & 63, [second]: count & 63 };
  });

const counterNames: Readonly<Record<string, Counter | undefined>> = {
  vmcnt: 'vm',
  lgkmcnt: 'lgkm',
  vscnt: 'vs',
  expcnt: undefined,
};
function waitcnt(i: Instruction): WaitCounts {
  const named = Object.entries(i.modifiers);
  if (named.length > 0)
    return Object.fromEntries(
      named.flatMap(([name, value]) => {
        if (!Object.hasOwn(counterNames, name) || typeof value !== 'number')
          return unsupported(i, `the counter '${name}'`);
        const counter = counterNames[name];
        return counter ? [[counter, value]] : [];
      }),
    );
  const count = countOf(i);
  return { vm: (count & 15) | ((count >> 10) & 48), lgkm: (count >> 8) & 15 };
}

const atBarrier = (wave: Wave): void => {
  wave.blocked = 'waits at the barrier';
};

export const control = {
  s_branch: branch('always', () => true),
  s_cbranch_scc0: branch('where the condition does not hold', (w) => w.scc === 0),
  s_cbranch_scc1: branch('where the condition holds', (w) => w.scc !== 0),
  s_cbranch_vccz: branch('where vcc is 0', (w, wide) => !conditionCode(w, wide)),
  s_cbranch_vccnz: branch('where vcc is not 0', conditionCode),
  s_cbranch_execz: branch('where no lane is on', (w, wide) => !exec(w, wide)),
  s_cbranch_execnz: branch('where a lane is on', exec),
  s_endpgm: { doc: 'ends the wave', operands: [], wave: () => (wave) => wave.finish() },
  s_waitcnt: wait('until few enough operations are in flight', waitcnt),
  s_waitcnt_vscnt: waitFor('vs'),
  s_waitcnt_vmcnt: waitFor('vm'),
  s_waitcnt_lgkmcnt: waitFor('lgkm'),
  s_waitcnt_expcnt: hint('until exports are done; there are none'),
  s_wait_loadcnt: waitFor('vm'),
  s_wait_storecnt: waitFor('vs'),
  s_wait_dscnt: waitFor('lgkm'),
  s_wait_kmcnt: waitFor('km'),
  s_wait_samplecnt: hint('until images are read; there are none'),
  s_wait_bvhcnt: hint('until rays are traced; there are none'),
  s_wait_expcnt: hint('until exports are done; there are none'),
  s_wait_loadcnt_dscnt: waitForBoth('vm', 'lgkm'),
  s_wait_storecnt_dscnt: waitForBoth('vs', 'lgkm'),
  s_wait_idle: wait('until nothing is in flight', () => ({ vm: 0, vs: 0, lgkm: 0, km: 0 })),
  s_barrier: {
    doc: 'all waves of the workgroup meet',
    operands: [],
    wave: () => (wave) => {
      wave.group.signal(wave);
      atBarrier(wave);
    },
  },
  s_barrier_signal: {
    doc: 'tells the others that this wave is here',
    operands: ['s1'],
    wave: ({ instruction: i }) => {
      if (Number(i.operands[0]?.kind === 'constant' ? i.operands[0].value : 0) !== -1)
        unsupported(i, 'a barrier other than that of the workgroup');
      return (wave) => wave.group.signal(wave);
    },
  },
  s_barrier_wait: { doc: 'waits until all waves are there', operands: ['s1'], wave: () => atBarrier },
  s_nop: hint('nothing, for some cycles'),
  s_delay_alu: hint('how long results take'),
  s_clause: hint('memory operations that belong together'),
  s_setprio: hint('priority of the wave'),
  s_sleep: hint('lets others run'),
  s_sethalt: hint('stops for a debugger'),
  s_inst_prefetch: hint('fetches instructions ahead'),
  s_set_inst_prefetch_distance: hint('fetches instructions ahead'),
  s_code_end: hint('behind the end of the code'),
  s_icache_inv: hint('forgets the instruction cache'),
  s_dcache_wb: hint('writes the scalar cache back'),
  s_waitcnt_depctr: hint('until results of the vector unit are there'),
  s_wait_alu: hint('until results of the vector unit are there'),
  s_sendmsg: hint('a message to the hardware'),
  s_ttracedata_imm: hint('a mark for traces'),
  buffer_wbl2: hint('writes a cache back'),
  buffer_inv: hint('forgets a cache'),
  buffer_gl0_inv: hint('forgets a cache'),
  buffer_gl1_inv: hint('forgets a cache'),
  global_inv: hint('forgets a cache'),
  global_wb: hint('writes a cache back'),
  global_wbinv: hint('writes a cache back and forgets it'),
} satisfies InstructionTable;
