import type { BackendName } from '../ir/kernel.js';

/** Options for one back end; its class selects the back end. */
export interface CompilerParams {
  readonly backend: BackendName;
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

/** The options that were given, without the undefined ones. */
export function givenOptions(options: object): Record<string, string | number | boolean> {
  return Object.fromEntries(Object.entries(options).filter(([, v]) => v !== undefined));
}
