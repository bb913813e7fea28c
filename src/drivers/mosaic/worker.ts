/** The worker that holds JAX's lowering of Mosaic GPU: pinned, in a process of its own, one forked child for each module. */

import { type ForkServer, type ForkServerOptions, type WorkerKind, withForkServer } from '../fork-server.js';

export const mosaicWorker: WorkerKind = {
  name: 'mosaic',
  set: 'mosaic',
  script: 'workers/mosaic-worker.py',
  accepts: (version) => version === '0.10.2',
  wanted: 'JAX 0.10.2',
};

/** What the worker runs: part of the key of what it makes. */
export const mosaicScripts = [mosaicWorker.script, 'workers/mosaic_rules.py', 'workers/fork_server.py'] as const;

/** Runs `work` with a worker that starts with its first job and is gone afterwards. */
export const withMosaicWorker = <T>(options: ForkServerOptions, work: (worker: ForkServer) => Promise<T>): Promise<T> =>
  withForkServer(mosaicWorker, options, work);
