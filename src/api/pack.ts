/** Bundles for machines with a GPU: programs with all images inside, inputs, expected outputs, and what runs and compares them. */

import { invariant } from '../diagnostics/diagnostic.js';
import { assetPath } from '../drivers/assets.js';
import { readInput } from '../drivers/files.js';
import type * as ir from '../ir/kernel.js';
import type { LaunchPlan } from '../lowering/launch-plan.js';
import { bindArguments, type HostValue } from './bind.js';
import { type Tolerance, toleranceOf } from './compare.js';
import type { CompileOptions } from './compile.js';
import { buildLauncher, compileLauncher, variantOf } from './launcher.js';
import { fromNumbers, type NdArray, toRegisters } from './nd-array.js';
import { formatNpy } from './npy.js';
import { randomInput } from './random-input.js';
import { interpretSource } from './run.js';
import { type AnyKernel, type KernelSource, sourceOf, withDisplayLocations } from './source.js';

export interface PackedFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly executable?: boolean;
}

/** Sizes that nobody gave, by how many there are: enough for a few blocks, and no multiple of one where the kernel lets them be. */
const sizes: readonly (readonly number[])[] = [[50_003], [200, 328], [72, 200, 136], [2, 4, 4, 136, 64]];

function chooseSize(name: string, index: number, plans: readonly LaunchPlan[]): number {
  const dims = plans.map((p) => p.dims.find((d) => d.name === name)!);
  const multiple = Math.max(1, ...dims.map((d) => d.multipleOf ?? 1));
  const [least, most] = [Math.max(0, ...dims.map((d) => d.min ?? 0)), Math.min(...dims.map((d) => d.max ?? 2 ** 31))];
  const list = sizes[Math.min(plans[0]!.dims.length, sizes.length) - 1]!;
  const wanted = Math.min(Math.max(list[index % list.length]!, least), most);
  const rounded = Math.floor(wanted / multiple) * multiple;
  return rounded >= least && rounded > 0 ? rounded : Math.ceil(Math.max(least, 1) / multiple) * multiple;
}

/** Arguments of a call: those that were given, random arrays, and sizes that every target takes. */
function chooseArguments(
  kernel: ir.Kernel,
  plans: readonly LaunchPlan[],
  given: Readonly<Record<string, HostValue>>,
): Record<string, HostValue> {
  // One list of inputs serves several kernels: what a name means in this one decides whether it is meant.
  const numbers = new Set([...kernel.dims, ...kernel.params.filter((p) => p.kind === 'scalar')].map((p) => p.name));
  const arrays = new Set(kernel.params.flatMap((p) => (p.kind === 'array' ? [p.aliasOf ?? p.name] : [])));
  const values: Record<string, HostValue> = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => (typeof value === 'object' ? arrays : numbers).has(name)),
  );
  kernel.dims.forEach(({ name }, i) => {
    values[name] ??= chooseSize(name, i, plans);
  });
  // An array that was given says what its sizes are.
  for (const p of kernel.params) {
    const value = p.kind === 'array' ? given[p.aliasOf ?? p.name] : undefined;
    if (p.kind !== 'array' || typeof value !== 'object') continue;
    p.value.type.shape.forEach((extent, axis) => {
      if (typeof extent !== 'number' && extent.kind === 'argument' && !Object.hasOwn(given, extent.name))
        values[extent.name] = value.shape[axis]!;
    });
  }
  kernel.params.forEach((p, i) => {
    if (p.kind === 'scalar') values[p.name] ??= p.value.type.dtype.cls === 'float' ? 0.25 : 1;
    else if (p.role === 'in' || p.role === 'inout') {
      const name = p.aliasOf ?? p.name;
      values[name] ??= chooseArray(kernel, name, i + 1, values);
    }
  });
  return values;
}

/** A random array. Integers may be indices: they lie below every size. */
function chooseArray(
  kernel: ir.Kernel,
  name: string,
  seed: number,
  values: Readonly<Record<string, HostValue>>,
): NdArray {
  const array = randomInput(kernel, name, seed, values);
  if (array.dtype.cls !== 'int') return array;
  const least = Math.max(1, Math.min(100, ...kernel.dims.map((d) => Number(values[d.name]))));
  const below = Math.min(least, 2 ** Math.min(array.dtype.bits - 1, 7));
  const numbers: number[] = [];
  for (const value of toRegisters(array)) numbers.push(Math.abs(Number(value)) % below);
  return fromNumbers(array.dtype, array.shape, numbers);
}

/** How far a result may lie from the interpreter's: sums are in another order. */
function loosest(kernel: ir.Kernel): Tolerance {
  const each = kernel.params.flatMap((p) =>
    p.kind === 'array' && (p.role === 'out' || p.role === 'inout') ? [toleranceOf(p.value.type.dtype, 32)] : [],
  );
  return { rtol: Math.max(0, ...each.map((t) => t.rtol)), atol: Math.max(0, ...each.map((t) => t.atol)) };
}

/**
 * The files of one kernel, in a folder of its name. Expected outputs are the interpreter's.
 *
 * @throws what `compile` throws, and CompileError for arguments that do not fit.
 */
export async function packKernel(
  kernel: AnyKernel | KernelSource,
  name: string,
  targets: readonly string[],
  given: Readonly<Record<string, HostValue>>,
  options: Omit<CompileOptions, 'target' | 'emit'>,
): Promise<PackedFile[]> {
  const launcher = await buildLauncher(kernel, [...new Set(['cpu', ...targets])], options);
  const plans = launcher.compiled.map((c) => c.plan);
  const source = sourceOf(kernel, 'cpu');
  const values = await withDisplayLocations(kernel.folder, () => chooseArguments(source.kernel, plans, given));
  const bound = await withDisplayLocations(kernel.folder, () => bindArguments(source.kernel, values));
  const outputs = await interpretSource(source, values);
  const { bytes } = await compileLauncher(launcher, 'exe', options);
  const files: PackedFile[] = [{ path: `${name}/${name}.exe`, content: bytes, executable: true }];
  const args: string[] = [];
  const scalars: Record<string, number> = {};
  const inputs: Record<string, string> = {};
  for (const p of source.kernel.params) {
    if (p.kind === 'scalar') {
      const value = bound.scalars.get(p.name)!;
      args.push('--input', `${p.name}=${value}`);
      scalars[p.name] = Number(value);
      continue;
    }
    const array = bound.arrays.get(p.name)!;
    if (p.role === 'in' || p.role === 'inout') {
      const input = p.role === 'inout' ? (p.aliasOf ?? p.name) : p.name;
      files.push({ path: `${name}/${input}.npy`, content: formatNpy(array) });
      args.push('--input', `${input}=@${input}.npy`);
      inputs[input] = array.dtype.name;
    }
    if (p.role === 'out' || p.role === 'inout') {
      const expected = outputs[p.name];
      invariant(expected, `no output '${p.name}'`);
      files.push({ path: `${name}/expected/${p.name}.npy`, content: formatNpy(expected) });
      args.push('--expect', `${p.name}=@expected/${p.name}.npy`);
    }
  }
  for (const [dim, value] of bound.dims) args.push('--input', `${dim}=${value}`);
  const { rtol, atol } = loosest(source.kernel);
  args.push('--rtol', String(rtol), '--atol', String(atol));
  for (const compiled of launcher.compiled) {
    const { images } = variantOf(compiled);
    files.push({
      path: `${name}/${name}.${compiled.target}.plan.json`,
      content: `${JSON.stringify(compiled.plan, null, 2)}\n`,
    });
    images.forEach((image, i) => {
      const { device, symbol } = compiled.plan.launches[i]!;
      const part = images.length > 1 ? `.${symbol}` : '';
      files.push({ path: `${name}/${name}.${compiled.target}${part}.${device?.image.stage ?? 'so'}`, content: image });
    });
  }
  const dims = Object.fromEntries(bound.dims);
  const about = {
    kernel: source.kernel.name,
    targets: launcher.compiled.map((c) => c.target),
    inputs,
    scalars,
    dims,
    rtol,
    atol,
  };
  files.push({ path: `${name}/arguments`, content: `${args.join('\n')}\n` });
  files.push({ path: `${name}/case.json`, content: `${JSON.stringify(about, null, 2)}\n` });
  return files;
}

/** The files beside the kernels. */
export async function packPrograms(): Promise<PackedFile[]> {
  return [
    { path: 'run.sh', content: await readInput(assetPath('workers/pack/run.sh')), executable: true },
    { path: 'bench.py', content: await readInput(assetPath('workers/pack/bench.py')) },
  ];
}
