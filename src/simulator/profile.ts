/** What device code does, counted: by opcode, by line of the kernel, by level of memory. Of any device whose code is simulated. */

import { type FileLoc, type Loc, primaryLoc } from '../diagnostics/location.js';

/** What the profile needs of an instruction. */
export interface ProfiledInstruction {
  /** The opcode at its dots. */
  readonly parts: readonly string[];
  readonly loc: Loc;
}

export type MemoryLevel = 'global' | 'shared' | 'local';

/** Accesses of one level of memory. */
export interface Traffic {
  /** Requests: one for each instruction of a warp, and one for each asynchronous copy of a row. */
  readonly requests: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /**
   * What the requests take: sectors of 32 bytes of global and local memory; wavefronts of shared memory, in each of which
   * every one of the 32 banks gives one word of 4 bytes.
   */
  readonly transactions: number;
  /** As many as the same bytes would take side by side. */
  readonly least: number;
}

/** What the instructions of one line of the kernel do. */
export interface LineProfile {
  readonly file: string;
  readonly line: number;
  readonly instructions: number;
  readonly memory: Readonly<Record<MemoryLevel, Traffic>>;
}

export interface Profile {
  /** Instructions of all warps, and of their lanes. */
  readonly instructions: number;
  readonly laneInstructions: number;
  /** Instructions by the first part of their opcode, the most frequent first. */
  readonly mix: Readonly<Record<string, number>>;
  /** Multiplications by matrix instructions, and by all others. */
  readonly matrixProducts: number;
  readonly scalarProducts: number;
  readonly memory: Readonly<Record<MemoryLevel, Traffic>>;
  /** Lines of the kernel, those with the most instructions first; without a line, what belongs to none is the last. */
  readonly lines: readonly LineProfile[];
}

const sectorBytes = 32;
const bankBytes = 4;
const banks = 32;

type Sums = { -readonly [K in keyof Traffic]: number };
const levels = ['global', 'shared', 'local'] as const satisfies readonly MemoryLevel[];
const noTraffic = (): Sums => ({ requests: 0, readBytes: 0, writtenBytes: 0, transactions: 0, least: 0 });
const emptyMemory = (): Record<MemoryLevel, Sums> => ({ global: noTraffic(), shared: noTraffic(), local: noTraffic() });

function add(into: Sums, from: Traffic): void {
  for (const key of Object.keys(from) as (keyof Traffic)[]) into[key] += from[key];
}

/** Counts of one instruction. */
interface Counts {
  executions: number;
  lanes: number;
  readonly memory: Record<MemoryLevel, Sums>;
}

/** Accesses of a warp by one instruction that were not counted yet. */
interface Request {
  readonly level: MemoryLevel;
  readonly writes: boolean;
  readonly size: number;
  readonly addresses: number[];
}

/** Multiplications that a lane does with an instruction that is no matrix instruction. */
function productsOf({ parts }: ProfiledInstruction): number {
  const [name = ''] = parts;
  if (!/^(?:fma|mul|mad|v_(?:pk_)?(?:fma|mul|mad|fmac|dual_fmac|dual_mul)\w*)$/.test(name)) return 0;
  const type = parts.at(-1)!;
  if (/^(?:f16x2|bf16x2|f32x2)$/.test(type) || name.startsWith('v_pk_')) return 2;
  return /^(?:f16|bf16|f32|f64)$/.test(type) || /_f(?:16|32|64)$/.test(name) ? 1 : 0;
}

/** Collects a profile while code runs. */
export class Profiler {
  private readonly counts = new Map<ProfiledInstruction, Counts>();
  private readonly requests = new Map<ProfiledInstruction, Request[]>();

  private countsOf(instruction: ProfiledInstruction): Counts {
    let counts = this.counts.get(instruction);
    if (!counts) {
      counts = { executions: 0, lanes: 0, memory: emptyMemory() };
      this.counts.set(instruction, counts);
    }
    return counts;
  }

  /** A warp does instructions with some of its lanes. */
  step(instructions: readonly ProfiledInstruction[], lanes: number): void {
    this.settle();
    for (const instruction of instructions) {
      const counts = this.countsOf(instruction);
      counts.executions++;
      counts.lanes += lanes;
    }
  }

  /** A lane's access; those of one instruction are one request. Generated code does several instructions lane by lane. */
  access(instruction: ProfiledInstruction, level: MemoryLevel, address: number, size: number, writes: boolean): void {
    const own = this.requests.get(instruction) ?? [];
    if (own.length === 0) this.requests.set(instruction, own);
    let request = own.find((r) => r.level === level && r.writes === writes && r.size === size);
    if (!request) {
      request = { level, writes, size, addresses: [] };
      own.push(request);
    }
    request.addresses.push(address);
  }

  /** Bytes that an asynchronous engine moves. */
  range(instruction: ProfiledInstruction, level: MemoryLevel, address: number, size: number, writes: boolean): void {
    if (size === 0) return;
    const unit = level === 'shared' ? bankBytes * banks : sectorBytes;
    add(this.countsOf(instruction).memory[level], {
      requests: 1,
      readBytes: writes ? 0 : size,
      writtenBytes: writes ? size : 0,
      transactions: Math.floor((address + size - 1) / unit) - Math.floor(address / unit) + 1,
      least: Math.ceil(size / unit),
    });
  }

  private settle(): void {
    if (this.requests.size === 0) return;
    for (const [instruction, own] of this.requests)
      for (const { level, writes, size, addresses } of own) {
        const bytes = size * addresses.length;
        const [transactions, least] = level === 'shared' ? wavefronts(addresses, size) : sectors(addresses, size);
        add(this.countsOf(instruction).memory[level], {
          requests: 1,
          readBytes: writes ? 0 : bytes,
          writtenBytes: writes ? bytes : 0,
          transactions,
          least,
        });
      }
    this.requests.clear();
  }

  /** @param matrixProducts multiplications of matrix instructions. */
  finish(matrixProducts: number): Profile {
    this.settle();
    const mix = new Map<string, number>();
    const lines = new Map<
      string,
      { at: FileLoc | undefined; instructions: number; memory: Record<MemoryLevel, Sums> }
    >();
    const memory = emptyMemory();
    let [instructions, laneInstructions, scalarProducts] = [0, 0, 0];
    for (const [instruction, counts] of this.counts) {
      const [name = ''] = instruction.parts;
      instructions += counts.executions;
      laneInstructions += counts.lanes;
      scalarProducts += counts.lanes * productsOf(instruction);
      mix.set(name, (mix.get(name) ?? 0) + counts.executions);
      const at = primaryLoc(instruction.loc);
      const key = at ? `${at.file}:${at.line}` : '';
      const line = lines.get(key) ?? { at, instructions: 0, memory: emptyMemory() };
      lines.set(key, line);
      line.instructions += counts.executions;
      for (const level of levels) {
        add(line.memory[level], counts.memory[level]);
        add(memory[level], counts.memory[level]);
      }
    }
    const byCount =
      <T>(of: (item: T) => number, name: (item: T) => string) =>
      (a: T, b: T) =>
        of(b) - of(a) || (name(a) < name(b) ? -1 : 1);
    return {
      instructions,
      laneInstructions,
      mix: Object.fromEntries(
        [...mix].sort(
          byCount(
            ([, n]) => n,
            ([name]) => name,
          ),
        ),
      ),
      matrixProducts,
      scalarProducts,
      memory,
      lines: [...lines.values()]
        .map(({ at, ...rest }) => ({ file: at?.file ?? '', line: at?.line ?? 0, ...rest }))
        .sort(
          byCount(
            (l) => l.instructions,
            (l) => `${l.file}:${l.line}`,
          ),
        ),
    };
  }
}

/** Sectors that a request touches, and those that its distinct bytes fill. */
function sectors(addresses: readonly number[], size: number): [number, number] {
  const touched = new Set<number>();
  for (const a of addresses)
    for (let s = Math.floor(a / sectorBytes); s <= Math.floor((a + size - 1) / sectorBytes); s++) touched.add(s);
  return [touched.size, Math.ceil((new Set(addresses).size * size) / sectorBytes)];
}

/** Wavefronts of a request, 128 bytes of lanes at a time; lanes that read one word share it. */
function wavefronts(addresses: readonly number[], size: number): [number, number] {
  const together = Math.max(1, Math.floor((banks * bankBytes) / Math.max(size, bankBytes)));
  let [taken, least] = [0, 0];
  for (let from = 0; from < addresses.length; from += together) {
    const words = new Set<number>();
    for (const a of addresses.slice(from, from + together))
      for (let w = Math.floor(a / bankBytes); w <= Math.floor((a + size - 1) / bankBytes); w++) words.add(w);
    const perBank = new Int32Array(banks);
    for (const w of words) perBank[w % banks]!++;
    taken += Math.max(...perBank);
    least += Math.ceil(words.size / banks);
  }
  return [taken, least];
}

const percent = (part: number, whole: number): string => (whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`);

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, c) => Math.max(...rows.map((r) => r[c]!.length)));
  return rows.map((r) =>
    r
      .map((cell, c) => (c === 0 ? cell.padEnd(widths[c]!) : cell.padStart(widths[c]!)))
      .join('  ')
      .trimEnd(),
  );
}

const bytesText = (n: number): string =>
  n < 10_000 ? `${n} B` : n < 10_000_000 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1024 ** 2).toFixed(1)} MiB`;

/** The profile as text: totals, opcodes, levels of memory, lines. */
export function formatProfile(profile: Profile, mostLines = 20): string {
  const { instructions, laneInstructions, mix, matrixProducts, scalarProducts, memory, lines } = profile;
  const products = matrixProducts + scalarProducts;
  const used = levels.filter((level) => memory[level].requests > 0);
  const shown = lines.slice(0, mostLines);
  return [
    `${instructions} instructions of warps, ${laneInstructions} of lanes; ${percent(matrixProducts, products)} of ${products} floating-point multiplications by matrix instructions`,
    '',
    ...table([
      ['opcode', 'instructions', 'share'],
      ...Object.entries(mix)
        .slice(0, mostLines)
        .map(([name, n]) => [name, String(n), percent(n, instructions)]),
    ]),
    '',
    ...table([
      ['memory', 'requests', 'read', 'written', 'transactions', 'least', 'least / taken'],
      ...used.map((level) => {
        const m = memory[level];
        return [
          level,
          String(m.requests),
          bytesText(m.readBytes),
          bytesText(m.writtenBytes),
          `${m.transactions} ${level === 'shared' ? 'wavefronts' : 'sectors'}`,
          String(m.least),
          percent(m.least, m.transactions),
        ];
      }),
    ]),
    '',
    ...table([
      ['line', 'instructions', 'share', 'sectors', 'least', 'wavefronts', 'least'],
      ...shown.map((l) => [
        l.file === '' ? '(no line)' : `${l.file}:${l.line}`,
        String(l.instructions),
        percent(l.instructions, instructions),
        String(l.memory.global.transactions + l.memory.local.transactions),
        String(l.memory.global.least + l.memory.local.least),
        String(l.memory.shared.transactions),
        String(l.memory.shared.least),
      ]),
    ]),
    ...(lines.length > shown.length ? [`and ${lines.length - shown.length} lines more`] : []),
  ].join('\n');
}
