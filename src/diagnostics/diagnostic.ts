import { type Loc, unknownLoc } from './location.js';

export type Severity = 'error' | 'warning' | 'note';

export interface DiagnosticNote {
  readonly message: string;
  readonly loc?: Loc;
}

/** One finding. `code` is stable (`TW1003`) and explained by the catalogue; `help` is the way out. */
export interface Diagnostic {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly loc: Loc;
  readonly notes: readonly DiagnosticNote[];
  readonly help?: string;
}

/** What a place that reports adds to a code's own message. */
export interface DiagnosticContext {
  readonly loc?: Loc;
  readonly notes?: readonly DiagnosticNote[];
  readonly help?: string;
}

/** One catalogue entry: a constructor of diagnostics that also carries what `tilewright explain` prints. */
export interface Code<A> {
  (args: A, context?: DiagnosticContext): Diagnostic;
  readonly code: string;
  readonly severity: Severity;
  readonly title: string;
  readonly explanation: string;
}

/**
 * Defines one code.
 *
 * @param code `TW` and four digits: 0 IR, 1 front end, 2 lowering and gates, 3 tools, 4 command line and files, 5 interpreter, 6 simulator, 9 internal.
 * @param title a few words without the case's values, for lists and SARIF rules.
 * @param explanation what it means, why it is refused, and how to mend it; Markdown, printed by `explain`.
 * @param message the sentence of one case, from its values.
 */
export function defineCode<A>(
  code: string,
  severity: Severity,
  title: string,
  explanation: string,
  message: (args: A) => string,
): Code<A> {
  const make = (args: A, context: DiagnosticContext = {}): Diagnostic => ({
    code,
    severity,
    message: message(args),
    loc: context.loc ?? unknownLoc,
    notes: context.notes ?? [],
    ...(context.help === undefined ? {} : { help: context.help }),
  });
  return Object.assign(make, { code, severity, title, explanation });
}

/** The user's input is wrong: all findings at once, thrown at the border of the API. */
export class CompileError extends Error {
  override readonly name = 'CompileError';
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map((d) => `${d.severity}[${d.code}]: ${d.message}`).join('\n'));
  }
}

export interface ToolFailure {
  readonly tool: string;
  readonly argv: readonly string[];
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly stderr: string;
}

/** A tool, driver or device is missing or failed. `failure` is absent when the tool was never started. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  constructor(
    readonly diagnostics: readonly Diagnostic[],
    readonly failure?: ToolFailure,
  ) {
    super(diagnostics.map((d) => `${d.severity}[${d.code}]: ${d.message}`).join('\n'));
  }
}

/** A promise of ours was broken: a bug in tilewright, never the user's mistake. */
export class InternalError extends Error {
  override readonly name = 'InternalError';
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InternalError(message);
}

export function assertNever(value: never, what: string): never {
  throw new InternalError(`unexpected ${what}: ${JSON.stringify(value)}`);
}

/** Collects diagnostics; `throwIfErrors` ends a stage. */
export class DiagnosticSink {
  readonly diagnostics: Diagnostic[] = [];

  report(diagnostic: Diagnostic): void {
    this.diagnostics.push(diagnostic);
  }

  get hasErrors(): boolean {
    return this.diagnostics.some((d) => d.severity === 'error');
  }

  throwIfErrors(): void {
    if (this.hasErrors) throw new CompileError(this.diagnostics);
  }
}
