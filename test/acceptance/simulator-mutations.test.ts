import { beforeAll, expect, test } from '@jest/globals';
import { CompileError } from '../../src/diagnostics/diagnostic.js';
import { loadAmd, loadPtx, schedules, simulateCode } from '../../src/simulator/index.js';
import { describeTool } from '../support/tools.js';
import { compileReferences, type Made, prepare } from '../support/triton-reference.js';

/*
 * Code that is right, broken in one place: what the simulators do not notice is what they cannot tell apart.
 * `npm run test:mutations` runs all of it; the suite a part.
 */

type Edit = (text: string) => string;
/** Replaces the match at a place: the first is 0, the last -1, the one in the middle `middle`. */
const replace =
  (pattern: RegExp, at: number | 'middle', by: string | ((...groups: string[]) => string)): Edit =>
  (text) => {
    const all = [...text.matchAll(pattern)];
    const index = at === 'middle' ? all.length >> 1 : at < 0 ? all.length + at : at;
    const match = all[index];
    if (!match) return text;
    const made = typeof by === 'string' ? by : by(...(match as unknown as string[]));
    return text.slice(0, match.index) + made + text.slice(match.index + match[0].length);
  };
const places = [0, 'middle', -1] as const;
/** The same edit at the first, the middle and the last place. */
const everywhere = (name: string, pattern: RegExp, by: Parameters<typeof replace>[2]): (readonly [string, Edit])[] =>
  places.map((at) => [`${name}, ${at === 0 ? 'first' : at === -1 ? 'last' : at}`, replace(pattern, at, by)] as const);
const more = (n: string | undefined, by: number): number => Number(n ?? 0) + by;

const amdEdits: readonly (readonly [string, Edit])[] = [
  ...everywhere('no barrier', /\ts_barrier\b/g, '\ts_nop 0'),
  ...everywhere('no wait for loads', /\ts_waitcnt vmcnt\(\d+\)/g, '\ts_nop 0'),
  ...everywhere('one load is not waited for', /vmcnt\((\d+)\)/g, (_, n) => `vmcnt(${more(n, 1)})`),
  ...everywhere('no wait for LDS', /\ts_waitcnt lgkmcnt\(\d+\)/g, '\ts_nop 0'),
  ...everywhere('one LDS operation is not waited for', /lgkmcnt\((\d+)\)/g, (_, n) => `lgkmcnt(${more(n, 1)})`),
  ...everywhere(
    'LDS write elsewhere',
    /(ds_(?:write|store)_b\d+ v\d+, v\S+)( offset:(\d+))?\n/g,
    (_, a, _b, o) => `${a} offset:${more(o, 16)}\n`,
  ),
  ...everywhere(
    'LDS read elsewhere',
    /(ds_(?:read|load)_\w+ \S+, v\d+)( offset:(\d+))?\n/g,
    (_, a, _b, o) => `${a} offset:${more(o, 16)}\n`,
  ),
  ...everywhere('global store elsewhere', /((?:buffer|global)_store_\S+ [^\n;]*)\n/g, (_, a) =>
    `${a} offset:16\n`.replace(/ offset:\d+ offset/, ' offset'),
  ),
  ...everywhere('global load elsewhere', /((?:buffer|global)_load_\S+ [^\n;]*)\n/g, (_, a) =>
    `${a} offset:8\n`.replace(/ offset:\d+ offset/, ' offset'),
  ),
  ...everywhere('DPP of another lane', /row_shr:(\d)/g, (_, n) => `row_shr:${n === '1' ? 2 : 1}`),
  ...everywhere('DPP of the own lane', /quad_perm:\[\d,\d,\d,\d\]/g, 'quad_perm:[0,1,2,3]'),
  ...everywhere('DPP mirrored wholly', /row_half_mirror/g, 'row_mirror'),
  ...everywhere(
    'matrix operands exchanged',
    /(v_(?:mfma|wmma)\S+ [va]\[\S+\], )(v\S+), (v\S+),/g,
    (_, a, x, y) => `${a}${y}, ${x},`,
  ),
  ...everywhere(
    'matrix product without its sum',
    /(v_(?:mfma|wmma)\S+ [^\n]*), (?:v\[\S+\]|a\[\S+\])\n/g,
    (_, a) => `${a}, 0\n`,
  ),
  ...everywhere('another comparison', /v_cmp_gt_i32/g, 'v_cmp_ge_i32'),
  ...everywhere(
    'choice exchanged',
    /(v_cndmask_b32_e\d+ v\d+, )([^,\n]+), ([^,\n]+), (s\[|s\d|vcc)/g,
    (_, a, x, y, m) => `${a}${y}, ${x}, ${m}`,
  ),
  ...everywhere('no choice of halves', / op_sel_hi:\[\S+\]/g, ''),
  ...everywhere(
    'bytes from the other register',
    /(v_perm_b32 v\d+, )(v\d+), (v\d+)/g,
    (_, a, x, y) => `${a}${y}, ${x}`,
  ),
  ...everywhere('branch the other way', /s_cbranch_scc([01])/g, (_, n) => `s_cbranch_scc${1 - Number(n)}`),
  ...everywhere('no atomic', /\t(?:buffer|global)_atomic_add[^\n]*/g, '\ts_nop 0'),
  ...everywhere('EXEC is not restored', /\ts_or_b(?:64|32) exec\S*, exec[^\n]*/g, '\ts_nop 0'),
  ...everywhere(
    'all lanes stay on',
    /s_and_saveexec_b(64|32) (\S+), (\S+)/g,
    (_, n, a) => `s_mov_b${n} ${a}, ${n === '64' ? 'exec' : 'exec_lo'}`,
  ),
  ...everywhere('xor by another constant', /(v_xor_b32\S* v\d+, )(\d+), /g, (_, a, n) => `${a}${Number(n) ^ 16}, `),
  ...everywhere('shift by one more', /(v_lsh[lr]rev_b32\S* v\d+, )(\d+), /g, (_, a, n) => `${a}${more(n, 1)}, `),
  ...everywhere('no addition', /\tv_add_f32\S* (v\d+), (v\d+), v\d+\n/g, (_, d, a) => `\tv_mov_b32_e32 ${d}, ${a}\n`),
];

const ptxEdits: readonly (readonly [string, Edit])[] = [
  ...everywhere('no barrier', /\tbar\.sync[^;]*;/g, '\t'),
  ...everywhere(
    'one copy is not waited for',
    /cp\.async\.wait_group[ \t]+(\d+)/g,
    (_, n) => `cp.async.wait_group ${more(n, 1)}`,
  ),
  ...everywhere('no copy', /\t(?:@\S+ )?cp\.async\.c[ag]\.shared[^;]*;/g, '\t'),
  ...everywhere(
    'shared store elsewhere',
    /(st\.shared\S*[ \t]+\[[^\]+]*)(?:\+(\d+))?\]/g,
    (_, a, o) => `${a}+${more(o, 16)}]`,
  ),
  ...everywhere(
    'shared load elsewhere',
    /(ld\.shared\S*[ \t]+[^;[]*\[[^\]+]*)(?:\+(\d+))?\]/g,
    (_, a, o) => `${a}+${more(o, 16)}]`,
  ),
  ...everywhere(
    'matrix load elsewhere',
    /(ldmatrix\S*[ \t]+[^;[]*\[[^\]+]*)(?:\+(\d+))?\]/g,
    (_, a, o) => `${a}+${more(o, 16)}]`,
  ),
  ...everywhere('matrix load not transposed', /\.trans/g, ''),
  ...everywhere(
    'shuffle of another lane',
    /(shfl\.sync\.bfly\.b32[^;]*, )(\d+)(, 31)/g,
    (_, a, n, b) => `${a}${Number(n) === 1 ? 2 : Number(n) >> 1}${b}`,
  ),
  ...everywhere('predicate turned around', /setp\.lt\.s32/g, 'setp.ge.s32'),
  ...everywhere('another comparison', /setp\.gt\.s32/g, 'setp.ge.s32'),
  ...everywhere('no guard', /\t@(%p\d+) (ld|st)\.global/g, (_, _p, op) => `\t${op}.global`),
  ...everywhere('branch the other way', /@(!?)(%p\d+) bra/g, (_, not, p) => `@${not ? '' : '!'}${p} bra`),
  ...everywhere('global store elsewhere', /(st\.global\S* \[ %rd\d+ \+ )(\d+)/g, (_, a, n) => `${a}${more(n, 16)}`),
  ...everywhere(
    'global load elsewhere',
    /(ld\.global\S* \{[^}]*\}, \[ %rd\d+ \+ )(\d+)/g,
    (_, a, n) => `${a}${more(n, 16)}`,
  ),
  ...everywhere('no atomic', /\t(?:@\S+ )?(?:atom|red)\.[^;]*;/g, '\t'),
  ...everywhere('no wait for matrix products', /wgmma\.wait_group\.sync\.aligned\s+\d+;/g, ''),
  ...everywhere('no fence of matrix operands', /fence\.proxy\.async[^;]*;/g, ''),
  ...everywhere(
    'matrix descriptor elsewhere',
    /(wgmma\.mma_async[^;]*?, )(%rd\d+)(, %rd\d+, )(\d|%p\d+)/g,
    (_, a, b, c, d) => `${a}${b}${c}${d === '0' ? '1' : '0'}`,
  ),
  ...everywhere(
    'no addition',
    /add\.rn\.f32[ \t]+(%[rf]\d+), (%[rf]\d+), %[rf]\d+;/g,
    (_, d, a) => `mov.b32 ${d}, ${a};`,
  ),
  ...everywhere('shift by one more', /(shl\.b32[ \t]+%r\d+, %r\d+, )(\d+)/g, (_, a, n) => `${a}${more(n, 1)}`),
  ...everywhere(
    'xor by another constant',
    /(xor\.b32[ \t]+%r\d+, %r\d+, )(\d+);/g,
    (_, a, n) => `${a}${Number(n) ^ 16};`,
  ),
];

/** Whether any of the schedules sees that something is wrong: a result, a finding, an error. */
function isNoticed(job: string, made: Made, text: string): boolean {
  const ptx = job.startsWith('sm_');
  for (const name of ['eager', 'lazy', 'reversed', 'shuffled']) {
    const { launch, memory, wrong } = prepare(job, made);
    try {
      const code = ptx ? loadPtx(text) : loadAmd(text);
      const schedule = schedules.find((s) => s.name === name)!;
      const { findings } = simulateCode(code, launch, memory, { schedule, maxSteps: 3e6 });
      if (findings.length > 0 || wrong() !== undefined) return true;
    } catch (error) {
      // Text that is no code any more would prove nothing.
      if (!(error instanceof CompileError)) throw error;
      if (error.diagnostics.some((d) => d.code === 'TW6001')) throw error;
      return true;
    }
  }
  return false;
}

const all = process.env.TILEWRIGHT_MUTATIONS === 'all';
const kernels = ['softmax', 'layer_norm', 'histogram', 'scan', 'attention', 'matmul:f16'];
const jobs = {
  amd: all
    ? ['gfx942', 'gfx1100'].flatMap((t) => kernels.map((k) => `${t}:${k}`))
    : ['gfx942:histogram', 'gfx942:scan'],
  ptx: all ? ['sm_80', 'sm_90'].flatMap((t) => kernels.map((k) => `${t}:${k}`)) : ['sm_90:histogram', 'sm_90:softmax'],
};
/** Share of the mutants that must be noticed. */
const least = 0.8;

describeTool('triton', 'code that is right, broken in one place', () => {
  let made = new Map<string, Made>();
  beforeAll(async () => {
    made = await compileReferences([...jobs.amd, ...jobs.ptx]);
  }, 120_000);

  test.each([
    ['AMD assembly', jobs.amd, amdEdits],
    ['PTX', jobs.ptx, ptxEdits],
  ] as const)(
    '%s: enough is noticed',
    (_, some, edits) => {
      const missed: string[] = [];
      let count = 0;
      for (const job of some) {
        const one = made.get(job)!;
        const clean = job.startsWith('sm_') ? one.text : one.text.replace(/[ \t]*;.*/g, '');
        const seen = new Set([clean]);
        for (const [name, edit] of edits) {
          const text = edit(clean);
          // Where a pattern matches once, its three places are one.
          if (seen.has(text)) continue;
          seen.add(text);
          count++;
          if (!isNoticed(job, one, text)) missed.push(`${job}: ${name}`);
        }
      }
      if (all) process.stdout.write(`${count - missed.length} of ${count} noticed\n${missed.join('\n')}\n`);
      expect({
        share: (count - missed.length) / count >= least,
        missed: (count - missed.length) / count >= least ? [] : missed,
      }).toEqual({
        share: true,
        missed: [],
      });
      expect(count).toBeGreaterThan(all ? 145 : 20);
    },
    1_200_000,
  );
});
