import type { HostValue } from '../api/bind.js';
import type { NdArray } from '../api/nd-array.js';
import type { InterpretRunOptions } from '../api/run.js';
import type { KernelSimulation } from '../api/simulate.js';
import { cliCodes } from '../diagnostics/codes/cli.js';
import { CompileError, ToolError } from '../diagnostics/diagnostic.js';
import type * as ir from '../ir/kernel.js';
import type { InputBinding } from './bindings.js';
import { buildFlags, compileOptions } from './build.js';
import { defineCommand, type Session } from './command.js';
import { type FlagName, type FlagValue, passFlags } from './flags.js';
import { passHooks } from './pass-printing.js';
import { oneKernel } from './sources.js';
import { UsageError } from './usage-error.js';

/** Flags of the interpreter. */
const interpreterFlags = [
  'sanitize',
  'seed',
  'seeds',
  'replay',
  'maxSteps',
  'maxPrograms',
  'trapNaN',
  'printValues',
] as const satisfies readonly FlagName[];

/** How the interpreter runs: with every check, unless `--sanitize` says otherwise. */
function interpretOptions(
  flags: {
    readonly [F in (typeof interpreterFlags)[number]]: FlagValue<F>;
  },
): InterpretRunOptions {
  const { maxSteps, maxPrograms, replay } = flags;
  const seed = replay ?? flags.seed;
  const seeds = replay === undefined ? flags.seeds : undefined;
  return {
    sanitize: flags.sanitize ?? true,
    trapNaN: flags.trapNaN,
    show: flags.printValues,
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxPrograms === undefined ? {} : { maxPrograms }),
    ...(seed === undefined ? {} : { seed }),
    ...(seeds === undefined ? {} : { seeds }),
  };
}

export const command = defineCommand({
  summary: 'run a kernel on .npy files',
  notes:
    'Inputs and scalars are given by name; dims are read off the shapes of the inputs. Without --target: cpu, or the interpreter where no tools are installed. What the kernel prints goes to standard error.',
  operands: { synopsis: 'FILE', min: 1, max: 1 },
  flags: [
    'kernels',
    'defines',
    'runTarget',
    'inputs',
    'outputs',
    'expect',
    'rtol',
    'atol',
    'time',
    'dumpDir',
    'profile',
    ...interpreterFlags,
    ...buildFlags,
    ...passFlags,
  ],
  async run(args, session) {
    const { flags, operands } = args;
    const [file] = operands;
    const { name, kernel } = await oneKernel(file!, flags.kernels, flags.defines);
    const { defaultTarget, sourceOf, withDisplayLocations } = await import('../api/source.js');
    const target = flags.runTarget ?? defaultTarget(kernel);
    const simulated = target.startsWith('sim:') ? target.slice('sim:'.length) : undefined;
    const onGpu = target === 'cuda' || target === 'hip' ? target : undefined;
    const device =
      onGpu && (await (await import('../api/run-device.js')).probeDevice(onGpu, compileOptions(args, session).tools));
    const source = sourceOf(kernel, simulated ?? device ?? target);
    session.reporter.report(source.warnings);
    const given = await withDisplayLocations(source.folder, () => readInputs(source.kernel, flags.inputs));
    checkNames(
      source.kernel,
      [...flags.outputs, ...flags.expect].map((b) => b.name),
    );

    const options = {
      ...compileOptions(args, session),
      print: session.reporter.say,
      hooks: await passHooks(args, session),
    };
    if (flags.profile !== undefined && simulated === undefined)
      throw new UsageError([
        cliCodes.badValue({ flag: '--profile', expected: 'a simulated target, as sim:sm_90a', got: target }),
      ]);
    if (flags.dumpDir !== undefined) await dump(kernel, name, simulated ?? device ?? target, flags.dumpDir, options);
    const interpreted = async (): Promise<Readonly<Record<string, NdArray>>> => {
      const { interpretSource } = await import('../api/run.js');
      return interpretSource(source, given, {
        cancelled: () => session.signal.aborted,
        print: session.reporter.say,
        ...interpretOptions(flags),
      });
    };
    let outputs: Readonly<Record<string, NdArray>>;
    if (target === 'interpret') {
      if (flags.time !== undefined)
        throw new UsageError([cliCodes.badValue({ flag: '--time', expected: 'a compiled target', got: 'interpret' })]);
      outputs = await interpreted();
    } else if (simulated !== undefined) {
      if (flags.time !== undefined)
        throw new UsageError([
          cliCodes.badValue({ flag: '--time', expected: 'a target that is not simulated', got: target }),
        ]);
      outputs = await onSimulator(simulated);
    } else if (onGpu !== undefined && device !== undefined) {
      const { runOnDevice } = await import('../api/run-device.js');
      const result = await runOnDevice(kernel, given, { ...options, api: onGpu, device, repeat: flags.time ?? 0 });
      outputs = result.outputs;
      if (flags.time !== undefined) {
        const { timeReport } = await import('../api/time-report.js');
        session.reporter.say(timeReport(result.kernel, result.bound, result.nanoseconds));
      }
    } else {
      try {
        outputs = await onCpu();
      } catch (error) {
        // A machine without tools still runs kernels; only who asks for the CPU by name is told that it cannot be had.
        const missing =
          error instanceof ToolError &&
          error.failure === undefined &&
          error.diagnostics.every((d) => d.code === 'TW3002' || d.code === 'TW3003');
        if (!missing || flags.runTarget !== undefined) throw error;
        session.reporter.say(
          'no tools for the CPU are installed (tilewright toolchain install mlir): running the interpreter',
        );
        outputs = await interpreted();
      }
    }

    const { writeNpy, formatNpy } = await import('../api/npy.js');
    for (const { name: output, path } of flags.outputs) {
      if (path === '-') await session.print(formatNpy(outputs[output]!));
      else await writeNpy(path, outputs[output]!);
    }
    let failed = false;
    for (const { name: output, path } of flags.expect)
      failed = !(await compare(output, outputs[output]!, path, flags, session)) || failed;
    if (flags.outputs.length === 0 && flags.expect.length === 0 && flags.time === undefined)
      await summarise(outputs, session);
    return failed ? 1 : 0;

    async function onCpu(): Promise<Readonly<Record<string, NdArray>>> {
      const { runSource } = await import('../api/run.js');
      const report = await runSource(kernel, given, {
        ...options,
        target: target === 'cpu' ? 'cpu:native' : target,
      });
      if (flags.time !== undefined) await time(flags.time);
      return report.outputs;
    }

    async function onSimulator(device: string): Promise<Readonly<Record<string, NdArray>>> {
      const { simulateSource } = await import('../api/simulate.js');
      const result = await simulateSource(kernel, given, {
        ...options,
        target: device,
        ...(flags.maxSteps === undefined ? {} : { maxSteps: flags.maxSteps }),
        profile: flags.profile !== undefined,
      });
      if (flags.profile !== undefined) await showProfiles(result, flags.profile, session);
      if (result.findings.length > 0) throw new CompileError(result.findings);
      return result.outputs;
    }

    async function time(count: number): Promise<void> {
      const { runSource } = await import('../api/run.js');
      const { nanoseconds, bound } = await runSource(kernel, given, {
        ...options,
        target: target === 'cpu' ? 'cpu:native' : target,
        repeat: count,
      });
      const { timeReport } = await import('../api/time-report.js');
      session.reporter.say(timeReport(source.kernel, bound, nanoseconds));
    }
  },
});

/** The profiles of all launches: as text for people, or as JSON in a file. */
async function showProfiles(
  { compiled, launches }: KernelSimulation,
  file: string | true,
  { reporter }: Session,
): Promise<void> {
  const profiles = launches.map(({ symbol, profile }) => ({ launch: symbol, ...profile! }));
  if (file === true) {
    const { formatProfile } = await import('../api/simulate.js');
    for (const { launch, ...profile } of profiles) reporter.say(`${launch}\n${formatProfile(profile)}`);
    return;
  }
  const { writeOutputs } = await import('../drivers/files.js');
  const content = `${JSON.stringify({ target: compiled.target, launches: profiles }, null, 2)}\n`;
  await writeOutputs([{ path: file, content }], true);
}

/** Host values of `--input`. Random arrays take their shape from dims that are given as numbers or by other arrays. */
async function readInputs(kernel: ir.Kernel, bindings: readonly InputBinding[]): Promise<Record<string, HostValue>> {
  const { readNpy } = await import('../api/npy.js');
  const given: Record<string, HostValue> = {};
  const { inputDType, randomInput } = await import('../api/random-input.js');
  for (const b of bindings) {
    if (b.kind === 'number') given[b.name] = b.value;
    else if (b.kind === 'file') given[b.name] = await readNpy(b.path, b.dtype ?? inputDType(kernel, b.name));
  }
  for (const b of bindings) if (b.kind === 'random') given[b.name] = randomInput(kernel, b.name, b.seed, given);
  return given;
}

function checkNames(kernel: ir.Kernel, names: readonly string[]): void {
  const outputs = kernel.params.flatMap((p) =>
    p.kind === 'array' && (p.role === 'out' || p.role === 'inout') ? [p.name] : [],
  );
  const unknown = names.find((n) => !outputs.includes(n));
  if (unknown !== undefined)
    throw new UsageError([
      cliCodes.unknownOutput({ name: unknown, kernel: kernel.name }, { help: `its outputs are ${outputs.join(', ')}` }),
    ]);
}

async function dump(
  kernel: Parameters<typeof import('../api/dump.js').dumpStages>[0],
  name: string,
  target: string,
  folder: string,
  options: object,
): Promise<void> {
  const { dumpStages, irStages } = await import('../api/dump.js');
  const { writeOutputs } = await import('../drivers/files.js');
  const { join } = await import('node:path');
  const files =
    target === 'interpret'
      ? await dumpStages(kernel, name, { ...options, target: 'cpu' }, irStages)
      : await dumpStages(kernel, name, { ...options, target: target === 'cpu' ? 'cpu:native' : target });
  await writeOutputs(
    files.map(({ file, content }) => ({ path: join(folder, file), content })),
    true,
  );
}

/** Compares an output with a reference file of its own dtype or of float64. */
async function compare(
  name: string,
  actual: NdArray,
  path: string,
  { rtol, atol }: { rtol: number | undefined; atol: number | undefined },
  { reporter }: Session,
): Promise<boolean> {
  const { readReference } = await import('../api/random-input.js');
  const { compareArrays, toleranceOf } = await import('../api/compare.js');
  const expected = await readReference(path, actual);
  const base = toleranceOf(actual.dtype);
  const tolerance = { rtol: rtol ?? base.rtol, atol: atol ?? base.atol };
  const result = compareArrays(actual, expected, tolerance);
  const bound = `${tolerance.atol} + ${tolerance.rtol} |expected|`;
  if (result.failed === 0) {
    reporter.say(
      `${name}: all ${result.count} elements within ${bound} of ${path} (largest error ${result.maxError.toPrecision(3)})`,
    );
    return true;
  }
  reporter.say(
    `${name}: ${result.failed} of ${result.count} elements differ from ${path} by more than ${bound} (largest error ${result.maxError.toPrecision(3)})`,
  );
  for (const { index, actual: a, expected: e } of result.first)
    reporter.say(`  [${index.join(', ')}]: expected ${e}, got ${a}`);
  return false;
}

/** One line per output on stdout, where nobody asked for files. */
async function summarise(outputs: Readonly<Record<string, NdArray>>, session: Session): Promise<void> {
  const { toRegisters } = await import('../api/nd-array.js');
  for (const [name, array] of Object.entries(outputs)) {
    const values = Array.from(toRegisters(array).subarray(0, 6), String);
    const more = values.length < array.shape.reduce((a, b) => a * b, 1) ? ', …' : '';
    await session.print(`${name}: ${array.dtype.name}[${array.shape.join(', ')}] = ${values.join(', ')}${more}\n`);
  }
}
