import { cliCodes } from '../diagnostics/codes/cli.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';

/** The command line does not say what to do: exit code 2. Stays within `src/cli`. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map((d) => d.message).join('\n'));
  }
}

/** `got` is not what `flag` takes. */
export function badValue(flag: string, expected: string, got: string, help?: string): UsageError {
  return new UsageError([cliCodes.badValue({ flag, expected, got }, help === undefined ? {} : { help })]);
}
