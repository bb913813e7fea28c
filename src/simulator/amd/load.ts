/** AMD assembly as code that can be launched. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { checkLaunch, DeviceMemory, defaultMaxSteps, entryOf, fail, type LoadedCode } from '../device.js';
import { Profiler } from '../profile.js';
import { eager } from '../schedule.js';
import { AmdLaunch } from './launch.js';
import type { AmdKernel, AmdModule } from './module.js';
import { parseAmd } from './parser.js';
import { type AmdProgram, compileKernel } from './program.js';

export interface LoadedAmd extends LoadedCode {
  readonly module: AmdModule;
}

/**
 * Reads AMD assembly, as LLVM writes it for a code object.
 *
 * @throws CompileError: the text is no such assembly, or for a device that is not modelled.
 */
export function loadAmd(text: string): LoadedAmd {
  const module = parseAmd(text);
  const programs = new Map<AmdKernel, AmdProgram>();
  const programOf = (kernel: AmdKernel): AmdProgram => {
    const program = programs.get(kernel) ?? compileKernel(kernel, module.target);
    programs.set(kernel, program);
    return program;
  };
  return {
    module,
    run(launch, buffers, { schedule = eager, checks = true, profile = false, maxSteps = defaultMaxSteps }) {
      const kernel = entryOf(module.kernels, launch.entry);
      const program = programOf(kernel);
      const fixed = kernel.directives.get('group_segment_fixed_size') ?? 0;
      const ldsBytes = Math.max(fixed, launch.sharedBytes ?? 0);
      checkLaunch(launch, ldsBytes, (module.target.name === 'gfx950' ? 160 : 64) * 1024);
      const memory = new DeviceMemory(buffers, [kernel.argumentBytes]);
      const { global } = memory;
      // A device reads arguments ahead: what lies behind them may be loaded, and is not used.
      const { at } = global.allocate('the arguments', kernel.argumentBytes);
      const block = global.views.u8.subarray(at, at + kernel.argumentBytes);
      const visible = kernel.arguments.filter((a) => !a.kind.startsWith('hidden_'));
      memory.writeArguments(kernel.name, visible, launch.arguments, block);
      const [threads, ...others] = launch.block;
      if (others.some((n) => n !== 1))
        fail(simulatorCodes.badLaunch({ what: `a workgroup of ${launch.block.join(' x ')}; only lines are modelled` }));
      const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
      for (const { kind, offset, bytes } of kernel.arguments) {
        const axis = 'xyz'.indexOf(kind.at(-1)!);
        const value = kind.startsWith('hidden_block_count')
          ? launch.grid[axis]
          : kind.startsWith('hidden_group_size')
            ? launch.block[axis]
            : kind === 'hidden_dynamic_lds_size'
              ? ldsBytes
              : undefined;
        if (value === undefined) continue;
        if (bytes === 2) view.setUint16(offset, value, true);
        else view.setUint32(offset, value, true);
      }
      const run = new AmdLaunch({
        program,
        global,
        argumentsAt: at,
        grid: launch.grid,
        threads: threads!,
        ldsBytes,
        schedule,
        checks,
        maxSteps,
        profiler: profile ? new Profiler() : undefined,
      });
      run.run();
      memory.copyBack();
      return run.summary();
    },
  };
}
