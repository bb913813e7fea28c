import type { CompileError, Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { primaryLoc } from '../../src/diagnostics/location.js';

/** The diagnostics that `work` throws; fails where it throws nothing. */
export async function diagnosticsOf(work: () => unknown): Promise<readonly Diagnostic[]> {
  try {
    await work();
  } catch (error) {
    const found = (error as CompileError).diagnostics;
    if (!found) throw error;
    return found;
  }
  throw new Error('expected an error, got none');
}

/** The first diagnostic that `work` throws, as `CODE file:line message`. */
export async function errorOf(work: () => unknown): Promise<string> {
  const [first] = await diagnosticsOf(work);
  const loc = primaryLoc(first!.loc);
  const file = loc?.file.split('/').at(-1);
  return `${first!.code} ${loc ? `${file}:${loc.line}` : '-'} ${first!.message}`;
}
