import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { renderTally, renderText } from '../diagnostics/render-text.js';
import { sourceLines } from '../diagnostics/source-files.js';

export type DiagnosticsFormat = 'text' | 'json' | 'sarif';

export interface ReporterOptions {
  readonly format: DiagnosticsFormat;
  readonly color: boolean;
  /** `-Werror`. */
  readonly warningsAreErrors: boolean;
  /** Codes of warnings that are not shown (`-Wno-CODE`). */
  readonly silenced: ReadonlySet<string>;
  /** Writes to stderr. */
  readonly write: (text: string) => void;
  /** The program's version, for SARIF. */
  readonly version: () => string;
}

/**
 * What goes to stderr. As text, everything is written at once; as JSON or SARIF, stderr is exactly one document, so other
 * lines are left out and the findings are written by `finish`.
 */
export interface Reporter {
  report(diagnostics: readonly Diagnostic[]): void;
  /** One line beside the diagnostics: a notice, an artifact, a time. */
  say(line: string): void;
  readonly hasErrors: boolean;
  /** Whether there was anything to report at all, shown or silenced. */
  readonly hasReported: boolean;
  finish(): Promise<void>;
}

export function createReporter(options: ReporterOptions): Reporter {
  const { format, color, warningsAreErrors, silenced, write } = options;
  const reported: Diagnostic[] = [];
  const seen = new Set<string>();
  let found = false;
  const lines = sourceLines();

  const graded = (diagnostic: Diagnostic): Diagnostic | undefined => {
    if (diagnostic.severity !== 'warning') return diagnostic;
    if (silenced.has(diagnostic.code)) return undefined;
    return warningsAreErrors
      ? { ...diagnostic, severity: 'error', message: `${diagnostic.message} [-Werror]` }
      : diagnostic;
  };

  return {
    report(diagnostics) {
      found ||= diagnostics.length > 0;
      for (const given of diagnostics) {
        const diagnostic = graded(given);
        if (!diagnostic) continue;
        // Several targets or cases of one kernel find the same thing at the same place.
        const key = JSON.stringify(diagnostic);
        if (seen.has(key)) continue;
        seen.add(key);
        reported.push(diagnostic);
        if (format === 'text') write(renderText(diagnostic, { color, lines }));
      }
    },
    say(line) {
      if (format === 'text') write(`${line}\n`);
    },
    get hasReported() {
      return found;
    },
    get hasErrors() {
      return reported.some((d) => d.severity === 'error');
    },
    async finish() {
      if (format === 'json') {
        const { renderJson } = await import('../diagnostics/json.js');
        write(renderJson(reported));
      } else if (format === 'sarif') {
        const { renderSarif } = await import('../diagnostics/sarif.js');
        write(renderSarif(reported, options.version()));
      } else if (reported.length > 1) {
        const tally = renderTally(reported.map((d) => d.severity));
        if (tally !== undefined) write(`${tally}\n`);
      }
    },
  };
}
