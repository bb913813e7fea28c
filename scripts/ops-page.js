/** `docs/ops.md`: every op of the table, with its form in text and what it costs on each back end. */

import { bf16, bool, f32, f64, i32, i64 } from '../dist/ir/dtypes.js';
import { opTable } from '../dist/ir/ops/index.js';
import { tileType } from '../dist/ir/types.js';
import { elementRules, elemOf } from '../dist/lowering/cpu/arithmetic.js';
import { Emitter, lanesType } from '../dist/lowering/cpu/emitter.js';
import { Unsupported } from '../dist/lowering/rule-table.js';

const priced = [f32, bf16, f64, i32, i64];
const width = 8;

const countOps = (ops) => ops.reduce((sum, op) => sum + 1 + op.regions.reduce((n, r) => n + countOps(r.ops), 0), 0);

/** Vector ops that the CPU back end emits for one vector of a dtype, constants not counted; undefined where it refuses. */
function cpuOps(definition, dtype) {
  const e = new Emitter({ bytes: 64, registers: 32 });
  const operands = Object.values(definition.operands).map(({ constraint }) =>
    constraint.accepts(tileType(dtype, [width])) ? dtype : bool,
  );
  const types = operands.map((d) => lanesType(elemOf(d), width));
  const op = {
    name: definition.name,
    operands: {},
    attrs: {},
    results: [{ type: tileType(dtype, [width]) }],
    regions: [],
  };
  try {
    const region = e.region(types, (values) => {
      const lanes = values.map((value, i) => ({ value, elem: elemOf(operands[i]), width }));
      elementRules[definition.name](e, lanes, dtype, op);
    });
    return countOps(region.ops);
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

function cpuPrice(definition) {
  if (!(definition.name in elementRules)) return [];
  const takes = (dtype) =>
    Object.values(definition.operands).some(({ constraint }) => constraint.accepts(tileType(dtype, [width])));
  const prices = priced.filter(takes).map((dtype) => `${dtype.name} ${cpuOps(definition, dtype) ?? 'refused'}`);
  return prices.length ? [`CPU, ops for one vector: ${prices.join(', ')}`] : [];
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
    ...cpuPrice(d),
  ];
  return `## \`${d.name}\`\n\n    ${formOf(d)}\n\n${d.summary}${d.semantics ? ` ${d.semantics}` : ''}\n\n- ${facts.join('\n- ')}\n`;
}

/** @param note says that the page is generated. */
export function opsPage(note) {
  return `# Ops of the kernel IR

${note}
One entry for each op of the table in \`src/ir/ops\`: ${opTable.length} in all. Tiles of elementwise ops have one shape; broadcasts are explicit. What an op
costs is counted by emitting it: the ops of MLIR for one vector on the CPU, constants left out. f16 and bf16 are held as f32, so what they add is one
rounding. \`fast\` options are left out.

${opTable.map(section).join('\n')}`;
}
