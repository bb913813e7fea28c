/** Groups of child processes: a tool and whatever it started end together, and never outlive this process. */

/** Milliseconds between the polite signal and the one that cannot be ignored. */
const grace = 1000;
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const leaders = new Set<number>();

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The whole group is gone already.
  }
}

function killAll(): void {
  for (const leader of leaders) signalGroup(leader, 'SIGKILL');
}

/**
 * A group of its own does not get the terminal's Ctrl-C. Whoever else listens decides what it means (the command line
 * cancels its work, which ends the groups); with nobody else it ends this process, so the groups end first.
 */
function onEnding(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  killAll();
  process.removeListener(signal, onEnding);
  process.kill(process.pid, signal);
}

function watchOwnEnd(): void {
  process.on('exit', killAll);
  // First, because a listener for one time is no longer counted once it was called.
  for (const signal of endings) process.prependListener(signal, onEnding);
}

function unwatchOwnEnd(): void {
  process.removeListener('exit', killAll);
  for (const signal of endings) process.removeListener(signal, onEnding);
}

export interface ProcessGroup {
  /** Ends every process of the group: asks, and after a second insists. */
  stop(): void;
  /** To be called when the leader has ended: the group is not looked after any more. */
  release(): void;
}

/** @param leader process id of a child that was started `detached`; undefined for one that did not start. */
export function processGroup(leader: number | undefined): ProcessGroup {
  if (leader === undefined) return { stop() {}, release() {} };
  if (leaders.size === 0) watchOwnEnd();
  leaders.add(leader);
  let insist: NodeJS.Timeout | undefined;
  return {
    stop() {
      signalGroup(leader, 'SIGTERM');
      insist ??= setTimeout(() => signalGroup(leader, 'SIGKILL'), grace);
    },
    release() {
      // A leader that ends at once on the polite signal may leave others that did not.
      if (insist) signalGroup(leader, 'SIGKILL');
      clearTimeout(insist);
      leaders.delete(leader);
      if (leaders.size === 0) unwatchOwnEnd();
    },
  };
}
