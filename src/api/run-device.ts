/** Running kernels on this machine's GPU: by the program of their launcher, in a process of its own. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invariant } from '../diagnostics/diagnostic.js';
import { type DeviceApi, probeDevice, runDeviceProgram } from '../drivers/device-runner.js';
import { withWorkspace } from '../drivers/workspace.js';
import type * as ir from '../ir/kernel.js';
import { type BoundArguments, bindArguments, type HostValue } from './bind.js';
import type { CompileOptions } from './compile.js';
import { buildLauncher, compileLauncher } from './launcher.js';
import type { NdArray } from './nd-array.js';
import { readNpy, writeNpy } from './npy.js';
import { type AnyKernel, type KernelSource, withDisplayLocations } from './source.js';

export { type DeviceApi, probeDevice } from '../drivers/device-runner.js';

export interface DeviceRun {
  readonly outputs: Readonly<Record<string, NdArray>>;
  /** Of each repetition, between two events on the device. */
  readonly nanoseconds: readonly number[];
  readonly bound: BoundArguments;
  readonly kernel: ir.Kernel;
}

/**
 * Compiles a kernel for a GPU of this machine and runs it there.
 *
 * @param device as `probeDevice` names it.
 * @throws CompileError: the kernel or its arguments are wrong. ToolError: no device, a tool or the run failed.
 */
export async function runOnDevice(
  kernel: AnyKernel | KernelSource,
  given: Readonly<Record<string, HostValue>>,
  {
    api,
    device,
    repeat = 0,
    ...options
  }: CompileOptions & { readonly api: DeviceApi; readonly device?: string; readonly repeat?: number },
): Promise<DeviceRun> {
  const { target: _, emit: __, ...shared } = options;
  const launcher = await buildLauncher(kernel, [device ?? (await probeDevice(api, options.tools))], shared);
  const [compiled] = launcher.compiled;
  invariant(compiled, 'a launcher without targets');
  const bound = await withDisplayLocations(kernel.folder, () => bindArguments(compiled.kernel, given));
  const { bytes } = await compileLauncher(launcher, 'exe', options);
  return withWorkspace(async (folder) => {
    const program = join(folder, 'program');
    await writeFile(program, bytes, { mode: 0o755 });
    const args = ['--device', api];
    const outputs: [string, string][] = [];
    for (const [i, p] of compiled.kernel.params.entries()) {
      const file = join(folder, `${i}.npy`);
      if (p.kind === 'scalar') args.push('--input', `${p.name}=${bound.scalars.get(p.name)}`);
      else {
        const array = bound.arrays.get(p.name)!;
        if (p.role === 'in' || p.role === 'inout') {
          await writeNpy(file, array);
          args.push('--input', `${p.role === 'inout' ? (p.aliasOf ?? p.name) : p.name}=@${file}`);
        }
        if (p.role === 'out' || p.role === 'inout') {
          const to = join(folder, `${i}.out.npy`);
          args.push('--output', `${p.name}=@${to}`);
          outputs.push([p.name, to]);
        }
      }
    }
    for (const d of compiled.kernel.dims) args.push('--input', `${d.name}=${bound.dims.get(d.name)}`);
    if (repeat > 0) args.push('--time', String(repeat), '--times');
    const printed = await runDeviceProgram(compiled.target, program, args, {
      cwd: folder,
      timeout: 600_000,
      ...(options.signal ? { signal: options.signal } : {}),
    });
    const times = /^nanoseconds(.*)$/m.exec(printed)?.[1] ?? '';
    const arrays: Record<string, NdArray> = {};
    for (const [name, file] of outputs) arrays[name] = await readNpy(file, bound.arrays.get(name)!.dtype);
    return {
      outputs: arrays,
      nanoseconds: times
        .split(' ')
        .filter((t) => t !== '')
        .map(Number),
      bound,
      kernel: compiled.kernel,
    };
  });
}
