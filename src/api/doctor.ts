/** What works on this machine: every tool asked for its version, and a small kernel compiled and run. */

import { CompileError, ToolError } from '../diagnostics/diagnostic.js';
import { hostProcessor } from '../drivers/host.js';
import { findTool, type ToolName, type ToolPaths, toolKinds } from '../drivers/tool.js';
import { withTritonWorker } from '../drivers/triton/worker.js';
import { f32 } from '../ir/dtypes.js';
import { compile } from './compile.js';
import { fromNumbers, toRegisters } from './nd-array.js';
import { interpretSource, runSource } from './run.js';
import { type KernelSource, readKernels } from './source.js';

export interface DoctorRow {
  readonly name: string;
  readonly works: boolean;
  /** Version and path, or what is wrong. */
  readonly detail: string;
  /** What mends it. */
  readonly fix?: string;
}

/** Doubles each element: touches loads, masks, arithmetic and stores. */
const probe = `kernel @doctor {
  dim n
  in %x: ref<gmem f32[n]>
  out %y: ref<gmem f32[n]>
  launch @doctor grid(i = cdiv(n, 16)) {
    %0 = program_id {axis = "i"} : i32
    %1 = constant {value = 16} : i32
    %2 = mul %0, %1 : i32
    %3 = dim {name = "n"} : i32
    %4 = sub %3, %2 : i32
    %5 = load %x index(%2) valid(%4) : f32[16]
    %6 = add %5, %5 : f32[16]
    store %y, %6 index(%2) valid(%4)
  }
}
`;

/** The vendors' compilers only stand in for cc. */
const neededTools = (Object.keys(toolKinds) as ToolName[]).filter((name) => name !== 'nvcc' && name !== 'hipcc');

async function tool(name: ToolName, paths: ToolPaths): Promise<DoctorRow> {
  try {
    const { version, path } = await findTool(name, paths);
    return { name, works: true, detail: `${version} at ${path}` };
  } catch (error) {
    return failed(name, error);
  }
}

/** What a failed check says and what mends it. */
function failed(name: string, error: unknown): DoctorRow {
  if (!(error instanceof ToolError || error instanceof CompileError)) throw error;
  const [first] = error.diagnostics;
  return { name, works: false, detail: first!.message, ...(first!.help === undefined ? {} : { fix: first!.help }) };
}

/** Triton, and a kernel compiled for one target of each vendor; there is no device to run it on. */
function triton(tools: ToolPaths, python: string | undefined): Promise<DoctorRow[]> {
  return withTritonWorker({ python }, async (worker) => {
    const about = worker.about().then(
      (a) => ({ name: 'triton', works: true, detail: `${a.version} in ${a.python}` }),
      (error: unknown) => failed('triton', error),
    );
    const [source] = readKernels(probe, '<doctor>', process.cwd());
    const compiled = ['sm_90a', 'gfx942'].map(async (target): Promise<DoctorRow> => {
      const name = `target ${target}`;
      try {
        await compile(source!, { target, cache: false, tools, worker });
        return { name, works: true, detail: 'compiled a kernel; nothing is run without a device' };
      } catch (error) {
        return failed(name, error);
      }
    });
    return Promise.all([about, ...compiled]);
  });
}

async function target(
  name: string,
  run: (source: KernelSource) => Promise<Readonly<Record<string, { readonly data: unknown }>>>,
): Promise<DoctorRow> {
  const [source] = readKernels(probe, '<doctor>', process.cwd());
  try {
    const { y } = await run(source!);
    const right = Array.from(toRegisters(y as never), Number).every((v, i) => v === 2 * i);
    return {
      name: `target ${name}`,
      works: right,
      detail: right ? 'compiled and ran a kernel; its result is right' : 'ran a kernel, but its result is wrong',
    };
  } catch (error) {
    return failed(`target ${name}`, error);
  }
}

/** One row per tool and target. */
export async function doctor(paths: ToolPaths = {}, python?: string): Promise<DoctorRow[]> {
  const x = fromNumbers(
    f32,
    [21],
    Array.from({ length: 21 }, (_, i) => i),
  );
  const { model, threads } = hostProcessor();
  return [
    {
      name: 'node',
      works: Number(process.versions.node.split('.')[0]) >= 20,
      detail: `${process.versions.node}; ${model}, ${threads} threads`,
    },
    ...(await Promise.all(neededTools.map((name) => tool(name, paths)))),
    await target('interpret', (source) => interpretSource(source, { x })),
    await target(
      'cpu',
      async (source) => (await runSource(source, { x }, { target: 'cpu:native', cache: false, tools: paths })).outputs,
    ),
    ...(await triton(paths, python)),
  ];
}
