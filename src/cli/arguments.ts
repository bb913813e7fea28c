import { cliCodes } from '../diagnostics/codes/cli.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { type CommonFlag, commonFlags, type Flag, type FlagName, type FlagValue, flags } from './flags.js';
import { UsageError } from './usage-error.js';

export interface Arguments<F extends FlagName = FlagName> {
  readonly flags: { readonly [K in F | CommonFlag]: FlagValue<K> };
  readonly operands: readonly string[];
}

/** What a command takes. */
export interface Signature {
  readonly flags: readonly FlagName[];
  readonly operands: {
    /** As the synopsis writes them. */
    readonly synopsis: string;
    readonly min: number;
    readonly max: number;
  };
}

export interface ParsedArguments {
  /** Flags with a problem, and those that are not given, have their defaults. */
  readonly arguments: Arguments;
  readonly problems: readonly Diagnostic[];
}

const allFlags: Readonly<Record<FlagName, Flag<unknown>>> = flags;
const spellingsOf = (flag: Flag<unknown>): readonly string[] => [flag.spelling, ...flag.aliases];

interface Match {
  readonly name: FlagName;
  /** The spelling that was used. */
  readonly spelling: string;
  /** The value within the same argument. */
  readonly attached?: string;
}

function match(token: string, names: readonly FlagName[]): Match | undefined {
  const equals = token.startsWith('--') ? token.indexOf('=') : -1;
  const head = equals < 0 ? token : token.slice(0, equals);
  for (const name of names) {
    const { form } = allFlags[name];
    for (const spelling of spellingsOf(allFlags[name])) {
      if (head === spelling && form !== 'attached')
        return equals < 0 ? { name, spelling } : { name, spelling, attached: token.slice(equals + 1) };
      const takesRest = form === 'attached' || (form === 'next' && spelling.length === 2);
      if (takesRest && token.startsWith(spelling)) return { name, spelling, attached: token.slice(spelling.length) };
    }
  }
  return undefined;
}

/**
 * Reads the arguments behind a command's name. All that is wrong with them is collected.
 *
 * Compilers spell flags in ways that option libraries read differently (`-Werror`, `-Xcc -march=native`, `-###`, `-o -`),
 * hence a reader of our own.
 */
export function parseArguments(command: string, signature: Signature, argv: readonly string[]): ParsedArguments {
  const names = [...signature.flags, ...commonFlags];
  const texts = new Map<FlagName, string[]>();
  const operands: string[] = [];
  const problems: Diagnostic[] = [];

  for (let i = 0; i < argv.length; i++) {
    const token = argv[i]!;
    if (token === '--') {
      operands.push(...argv.slice(i + 1));
      break;
    }
    if (token === '-' || !token.startsWith('-')) {
      operands.push(token);
      continue;
    }
    const found = match(token, names);
    if (!found) {
      const flag = token.startsWith('--') ? token.split('=')[0]! : token;
      const help = didYouMean(
        flag,
        names.flatMap((name) => spellingsOf(allFlags[name])),
      );
      problems.push(cliCodes.unknownFlag({ flag, command }, help === undefined ? {} : { help }));
      continue;
    }
    const { form, value } = allFlags[found.name];
    const next = argv[i + 1];
    let text = found.attached;
    if (form === 'none') {
      if (text !== undefined) problems.push(cliCodes.unexpectedValue({ flag: found.spelling, got: text }));
      text = '';
    } else if (form === 'equals') {
      text ??= '';
    } else if (text === undefined && next !== undefined) {
      const taken = form === 'verbatim' || next === '-' || !next.startsWith('-');
      if (taken) {
        text = next;
        i++;
      }
    }
    if (text === undefined || (text === '' && form !== 'none' && form !== 'equals'))
      problems.push(cliCodes.missingValue({ flag: found.spelling, value }));
    else texts.set(found.name, [...(texts.get(found.name) ?? []), text]);
  }

  const values: Partial<Record<FlagName, unknown>> = {};
  for (const name of Object.keys(allFlags) as FlagName[]) {
    try {
      values[name] = allFlags[name].read(texts.get(name) ?? []);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...error.diagnostics);
      values[name] = allFlags[name].read([]);
    }
  }
  // A misspelled flag leaves its value among the operands: counting them then would blame the wrong thing.
  if (problems.length === 0 && values.help !== true) {
    const { min, max, synopsis } = signature.operands;
    if (operands.length < min) problems.push(cliCodes.missingOperand({ command, operand: synopsis }));
    if (operands.length > max) problems.push(cliCodes.extraOperand({ command, got: operands[max]! }));
  }
  return { arguments: { flags: values as Arguments['flags'], operands }, problems };
}
