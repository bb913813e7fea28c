import type { BackendName } from '../ir/kernel.js';
import { checkFlag, checkOptions, refuse } from './handle.js';

/** Options for one back end; its class selects the back end. */
export interface CompilerParams {
  readonly backend: BackendName;
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

/** What the options of a back end are: whole numbers from 1 up, or true and false. */
export type OptionKinds<O> = { readonly [K in keyof Required<O>]: 'count' | 'flag' };

/** The options that were given, checked, without the undefined ones. */
export function givenOptions<O extends object>(
  backend: BackendName,
  kinds: OptionKinds<O>,
  options: O,
): CompilerParams['options'] {
  checkOptions(`${backend} CompilerParams`, Object.keys(kinds), options);
  for (const [name, x] of Object.entries(options) as [keyof O & string, unknown][]) {
    if (kinds[name] === 'flag') checkFlag(name, x);
    else if (x !== undefined && !(Number.isInteger(x) && (x as number) >= 1))
      refuse(`'${name}' is an integer from 1 up`, x);
  }
  return Object.fromEntries(Object.entries(options).filter(([, v]) => v !== undefined));
}
