/** What goes wrong with a launch. */

/** By the numbers of `enum tw_status`; `no-ffi` and `bad-plan` are Node's own. */
const statuses = [
  'ok',
  'no-driver',
  'bad-driver',
  'no-device',
  'no-image',
  'load',
  'symbol',
  'launch',
  'argument',
  'memory',
] as const;
export type LaunchStatus = (typeof statuses)[number] | 'no-ffi' | 'bad-plan';

/** Thrown by everything of `tilewright/runtime`; `status` says what kind of error it is. */
export class LaunchError extends Error {
  constructor(
    readonly status: LaunchStatus,
    message: string,
  ) {
    super(message);
    this.name = 'LaunchError';
  }
}

export const statusOf = (code: number): LaunchStatus => statuses[code] ?? 'launch';
