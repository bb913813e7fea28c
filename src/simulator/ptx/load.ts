/** PTX as code that can be launched. */

import { checkLaunch, type DeviceLaunch, DeviceMemory, defaultMaxSteps, entryOf, type LoadedCode } from '../device.js';
import { globalWindow, viewsOf } from '../memory.js';
import { Profiler } from '../profile.js';
import { eager } from '../schedule.js';
import { Launch } from './launch.js';
import type { PtxModule } from './module.js';
import { parsePtx } from './parser.js';
import { compileEntry } from './program.js';

const mostShared = 227 * 1024;

export interface LoadedPtx extends LoadedCode {
  readonly module: PtxModule;
}

/**
 * Reads PTX.
 *
 * @throws CompileError: the text is no PTX, or of a newer version than the simulator knows.
 */
export function loadPtx(text: string): LoadedPtx {
  const module = parsePtx(text);
  return {
    module,
    run(launch, buffers, { schedule = eager, checks = true, profile = false, maxSteps = defaultMaxSteps }) {
      const entry = entryOf(module.entries, launch.entry);
      const memory = new DeviceMemory(
        buffers,
        module.globals.map((g) => g.bytes),
      );
      const { global } = memory;
      const globals = new Map<string, number>();
      for (const g of module.globals) {
        const { at } = global.allocate(g.name, g.bytes);
        if (g.initial) global.views.u8.set(g.initial, at);
        globals.set(g.name, at);
      }
      const program = compileEntry(entry, globals, globalWindow, checks);
      checkLaunch(launch, program.symbols.staticShared + (launch.sharedBytes ?? 0), mostShared);
      const parameters = viewsOf(entry.parameterBytes);
      memory.writeArguments(entry.name, entry.parameters, launch.arguments, parameters.u8);
      const profiler = profile ? new Profiler() : undefined;
      const run = new Launch({ ...setupOf(launch), program, global, parameters, schedule, checks, maxSteps, profiler });
      run.run();
      memory.copyBack();
      return run.summary();
    },
  };
}

const setupOf = ({ grid, block, cluster = [1, 1, 1], sharedBytes = 0 }: DeviceLaunch) => ({
  grid,
  cluster,
  shape: block,
  dynamicShared: sharedBytes,
});
