/** `docs/ops.md`: every op of the table, with its form in text and what it costs on each back end. */

import { bf16, bool, f32, f64, i32, i64 } from '../dist/ir/dtypes.js';
import { opTable } from '../dist/ir/ops/index.js';
import { opPrices } from './op-prices.js';

const priced = [f32, bf16, f64, i32, i64, bool];
/** What the op becomes on each back end, as a table. */
function priceTable(definition) {
  const rows = opPrices(definition, priced);
  if (rows.length === 0) return '';
  const head = Object.keys(rows[0]);
  const lines = rows.map((row) => {
    const [what, ...counts] = Object.values(row);
    return [`\`${what}\``, ...counts];
  });
  return `\n${[head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`;
}

/** The op as it stands in the text. */
function formOf(d) {
  const groups = Object.entries(d.operands);
  const plain = groups.filter(([, { arity }]) => arity === 'one').map(([name]) => `%${name}`);
  const named = groups
    .filter(([, { arity }]) => arity !== 'one')
    .map(([name, { arity }]) => (arity === 'optional' ? `[${name}(%…)]` : `${name}(%…, …)`));
  const attrs = Object.entries(d.attrs).map(([name, { optional }]) => (optional ? `[${name}]` : name));
  const gives = d.results.stated !== 0 && !d.terminator;
  const words = [
    d.name,
    plain.join(', '),
    ...named,
    attrs.length ? `{${attrs.join(', ')}}` : '',
    gives ? ': type' : '',
  ];
  return `${gives ? '%r = ' : ''}${[...words, ...d.regions.map((r) => `(…) { ${r} }`)].filter(Boolean).join(' ')}`;
}

function section(d) {
  const operands = Object.entries(d.operands).map(
    ([name, { arity, constraint }]) =>
      `\`${name}\`: ${{ one: '', optional: 'optional, ', variadic: 'any number, each ' }[arity]}${constraint.expects}`,
  );
  const attrs = Object.entries(d.attrs).map(
    ([name, spec]) => `\`${name}\`: ${spec.optional ? 'optional, ' : ''}${spec.expects}`,
  );
  const facts = [
    operands.length ? `operands ${operands.join('; ')}` : 'no operands',
    ...(attrs.length ? [`attributes ${attrs.join('; ')}`] : []),
    ...(d.effects.length
      ? [`effects: ${d.effects.join(', ')}`]
      : [d.evaluate ? 'no effects; folded and interpreted by one function' : 'no effects']),
  ];
  return `## \`${d.name}\`\n\n    ${formOf(d)}\n\n${d.summary}${d.semantics ? ` ${d.semantics}` : ''}\n\n- ${facts.join('\n- ')}\n${priceTable(d)}`;
}

/** @param note says that the page is generated. */
export function opsPage(note) {
  return `# Ops of the kernel IR

${note}
One entry for each op of the table in \`src/ir/ops\`: ${opTable.length} in all. Tiles of elementwise ops have one shape; broadcasts are explicit.

What an op costs is counted by lowering it, constants left out. Elementwise ops: the ops that they become in the MLIR of the CPU, for one vector, and
in Triton IR and Mosaic GPU's text for sm_90a, for a whole tile. The others by an example (\`scripts/op-examples.kir\` has it in full): on GPUs what the op
itself becomes; on the CPU, which merges ops with the loops of those that use them, the whole example with its loads and stores. 0: it is free, or a part
of what uses it. *refused*: that back end does not take the op in this form. f16 and bf16 are held as f32 on the CPU, so what they add is one rounding. A call
of a library counts as one op. \`fast\` options are left out.

${opTable.map(section).join('\n')}`;
}
