/** What a compilation is asked for and what it gives, whichever back end does it. */

import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { ArtifactCache } from '../drivers/cache.js';
import { cacheFolder, remoteCacheToken } from '../drivers/environment.js';
import type { ForkServer } from '../drivers/fork-server.js';
import type { CpuStageOptions } from '../drivers/mlir.js';
import { RemoteCache, type RemoteCacheOptions } from '../drivers/remote-cache.js';
import type { StageRecord } from '../drivers/stages.js';
import type { ToolPaths } from '../drivers/tool.js';
import type { SetName } from '../drivers/toolchain.js';
import type * as ir from '../ir/kernel.js';
import type { PassHooks } from '../ir/pass.js';
import type { BackendRequest } from '../lowering/backend.js';
import type { LaunchPlan } from '../lowering/launch-plan.js';
import type { BuiltLaunch } from './compile-triton.js';

export interface CompileOptions extends BackendRequest {
  /** `cpu` (the default), `cpu:native`, or a GPU: `sm_90a`, `gfx942`. */
  readonly target?: string;
  /** What to make; by default `so`, `cubin` or `hsaco`, and `plan.json`. */
  readonly emit?: readonly string[];
  /** Line tables that lead from machine code to TypeScript. On by default. */
  readonly lineInfo?: boolean;
  readonly tools?: ToolPaths;
  readonly toolFlags?: CpuStageOptions['extra'];
  /** Options of the back end that go before those of the kernel, as `-Xtriton` gives them. */
  readonly backendOptions?: Readonly<Record<string, string | number | boolean>>;
  /** A worker to share between calls; without one, a call that needs it starts its own. */
  readonly worker?: ForkServer;
  /** The same for kernels that Mosaic GPU compiles. */
  readonly mosaicWorker?: ForkServer;
  /** Interpreters to use instead of those of tool sets, by set. */
  readonly pythons?: Readonly<Partial<Record<SetName, string>>>;
  /** Folder of the cache; false for none. */
  readonly cache?: string | false;
  /** A server that is asked for what the folder lacks; see docs/caching.md. */
  readonly remoteCache?: Pick<RemoteCacheOptions, 'url' | 'mode' | 'timeout'>;
  readonly hooks?: PassHooks;
  readonly signal?: AbortSignal;
  /** Milliseconds for each tool. */
  readonly timeout?: number;
  readonly onWarning?: (diagnostic: Diagnostic) => void;
}

export interface Compiled {
  readonly target: string;
  /** The kernel as it was traced, and after the passes. */
  readonly kernel: ir.Kernel;
  readonly lowered: ir.Kernel;
  readonly plan: LaunchPlan;
  /** By stage; where a kernel has several launches for a GPU, by launch and stage: `first.cubin`. */
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
  /** GPU: what each launch takes. */
  readonly launches?: readonly BuiltLaunch[];
  /** What tools did; empty on a cache hit. */
  readonly records: readonly StageRecord[];
  readonly cached: boolean;
  readonly warnings: readonly Diagnostic[];
}

/** What is known of a build that began midway. */
export type Resumed = Pick<Compiled, 'artifacts' | 'records' | 'cached' | 'launches'>;

/** The cache of a call; undefined where it uses none. */
export function openCache({ cache, remoteCache, onWarning = () => {} }: CompileOptions): ArtifactCache | undefined {
  if (cache === false) return undefined;
  const remote = remoteCache && new RemoteCache({ ...remoteCache, token: remoteCacheToken() }, onWarning);
  return new ArtifactCache(cache ?? `${cacheFolder()}/artifacts`, onWarning, remote);
}
