/** The worker that holds Triton: pinned, in a process of its own, one forked child for each compilation. */

import { type ForkServer, type ForkServerOptions, type WorkerKind, withForkServer } from '../fork-server.js';

export const tritonWorker: WorkerKind = {
  name: 'triton',
  set: 'triton',
  script: 'workers/triton-worker.py',
  accepts: (version) => version.startsWith('3.9.'),
  wanted: '3.9',
};

/** What the worker runs, besides its own file: part of the key of what it makes. */
export const workerScripts = [tritonWorker.script, 'workers/fork_server.py'] as const;

/** Runs `work` with a worker that starts with its first job and is gone afterwards. */
export const withTritonWorker = <T>(options: ForkServerOptions, work: (worker: ForkServer) => Promise<T>): Promise<T> =>
  withForkServer(tritonWorker, options, work);
