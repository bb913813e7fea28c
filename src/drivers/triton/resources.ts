/** What a compiled kernel takes, read from what the compilers say about it. */

/** Of one program, in the target's own units; what a stage has not found out is absent. */
export interface Resources {
  readonly threads?: number;
  readonly sharedBytes?: number;
  /** Per thread; on AMD vector registers. */
  readonly registers?: number;
  readonly scalarRegisters?: number;
  /** Bytes (NVIDIA) or registers (AMD) that found no register. */
  readonly spills?: number;
  /** Bytes of local memory of a thread: arrays, and what was spilled. */
  readonly stackBytes?: number;
  readonly tensorColumns?: number;
}

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

/** One buffer in shared memory, as the GPU stage of the IR allocates it. */
export interface SharedBuffer {
  /** `3 x 128 x 64 x f16` */
  readonly shape: string;
  readonly bytes: number;
  /** Where in the user's file, as `file:line:col`. */
  readonly place?: string;
}

const bits = (element: string): number => {
  if (/^f8|^i8$/.test(element)) return 8;
  return Number(/\d+$/.exec(element)?.[0] ?? 32);
};

/** The buffers that a `ttgir` text allocates in shared memory, largest first. */
export function sharedBuffers(ttgir: string): SharedBuffer[] {
  const places = new Map([...ttgir.matchAll(/^#(loc\d*) = loc\((.*)\)$/gm)].map((m) => [m[1]!, m[2]!]));
  const placeOf = (name: string | undefined, depth = 0): string | undefined => {
    const text = name === undefined ? undefined : places.get(name);
    if (text === undefined || depth > 8) return undefined;
    const direct = /"([^"]+)":(\d+):(\d+)/.exec(text);
    if (direct) return direct.slice(1).join(':');
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
