/** Help texts, laid out by yargs; loaded only when help is asked for (its start-up takes longer than many a command). */

import yargs from 'yargs';
import type { Command } from './command.js';
import { commands } from './commands.js';
import { commonFlags, type Flag, flags } from './flags.js';

/** A parser of yargs that only prints: no files, no environment, no locale, no exit. */
const page = (columns: number) =>
  yargs([]).scriptName('tilewright').detectLocale(false).exitProcess(false).version(false).help(false).wrap(columns);

/** A flag with its value, as the synopsis of a manual page has it. */
function labelsOf({ spelling, aliases, form, value }: Flag<unknown>): string[] {
  const joint = { none: '', next: ' ', verbatim: ' ', equals: '[=', attached: '' }[form];
  return [...aliases, `${spelling}${joint}${value}${form === 'equals' ? ']' : ''}`];
}

const withoutDashes = (label: string): string => label.replace(/^-+/, '');

/** yargs writes two dashes before every name of several letters; compilers' flags have one. Keeps the columns. */
function restoreDashes(text: string, shown: readonly Flag<unknown>[]): string {
  const single = shown.flatMap(labelsOf).filter((label) => /^-[^-]./.test(label));
  return single.reduce((out, label) => out.replace(`--${withoutDashes(label)}`, ` ${label}`), text);
}

/** Help of one command. @param columns width to wrap at. */
export async function commandHelp(name: string, command: Command, columns: number): Promise<string> {
  const groups = [
    ['Flags:', command.flags],
    ['Flags of every command:', commonFlags],
  ] as const;
  let text = page(columns).usage(`tilewright ${name} ${command.operands.synopsis} [FLAG]…\n\n${command.summary}`);
  for (const [group, names] of groups)
    for (const flag of names.map((key): Flag<unknown> => flags[key])) {
      const [key, ...alias] = labelsOf(flag).map(withoutDashes);
      text = text.option(key!, { alias, describe: flag.summary, group });
    }
  if (command.notes !== undefined) text = text.epilogue(command.notes);
  const shown = groups.flatMap(([, names]) => names.map((key): Flag<unknown> => flags[key]));
  return `${restoreDashes(await text.getHelp(), shown)}\n`;
}

/** The list of commands. */
export async function programHelp(columns: number): Promise<string> {
  let text = page(columns)
    .usage('tilewright COMMAND … [FLAG]…\n\nGPU kernels written in TypeScript, compiled ahead of time.')
    .epilogue('`tilewright COMMAND --help` lists the flags of a command.');
  for (const [name, { load }] of Object.entries(commands)) {
    const { command } = await load();
    text = text.command(`${name} ${command.operands.synopsis}`, command.summary);
  }
  return `${await text.getHelp()}\n`;
}
