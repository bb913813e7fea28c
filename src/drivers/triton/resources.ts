/** What a compiled kernel takes, read from what the compilers say about it. */

import type { Resources, SharedBuffer } from '../../lowering/resource-bill.js';

const number = (text: string, pattern: RegExp): number | undefined => {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Without the entries that are undefined. */
const present = (record: { readonly [K in keyof Resources]: number | undefined }): Resources =>
  Object.fromEntries(Object.entries(record).filter(([, v]) => v !== undefined));

/** From what `ptxas -v` prints. */
export function ptxasResources(printed: string): Resources {
  const stores = number(printed, /(\d+) bytes spill stores/);
  return present({
    registers: number(printed, /Used (\d+) registers/),
    spills: stores === undefined ? undefined : Math.max(stores, number(printed, /(\d+) bytes spill loads/) ?? 0),
    stackBytes: number(printed, /(\d+) bytes stack frame/),
  });
}

/** From the metadata at the end of AMD assembly. */
export function amdgcnResources(assembly: string): Resources {
  const field = (name: string): number | undefined => number(assembly, new RegExp(`^ +\\.${name}:\\s+(\\d+)`, 'm'));
  const spills = field('vgpr_spill_count');
  return present({
    registers: field('vgpr_count'),
    scalarRegisters: field('sgpr_count'),
    spills,
    stackBytes: field('private_segment_fixed_size'),
  });
}

const bits = (element: string): number => {
  if (/^f8|^i8$/.test(element)) return 8;
  return Number(/\d+$/.exec(element)?.[0] ?? 32);
};

/** The buffers that a `ttgir` text allocates in shared memory, largest first. */
export function sharedBuffers(ttgir: string): SharedBuffer[] {
  const places = new Map([...ttgir.matchAll(/^#(loc\d*) = loc\((.*)\)$/gm)].map((m) => [m[1]!, m[2]!]));
  const placeOf = (name: string | undefined, depth = 0): SharedBuffer['place'] => {
    const text = name === undefined ? undefined : places.get(name);
    if (text === undefined || depth > 8) return undefined;
    const direct = /"([^"]+)":(\d+):(\d+)/.exec(text);
    if (direct) return { file: direct[1]!, line: Number(direct[2]), col: Number(direct[3]) };
    return placeOf(/#(loc\d*)/.exec(text)?.[1], depth + 1);
  };
  const buffers: SharedBuffer[] = [];
  for (const line of ttgir.split('\n')) {
    const type = /ttg\.local_alloc\b.*!ttg\.memdesc<((?:\d+x)*)(\w+),[^>]*#smem/.exec(line);
    if (!type) continue;
    const shape = type[1]!.split('x').slice(0, -1).map(Number);
    const bytes = (shape.reduce((a, b) => a * b, 1) * bits(type[2]!)) / 8;
    const place = placeOf(/loc\(#(loc\d*)\)\s*$/.exec(line)?.[1]);
    buffers.push({ shape: [...shape, type[2]!].join(' x '), bytes, ...(place === undefined ? {} : { place }) });
  }
  return buffers.sort((a, b) => b.bytes - a.bytes);
}
