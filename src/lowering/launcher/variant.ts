/** One target of a launcher: its images, the checks before a launch, and the calls of its launches, as the template reads them. */

import { invariant } from '../../diagnostics/diagnostic.js';
import { storageBytes } from '../../ir/dtypes.js';
import { parseExtent } from '../../ir/parser.js';
import type { DevicePlan, PlanSlot } from '../device-plan.js';
import type { LaunchPlan, PlanLaunch } from '../launch-plan.js';
import type { View } from '../render.js';
import type { ArrayParam } from './c-arguments.js';
import { arrayBytes, asDType, cExtent, cText, scalarType } from './c-text.js';

/** What was compiled for one target. */
export interface LauncherVariant {
  readonly plan: LaunchPlan;
  /** GPU: the image of each launch. CPU: one shared library. */
  readonly images: readonly Uint8Array[];
}

export type LauncherApi = 'cpu' | 'cuda' | 'hip';

export const apiOf = (target: string): LauncherApi =>
  target.startsWith('cpu') ? 'cpu' : target.startsWith('sm_') ? 'cuda' : 'hip';

/** The C names of the arguments, by the names in the plan. Temporaries are locals. */
export type ArgumentNames = ReadonlyMap<string, string>;

const wordsPerLine = 6;
const prime = 0x100000001b3n;
const wrap = 0xffffffffffffffffn;

/** An image as 64-bit words, and the sum over them that the launcher checks before the driver sees it. */
function imageView(name: string, symbol: string, image: Uint8Array): View {
  const padded = new Uint8Array(Math.ceil(image.length / 8) * 8);
  padded.set(image);
  const words = new BigUint64Array(padded.buffer);
  let sum = 0xcbf29ce484222325n;
  const lines: string[] = [];
  for (let i = 0; i < words.length; i += wordsPerLine) {
    const line = [...words.subarray(i, i + wordsPerLine)];
    for (const word of line) sum = ((sum ^ word) * prime) & wrap;
    lines.push(`  ${line.map((word) => (word < 10n ? `${word}` : `0x${word.toString(16)}`)).join(', ')},`);
  }
  return {
    name,
    symbol: cText(symbol),
    bytes: String(image.length),
    checksum: `0x${sum.toString(16)}u`,
    words: lines.join('\n'),
  };
}

const maxAddressed = 2 ** 31 - 1;

export class VariantView {
  readonly api: LauncherApi;
  readonly id: string;
  private readonly plan: LaunchPlan;

  constructor(
    private readonly variant: LauncherVariant,
    private readonly names: ArgumentNames,
  ) {
    this.plan = variant.plan;
    this.api = apiOf(this.plan.target);
    this.id = this.plan.target.replace(/\W/g, '_');
  }

  view(): View {
    const { target, launches } = this.plan;
    const { api, id } = this;
    const [, major = '', minor = ''] = /^sm_(\d+)(\d)a?$/.exec(target) ?? [];
    const symbols = api === 'cpu' ? [this.plan.kernel] : launches.map((l) => l.symbol);
    invariant(symbols.length === this.variant.images.length, `${symbols.length} images for ${target}`);
    const devices = launches.map((l) => l.device);
    return {
      id,
      api,
      target,
      device: `TW_DEVICE_${api.toUpperCase()}`,
      major: major || '0',
      minor: minor || '0',
      // Of the CPU: whether its instructions are known, and can be asked for.
      exact: target.endsWith('a') && api === 'cuda' ? '1' : target === 'cpu' ? '1' : '0',
      images: this.variant.images.map((image, i) => imageView(`image_${id}_${i}`, symbols[i]!, image)),
      imageCount: String(symbols.length),
      shared: devices.map((d) => String(d?.sharedBytes ?? 0)).join(', '),
      cluster: devices.map((d) => String(d?.cluster?.[0] ?? 1)).join(', '),
      checks: this.checks(),
      temporaries: this.arrays('temp').map((p) => ({ name: this.address(p.name), bytes: this.bytes(p) })),
      zeroed: this.plan.params
        .filter((p): p is ArrayParam => p.kind === 'array' && p.zeroed === true)
        .map((p) => ({ address: this.address(p.name), bytes: this.bytes(p) })),
      launches: launches.map((l, i) => (l.device ? this.deviceCall(l.device, i) : this.cpuCall(l, i))),
    };
  }

  private arrays(...roles: readonly ArrayParam['role'][]): ArrayParam[] {
    return this.plan.params.filter((p): p is ArrayParam => p.kind === 'array' && roles.includes(p.role));
  }

  private array(name: string): ArrayParam {
    const found = this.plan.params.find((p): p is ArrayParam => p.kind === 'array' && p.name === name);
    invariant(found, `no array '${name}' in the plan`);
    return found;
  }

  private readonly argument = (name: string): string => {
    const field = this.names.get(name);
    invariant(field !== undefined, `no argument '${name}' in the plan`);
    return `(int64_t)a->${field}`;
  };

  private c(text: string): string {
    return cExtent(parseExtent(text), this.argument);
  }

  private bytes({ shape, dtype }: Pick<ArrayParam, 'shape' | 'dtype'>): string {
    return cExtent(arrayBytes(shape, asDType(dtype)), this.argument);
  }

  /** An argument's pointer, or a temporary's. */
  private address(name: string): string {
    const field = this.names.get(name);
    if (field !== undefined) return `a->${field}`;
    return `temporary_${this.arrays('temp').findIndex((p) => p.name === name)}`;
  }

  /** Everything that the compiled code takes for granted, as calls that give a status. */
  private checks(): string[] {
    const { dims, launches } = this.plan;
    const slots = launches.flatMap((l) => l.device?.params ?? []);
    const sizes = dims.map(({ name, multipleOf = 1, min = 0, max = maxAddressed }) => {
      // The least common multiple holds both what the kernel's author promised and what the code was compiled for.
      return `tw_check_size("${cText(name)}", a->${this.names.get(name)}, ${multipleOf}, ${min}, ${Math.min(max, maxAddressed)})`;
    });
    const values = slots.flatMap((s) => {
      if (s.kind !== 'extent') return [];
      const named = dims.some((d) => d.name === s.value);
      if (named && (s.divisibleBy ?? 1) === 1) return [];
      const most = s.type === 'i32' ? `${maxAddressed}` : 'INT64_MAX';
      const least = s.type === 'i32' ? 'INT32_MIN' : 'INT64_MIN';
      return [`tw_check_size("${cText(s.value)}", ${this.c(s.value)}, ${s.divisibleBy ?? 1}, ${least}, ${most})`];
    });
    const arrays = this.arrays('in', 'out', 'inout', 'temp').map((p) => {
      const own = slots.filter((s) => (s.kind === 'pointer' || s.kind === 'tensorMap') && s.array === p.name);
      const promised = own.map((s) => (s.kind === 'tensorMap' ? 16 : s.kind === 'pointer' ? (s.alignment ?? 1) : 1));
      const alignment = Math.max(1, storageBytes(asDType(p.dtype)), ...promised);
      const below = own.some((s) => s.kind === 'pointer' && s.below2GiB);
      const most = below ? `${maxAddressed}` : 'INT64_MAX - 1';
      // A temporary has no address yet; the allocator's are aligned.
      const address = p.role === 'temp' ? '(const void *)256' : this.address(p.name);
      return `tw_check_array("${cText(p.name)}", ${address}, ${this.bytes(p)}, ${alignment}, ${most})`;
    });
    const grids = launches.map(({ symbol, device, grid }) => {
      const [x, y, z] = device ? device.grid.map((g) => this.c(g)) : [this.programs({ grid }), '1', '1'];
      return `tw_check_grid("${cText(symbol)}", ${x}, ${y}, ${z})`;
    });
    return [...new Set([...sizes, ...values, ...arrays, ...grids])];
  }

  /** Programs of a launch for the CPU. */
  private programs({ grid }: Pick<PlanLaunch, 'grid'>): string {
    return grid.map((g) => `tw_max(${this.c(g.extent)}, 0)`).reduce((a, b) => `tw_mul(${a}, ${b})`, '1');
  }

  private deviceCall({ grid, block, params }: DevicePlan, at: number): string[] {
    const { api } = this;
    const call = `tw_${api}`;
    const [x, y, z] = grid.map((g) => this.c(g));
    const lines = [`const int64_t x = ${x}, y = ${y}, z = ${z};`, 'if (x > 0 && y > 0 && z > 0) {'];
    const scratch = params.flatMap((p, i) => (p.kind === 'scratch' && p.bytesPerProgram > 0 ? [`p${i}`] : []));
    params.forEach((slot, i) => {
      lines.push(...this.slot(slot, `p${i}`).map((line) => `  ${line}`));
    });
    for (const [i, p] of params.entries())
      if (p.kind === 'scratch' && p.bytesPerProgram > 0)
        lines.push(
          `  status = ${call}_allocate(stream, tw_mul(tw_mul(tw_mul(x, y), z), ${p.bytesPerProgram}), &p${i});`,
        );
    params.forEach((slot, i) => {
      if (slot.kind === 'tensorMap') lines.push(`  if (!status) status = ${this.tensorMap(slot, `p${i}`)};`);
    });
    const passed = packTensorMaps(params);
    if (passed.locals.length > 0) lines.push(...passed.locals.map((line) => `  ${line}`));
    lines.push(
      `  void *parameters[] = { ${passed.parameters.map((p) => `(void *)${p}`).join(', ') || 'NULL'} };`,
      `  if (!status) status = ${call}_launch(loaded, ${at}, x, y, z, ${block[0]}, stream, parameters);`,
      ...scratch.map((p) => `  ${call}_free(stream, ${p});`),
      '  if (status) goto end;',
      '}',
    );
    return lines;
  }

  private slot(slot: PlanSlot, local: string): string[] {
    switch (slot.kind) {
      case 'pointer':
        return [`const void *${local} = ${this.address(slot.array)};`];
      case 'scalar':
        return [`${scalarType(asDType(slot.dtype))} ${local} = a->${this.names.get(slot.name)};`];
      case 'extent': {
        const type = slot.type === 'i64' ? 'int64_t' : 'int32_t';
        return [`${type} ${local} = (${type})${this.c(slot.value)};`];
      }
      case 'tensorMap':
        return [`unsigned char ${local}[128] __attribute__((aligned(64)));`];
      case 'scratch':
        return [`void *${local} = NULL;`];
    }
  }

  private tensorMap(slot: Extract<PlanSlot, { kind: 'tensorMap' }>, local: string): string {
    const list = (type: string, values: readonly string[]): string => `(const ${type}[]){ ${values.join(', ')} }`;
    const shape = list(
      'int64_t',
      slot.shape.map((s) => this.c(s)),
    );
    const strides = list(
      'int64_t',
      slot.strides.map((s) => this.c(s)),
    );
    const box = list('uint32_t', slot.box.map(String));
    const array = this.array(slot.array);
    return `tw_cuda_map(${local}, "${cText(array.name)}", ${this.address(slot.array)}, ${slot.elementType}, ${slot.elementBytes}, ${slot.box.length}, ${shape}, ${strides}, ${box}, ${slot.swizzle})`;
  }

  private cpuCall(launch: PlanLaunch, at: number): string[] {
    const arrays = this.arrays('in', 'out', 'inout', 'temp');
    const ordered = this.plan.params.filter((p): p is ArrayParam => arrays.includes(p as ArrayParam));
    const scalars = this.plan.params.filter((p) => p.kind === 'scalar');
    const dims = this.plan.dims.map((d) => `a->${this.names.get(d.name)}`);
    const lines = [
      `void *const arrays[] = { ${ordered.map((p) => `(void *)(uintptr_t)${this.address(p.name)}`).join(', ') || 'NULL'} };`,
      `int64_t scalars[] = { ${[...dims, ...scalars.map((p) => this.cpuScalar(p))].join(', ') || '0'} };`,
    ];
    scalars.forEach((p, i) => {
      // Floats go by their bits.
      if (p.dtype === 'f32' || p.dtype === 'f64') {
        const field = `a->${this.names.get(p.name)}`;
        lines.push(`memcpy(&scalars[${dims.length + i}], &${field}, sizeof ${field});`);
      }
    });
    lines.push(
      `if ((status = tw_cpu_launch(loaded, ${at}, ${this.programs(launch)}, ${launch.scratchBytes}, arrays, scalars))) goto end;`,
    );
    return lines;
  }

  private cpuScalar(p: { readonly name: string; readonly dtype: string }): string {
    return p.dtype === 'f32' || p.dtype === 'f64' ? '0' : `(int64_t)a->${this.names.get(p.name)}`;
  }
}

/** The parameters of a function in order. Several tensor maps may be one of them: they are passed as one block. */
function packTensorMaps(params: readonly PlanSlot[]): { locals: string[]; parameters: string[] } {
  const locals: string[] = [];
  const parameters: string[] = [];
  const isJoined = (slot: PlanSlot | undefined): boolean => slot?.kind === 'tensorMap' && slot.joined === true;
  for (const [i, slot] of params.entries()) {
    if (isJoined(slot)) continue;
    let end = i + 1;
    while (isJoined(params[end])) end++;
    if (end > i + 1) {
      locals.push(`unsigned char block${i}[${128 * (end - i)}] __attribute__((aligned(64)));`);
      for (let k = i; k < end; k++) locals.push(`memcpy(block${i} + ${128 * (k - i)}, p${k}, 128);`);
      parameters.push(`block${i}`);
    } else parameters.push(slot.kind === 'tensorMap' ? `p${i}` : `&p${i}`);
  }
  return { locals, parameters };
}
