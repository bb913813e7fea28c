const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** One argument so that a POSIX shell reads it back unchanged; bare where nothing in it is special. */
export const quoteArgument = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : quoted(argument);

/** A command line that can be pasted into a shell. */
export function quoteCommand(argv: readonly string[]): string {
  const [command = '', ...rest] = argv;
  // A bare command word with `=` in it would be an assignment.
  return [command.includes('=') ? quoted(command) : quoteArgument(command), ...rest.map(quoteArgument)].join(' ');
}
