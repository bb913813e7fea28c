/**
 * `npm run gpu:report -- BUNDLE… [--simulated FILE.json]`: writes into docs/performance.md what is known of each kernel on GPUs:
 * compiled (it is in a bundle of `tilewright pack`), simulated (by the JSON of `npm run test:acceptance -- --backend sim:…`), or
 * run on which hardware (by the results.json that a bundle's run.sh wrote). `--out FILE` writes another page.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const args = process.argv.slice(2);
const option = (name) => {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args.splice(at, 2)[1];
};
const simulatedFile = option('--simulated');
const page = option('--out') ?? 'docs/performance.md';
const [begin, end] = ['<!-- gpu: written by `npm run gpu:report` -->', '<!-- end of gpu -->'];

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const simulated = new Map();
for (const row of simulatedFile ? read(simulatedFile).rows : []) {
  if (!row.backend.startsWith('sim:')) continue;
  const known = simulated.get(row.name) ?? new Map();
  const target = row.backend.slice('sim:'.length);
  known.set(target, (known.get(target) ?? true) && row.pass);
  simulated.set(row.name, known);
}

function ran(row) {
  if (!row || row.device === undefined || row.device === 'cpu') return '';
  if (!row.pass) return `${row.name}: WRONG`;
  const rates = [`${(row.nanoseconds / 1e6).toFixed(3)} ms`];
  if (row.nanoseconds > 0) rates.push(`${(row.bytes / row.nanoseconds).toFixed(1)} GB/s`);
  if (row.nanoseconds > 0 && row.flops > 0) rates.push(`${(row.flops / row.nanoseconds / 1e3).toFixed(2)} TFLOP/s`);
  return `${row.name}: right (largest error ${row.maxError}), ${rates.join(', ')}`;
}

const lines = [];
for (const bundle of args) {
  const results = existsSync(join(bundle, 'results.json')) ? read(join(bundle, 'results.json')).rows : [];
  for (const name of readdirSync(bundle).sort()) {
    const file = join(bundle, name, 'case.json');
    if (!existsSync(file)) continue;
    const { kernel, targets, dims } = read(file);
    const sizes = Object.entries(dims).map(([dim, value]) => `${dim} = ${value}`);
    const sims = [...(simulated.get(kernel) ?? [])].map(([target, pass]) => `${target}${pass ? '' : ' WRONG'}`);
    const row = results.find((r) => r.kernel === kernel);
    const cells = [kernel, sizes.join(', '), targets.filter((t) => t !== 'cpu').join(', '), sims.join(', '), ran(row)];
    lines.push(`| ${cells.join(' | ')} |`);
  }
}
if (lines.length === 0) {
  process.stderr.write('gpu:report: no bundle with kernels was given\n');
  process.exit(2);
}
const table = `| kernel | sizes | compiled for | simulated on | run on |\n|---|---|---|---|---|\n${lines.join('\n')}\n`;
const section = `${begin}\n## Kernels on GPUs\n\nAn empty last column: this was never run on hardware.\n\n${table}${end}\n`;
const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
const at = text.indexOf(begin);
const rest = at < 0 ? '' : text.slice(text.indexOf(end) + end.length + 1);
writeFileSync(page, `${at < 0 ? `${text.trimEnd()}\n\n`.trimStart() : text.slice(0, at)}${section}${rest}`);
process.stdout.write(table);
