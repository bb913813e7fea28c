/** Runs the kernels of `kernels/` against the oracle: every case and dtype, on each back end. */

import type { HostValue } from '../../src/api/bind.js';
import { compareArrays } from '../../src/api/compare.js';
import type { NdArray } from '../../src/api/nd-array.js';
import { interpretSource, runSource } from '../../src/api/run.js';
import { simulateSource } from '../../src/api/simulate.js';
import { type AnyKernel, sourceOf } from '../../src/api/source.js';
import { CompileError } from '../../src/diagnostics/diagnostic.js';
import type { ForkServer } from '../../src/drivers/fork-server.js';
import { Kernel } from '../../src/frontend/kernel.js';
import type { OracleCases } from '../../src/testing/index.js';
import { runTtir } from '../support/ttir/run.js';
import { type CaseName, caseNames, type OracleDType, OracleKernelCall } from './call.js';
import { type OracleKernel, oracle } from './kernels.js';

/** What executes a device's code. */
const simulated = [
  ...(['sim:sm_80', 'sim:sm_90a', 'sim:sm_100a'] as const),
  ...(['sim:gfx942', 'sim:gfx950', 'sim:gfx1100', 'sim:gfx1201'] as const),
];

/** `ttir`: the text for Triton, executed by the evaluator of the tests. `sim:…`: the device's code, in the simulator. */
export const backends = ['interpret', 'cpu', 'ttir', ...simulated] as const;
export type Backend = (typeof backends)[number];

/** One line of the acceptance table. */
export interface Row {
  readonly id: number;
  readonly name: string;
  readonly case: CaseName;
  readonly dtype: OracleDType;
  readonly backend: Backend;
  readonly pass: boolean;
  /** Largest error of any element of any result, absolute. */
  readonly maxError: number;
  /** Largest error by what the tolerance allows there. */
  readonly maxShare: number;
  /** What did not pass, in words. */
  readonly failures: readonly string[];
}

interface LibraryKernel {
  readonly kernel: AnyKernel;
  readonly cases: OracleCases;
}

async function libraryKernel({ id, name }: OracleKernel): Promise<LibraryKernel> {
  const file = name.replaceAll('_', '-');
  const module: Readonly<Record<string, unknown>> = await import(`../../kernels/${file}.kernel.ts`);
  const kernel = Object.values(module).find((x) => x instanceof Kernel) as AnyKernel;
  const cases = module.cases as OracleCases;
  if (kernel.name !== name || cases.id !== id) throw new Error(`${file}: expected kernel ${id}, '${name}'`);
  return { kernel, cases };
}

type Arguments = Readonly<Record<string, HostValue>>;

/** What calls share: a worker that compiles for devices, where some run on them, and parameters set otherwise. */
export interface Shared {
  readonly params?: Readonly<Record<string, string>>;
  readonly worker?: ForkServer;
}

type Execute = (kernel: AnyKernel, given: Arguments, shared: Shared) => Promise<Readonly<Record<string, NdArray>>>;

const onDevice =
  (target: string): Execute =>
  async (kernel, given, shared) => {
    const { outputs, findings } = await simulateSource(kernel, given, { ...shared, target });
    if (findings.length > 0) throw new CompileError(findings);
    return outputs;
  };

const execute: Readonly<Record<Backend, Execute>> = {
  interpret: (kernel, given) => interpretSource(sourceOf(kernel, 'interpret'), given, { sanitize: true }),
  cpu: async (kernel, given) => ({ ...(await runSource(kernel, given)).outputs }),
  ttir: async (kernel, given) => runTtir(kernel, given),
  ...(Object.fromEntries(simulated.map((name) => [name, onDevice(name.slice('sim:'.length))])) as Record<
    (typeof simulated)[number],
    Execute
  >),
};

export async function runCall(
  entry: OracleKernel,
  dtype: OracleDType,
  kind: CaseName,
  backend: Backend,
  shared: Shared = {},
): Promise<Row> {
  const call = new OracleKernelCall(kind, dtype, entry.id);
  entry.call(call);
  const { kernel, cases } = await libraryKernel(entry);
  const { params, dims = {} } = cases.settings(call);
  const failures: string[] = [];
  let outputs: Readonly<Record<string, NdArray>> = {};
  try {
    const chosen = kernel.withText({ ...params, ...shared.params });
    // A scalar of the oracle may be a parameter of the kernel.
    const names = chosen.trace().kernel.params.map((p) => p.name);
    const scalars = Object.fromEntries(Object.entries(call.scalars).filter(([name]) => names.includes(name)));
    outputs = await execute[backend](chosen, { ...call.inputs, ...scalars, ...dims }, shared);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    failures.push(...error.diagnostics.map((d) => `${d.code}: ${d.message}`));
  }
  let maxError = 0;
  let maxShare = 0;
  for (const [name, { shape, values, tolerance }] of Object.entries(call.expected)) {
    const actual = outputs[name];
    if (!actual && failures.length > 0) break;
    if (!actual || actual.shape.join() !== shape.join()) {
      failures.push(
        `${name}: expected shape [${shape.join(', ')}], got ${actual ? `[${actual.shape.join(', ')}]` : 'nothing'}`,
      );
      continue;
    }
    const { failed, count, first, ...largest } = compareArrays(actual, values, tolerance);
    maxError = Math.max(maxError, largest.maxError);
    maxShare = Math.max(maxShare, largest.maxShare);
    const [worst] = first;
    if (worst)
      failures.push(
        `${name}: ${failed} of ${count} outside ${tolerance.atol} + ${tolerance.rtol} |expected|, [${worst.index.join(', ')}] is ${worst.actual}, expected ${worst.expected}`,
      );
  }
  return {
    id: entry.id,
    name: entry.name,
    case: kind,
    dtype,
    backend,
    pass: failures.length === 0,
    maxError,
    maxShare,
    failures,
  };
}

/** Every call of the matrix, or of some kernels, on some back ends, in the order of the corpus. */
export function* calls(
  on: readonly Backend[],
  ids: readonly number[] | undefined,
  shared: Shared,
): Generator<() => Promise<Row>> {
  for (const entry of oracle.filter(({ id }) => ids?.includes(id) ?? true))
    for (const dtype of entry.dtypes)
      for (const kind of caseNames) for (const backend of on) yield () => runCall(entry, dtype, kind, backend, shared);
}
