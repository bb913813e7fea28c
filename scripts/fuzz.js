/**
 * `npm run fuzz [-- --count N] [--seed S]`: damaged kernel IR and random command lines, in this process. Whatever comes in,
 * what is wrong with it is told by coded diagnostics: an exception is a bug, and is shown with the input that caused it.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArguments } from '../dist/cli/arguments.js';
import { commands } from '../dist/cli/commands.js';
import { flags } from '../dist/cli/flags.js';
import { parseModule } from '../dist/ir/parser.js';
import { printModule } from '../dist/ir/printer.js';
import { verifyKernel } from '../dist/ir/verifier.js';
import { nd } from '../dist/testing/index.js';

const option = (name, initial) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? initial : Number(process.argv[at + 1]);
};
const [count, seed] = [option('count', 20_000), option('seed', 1)];
const next = nd.words(seed);
const below = (n) => next() % n;
const oneOf = (list) => list[below(list.length)];

const golden = fileURLToPath(new URL('../test/golden', import.meta.url));
const cases = readdirSync(golden, { recursive: true })
  .filter((f) => f.endsWith('.kir'))
  .sort()
  .flatMap((f) => readFileSync(join(golden, f), 'utf8').split(/^\/\/ -----$/m))
  .filter((text) => text.length < 4000);
const tokens = [...new Set(cases.join('\n').match(/[%@]?[\w.]+|"[^"\n]*"|[^\s\w]/g))];
const bytes = ['\0', '\u00e9', '\ud83d', '"', '\\', '\n', '{', '}', '(', ')', '%', '9'.repeat(400), '-', 'e', '\u2028'];

/** One to four edits: tokens and bytes come, go and change places; lines are repeated. */
function damage(text) {
  let result = text;
  for (let edits = 1 + below(4); edits > 0; edits--) {
    const [at, length] = [below(result.length + 1), below(12)];
    const [head, tail] = [result.slice(0, at), result.slice(at)];
    switch (below(5)) {
      case 0:
        result = head + oneOf(tokens) + tail;
        break;
      case 1:
        result = head + tail.slice(length);
        break;
      case 2:
        result = head + oneOf(bytes) + tail.slice(below(2));
        break;
      case 3:
        result = head + oneOf(tokens) + tail.replace(/^[\w.]+/, '');
        break;
      default:
        result = head + tail.slice(0, tail.indexOf('\n') + 1).repeat(1 + below(3)) + tail;
    }
  }
  return result;
}

function tryText(text) {
  const { module, diagnostics } = parseModule(text, 'fuzz.kir');
  if (diagnostics.some((d) => !/^TW\d{4}$/.test(d.code))) throw new Error('a diagnostic without a code');
  if (!module) return 'refused';
  const problems = module.kernels.flatMap((k) => verifyKernel(k));
  if (problems.length > 0) return 'invalid';
  const printed = printModule(module);
  if (printModule(parseModule(printed, 'fuzz.kir').module) !== printed)
    throw new Error('what it prints does not parse back');
  return 'valid';
}

const spellings = Object.values(flags).flatMap((f) => [f.spelling, ...f.aliases]);
const words = [
  ...spellings,
  ...tokens.slice(0, 200),
  '',
  '-',
  '--',
  '=',
  '--=',
  '-D',
  'a=b',
  'x=@y.npy:',
  '-1',
  '\0',
  'a\u00e9',
];
const signatures = await Promise.all(
  Object.entries(commands).map(async ([name, { load }]) => [name, (await load()).command]),
);

function tryArguments(argv) {
  const { problems } = parseArguments(...oneOf(signatures), argv);
  if (problems.some((d) => !/^TW\d{4}$/.test(d.code))) throw new Error('a problem without a code');
  return problems.length > 0 ? 'refused' : 'read';
}

const tally = {};
let failures = 0;
const started = performance.now();
for (let i = 0; i < count; i++) {
  const kind = i % 4 === 3 ? 'arguments' : 'text';
  const input =
    kind === 'text'
      ? damage(oneOf(cases))
      : Array.from({ length: below(8) }, () => (below(4) ? oneOf(words) : oneOf(words) + oneOf(words)));
  let outcome;
  try {
    outcome = kind === 'text' ? tryText(input) : tryArguments(input);
  } catch (error) {
    outcome = 'FAILED';
    if (failures++ < 5) process.stderr.write(`${kind} ${JSON.stringify(input)}\n${error.stack}\n`);
  }
  tally[`${kind} ${outcome}`] = (tally[`${kind} ${outcome}`] ?? 0) + 1;
}
const seconds = ((performance.now() - started) / 1000).toFixed(0);
for (const [what, n] of Object.entries(tally).sort()) process.stdout.write(`${what}: ${n}\n`);
process.stdout.write(`${count} inputs, seed ${seed}, ${seconds} s, ${failures} failed\n`);
process.exitCode = failures ? 1 : 0;
