/** What an op becomes on each back end: a kernel around it is lowered, and what carries the op's location is counted. */

import { readFileSync } from 'node:fs';
import { lower } from '../dist/api/compile.js';
import { lowerForMosaic } from '../dist/api/compile-mosaic.js';
import { lowerForTriton } from '../dist/api/compile-triton.js';
import { readKernels } from '../dist/api/source.js';
import { CompileError } from '../dist/diagnostics/diagnostic.js';
import { fileLoc, unknownLoc } from '../dist/diagnostics/location.js';
import { RegionBuilder } from '../dist/ir/builder.js';
import { bool } from '../dist/ir/dtypes.js';
import { indexType, refType, tileType } from '../dist/ir/types.js';
import { value } from '../dist/ir/value.js';
import { walk } from '../dist/ir/walk.js';
import { elementRules, elemOf } from '../dist/lowering/cpu/arithmetic.js';
import { Emitter, lanesType } from '../dist/lowering/cpu/emitter.js';
import { findGpuTarget } from '../dist/lowering/gpu-target.js';
import { Unsupported } from '../dist/lowering/rule-table.js';

const target = findGpuTarget('sm_90a');
const source = (kernel) => ({ kernel, warnings: [], folder: '.' });
const textOf = (launches) => launches.map((l) => l.text).join('\n');

const cpuText = (kernel) => lower(source(kernel), 'cpu').mlir;
const gpuTexts = {
  Triton: (kernel) => textOf(lowerForTriton(source(kernel), target).launches),
  'Mosaic GPU': (kernel) => textOf(lowerForMosaic(source(kernel), target).launches),
};

/** What the op at a place becomes on GPUs. */
const gpuPrices = (kernel, loc) =>
  Object.fromEntries(Object.entries(gpuTexts).map(([name, text]) => [name, priceOn(text, kernel, isFrom(loc))]));

/** @returns how many ops a count finds in what a back end makes of a kernel, or that it does not take it. */
function priceOn(lowerText, kernel, counts) {
  try {
    const lines = lowerText(kernel)
      .split('\n')
      .filter((text) => text.includes(' loc(') && !text.includes('constant'));
    return String(lines.filter(counts).length);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return 'refused';
  }
}

/** Whether a line of a lowered text comes from the op at a place. */
const isFrom =
  ({ file, line, col }) =>
  (text) =>
    text.includes(`"${file}":${line}:${col}`, text.lastIndexOf(' loc('));

/** The CPU computes elementwise ops where their result is stored, so what they emit is asked of their rules. */
function vectorOps(definition, dtype) {
  const e = new Emitter({ bytes: 64, registers: 32 });
  const width = 8;
  const tile = tileType(dtype, [width]);
  const operands = Object.values(definition.operands).map(({ constraint }) =>
    constraint.accepts(tile) ? dtype : bool,
  );
  const types = operands.map((d) => lanesType(elemOf(d), width));
  const op = { name: definition.name, operands: {}, attrs: {}, results: [{ type: tile }], regions: [] };
  const count = (ops) => ops.reduce((sum, o) => sum + 1 + o.regions.reduce((n, r) => n + count(r.ops), 0), 0);
  try {
    const region = e.region(types, (values) => {
      const lanes = values.map((v, i) => ({ value: v, elem: elemOf(operands[i]), width }));
      elementRules[definition.name](e, lanes, dtype, op);
    });
    return String(count(region.ops));
  } catch (error) {
    if (error instanceof Unsupported) return 'refused';
    throw error;
  }
}

const elements = 1024;
const example = 'op-examples.kir';
const text = readFileSync(new URL(example, import.meta.url), 'utf8');
const examples = new Map(readKernels(text, example, '.').map(({ kernel }) => [kernel.name, kernel]));

/** The op that an example is named after. */
function opOf(kernel) {
  const found = [];
  for (const { body } of kernel.launches) walk(body, (op) => op.name === kernel.name && found.push(op));
  return found.at(-1);
}

/** `z = op(x0, x1, …)` on tiles of a dtype, with a location at that op alone; undefined where it does not take the dtype. */
function elementwise(definition, dtype, loc) {
  const tile = tileType(dtype, [elements]);
  const groups = Object.entries(definition.operands);
  if (!groups.some(([, { constraint }]) => constraint.accepts(tile))) return undefined;
  const array = (role, name, { dtype: d }) => {
    const ref = value(refType('gmem', d, [elements]), name);
    return { kind: 'array', role, name, value: ref, loc: unknownLoc };
  };
  const body = new RegionBuilder();
  const emit = (name, operands, attrs, types, at = unknownLoc) =>
    body.emit(name, operands, attrs, at, types ? { types } : {});
  const inputs = groups.map(([name, { constraint }]) =>
    array('in', name, { dtype: constraint.accepts(tile) ? dtype : bool }),
  );
  const start = emit('constant', {}, { value: 0 }, [indexType]);
  const operands = inputs.map(({ name, value: ref }) => [
    name,
    emit('load', { ref, index: [start] }, {}, [tileType(ref.type.dtype, [elements])]),
  ]);
  const result = emit(definition.name, Object.fromEntries(operands), {}, undefined, loc);
  const out = array('out', 'result', result.type);
  body.append({
    name: 'store',
    operands: { ref: out.value, value: result, index: [start] },
    attrs: {},
    results: [],
    regions: [],
    loc: unknownLoc,
  });
  const launch = { name: 'k', grid: [], backendParams: [], body: body.finish(), loc: unknownLoc };
  return { name: 'k', dims: [], params: [...inputs, out], launches: [launch], loc: unknownLoc };
}

/**
 * What one op costs.
 *
 * @param dtypes of elementwise ops: each that the op takes is a row.
 * @returns rows of a table; none for what is priced with another op, as the end of a region.
 */
export function opPrices(definition, dtypes) {
  const own = examples.get(definition.name);
  if (own) {
    const { loc } = opOf(own);
    const line = text.split('\n')[loc.line - 1].trim();
    const whole = priceOn(cpuText, own, (t) => !t.includes('"func.'));
    return [
      { example: line.endsWith('{') ? `${line} … }` : line, 'CPU, all of the example': whole, ...gpuPrices(own, loc) },
    ];
  }
  if (definition.terminator) return [];
  const loc = fileLoc('op.kir', 1, 1);
  return dtypes.flatMap((dtype) => {
    const kernel = elementwise(definition, dtype, loc);
    return kernel ? [{ dtype: dtype.name, CPU: vectorOps(definition, dtype), ...gpuPrices(kernel, loc) }] : [];
  });
}
