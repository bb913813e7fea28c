import {
  CompileError,
  type Diagnostic,
  type DiagnosticContext,
  type DiagnosticNote,
} from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { forDisplay, userLoc } from './site.js';

/** Reports a mistake at the user's line, or at `context.loc`, and ends the trace. */
export function mistake(make: (context: DiagnosticContext) => Diagnostic, context: DiagnosticContext = {}): never {
  throw new CompileError([make({ ...context, loc: forDisplay(context.loc ?? userLoc()) })]);
}

/** A note that points at another place. */
export const noteAt = (message: string, loc: Loc): DiagnosticNote => ({ message, loc: forDisplay(loc) });
