import { cliCodes } from '../diagnostics/codes/cli.js';
import { defineCommand } from './command.js';
import { UsageError } from './usage-error.js';

export const command = defineCommand({
  summary: 'explain a diagnostic code',
  operands: { synopsis: 'CODE', min: 1, max: 1 },
  flags: [],
  async run({ operands: [text] }, session) {
    const { findCode, nearestCode, parseCode } = await import('../diagnostics/catalogue.js');
    const entry = findCode(parseCode(text!) ?? text!);
    if (!entry) {
      const near = nearestCode(text!);
      const help =
        near === undefined ? '`docs/errors.md` lists all codes' : `did you mean '${near}' (${findCode(near)!.title})?`;
      throw new UsageError([cliCodes.unknownCode({ text: text! }, { help })]);
    }
    await session.print(`${entry.severity}[${entry.code}]: ${entry.title}\n\n${entry.explanation}\n`);
    return 0;
  },
});
