import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { f32, f64 } from '../../src/ir/dtypes.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { definitionOf } from '../../src/ir/ops/index.js';
import { mapBodies } from '../../src/ir/rewrite.js';
import { tileType } from '../../src/ir/types.js';
import type { GenericOp, Region, Value } from '../../src/ir/value.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { countUses, operandsOf, walk } from '../../src/ir/walk.js';
import { randomKernel } from '../support/random-kernel.js';

const seed = Number(process.env.TILEWRIGHT_SEED ?? 20261201);
const runs = Number(process.env.TILEWRIGHT_RUNS ?? 300);

/** The ops of a region with one of them replaced by others, wherever it is. */
function substitute(region: Region, target: GenericOp, by: readonly GenericOp[]): Region {
  return {
    args: region.args,
    ops: region.ops.flatMap((op) =>
      op === target
        ? by
        : [op.regions.length === 0 ? op : { ...op, regions: op.regions.map((r) => substitute(r, target, by)) }],
    ),
  };
}

/** Another type, of the same kind where it can be. */
const otherType = (v: Value): Value => ({
  type: v.type.kind === 'tile' ? tileType(v.type.dtype === f32 ? f64 : f32, [...v.type.shape, 5]) : tileType(f32),
});

interface Choice {
  readonly op: GenericOp;
  readonly region: Region;
  readonly uses: ReadonlyMap<Value, number>;
}

/** Ways to break a kernel at one op: what comes in place of it, or undefined where that would not break it. */
const mutations: Readonly<Record<string, (choice: Choice) => readonly GenericOp[] | undefined>> = {
  'drop an op that is used': ({ op, uses }) => (op.results.some((r) => uses.has(r)) ? [] : undefined),
  'drop a terminator': ({ op }) => (definitionOf(op).terminator ? [] : undefined),
  'define a value twice': ({ op }) => (op.results.length > 0 ? [op, op] : undefined),
  'end a region early': ({ op }) => (definitionOf(op).terminator ? [op, op] : undefined),
  'use a value that nothing defines': ({ op }) => {
    const [first] = operandsOf(op);
    return first && [{ ...op, operands: replaceOne(op.operands, first, { type: first.type }) }];
  },
  'use a value before its definition': ({ op, region }) => {
    const next = region.ops[region.ops.indexOf(op) + 1];
    if (op.regions.length > 0 || (next?.regions.length ?? 0) > 0) return undefined;
    return next && operandsOf(next).some((v) => op.results.includes(v)) ? [next, op] : undefined;
  },
  'change the type of a result': ({ op }) =>
    'infer' in definitionOf(op).results && op.results.length > 0
      ? [{ ...op, results: op.results.map(otherType) }]
      : undefined,
  'leave out an operand': ({ op }) => {
    const group = Object.entries(definitionOf(op).operands).find(([, s]) => s.arity === 'one')?.[0];
    return group === undefined ? undefined : [{ ...op, operands: { ...op.operands, [group]: undefined } }];
  },
  'leave out an attribute': ({ op }) => {
    const name = Object.entries(definitionOf(op).attrs).find(([, s]) => !s.optional)?.[0];
    return name === undefined ? undefined : [{ ...op, attrs: { ...op.attrs, [name]: undefined } }];
  },
  'add an attribute': ({ op }) => [{ ...op, attrs: { ...op.attrs, colour: 1 } }],
  'add an operand': ({ op, region }) => {
    const [v] = region.ops[0]!.results;
    return v && region.ops[0] !== op ? [{ ...op, operands: { ...op.operands, spare: v } }] : undefined;
  },
  'drop a region': ({ op }) => (op.regions.length > 0 ? [{ ...op, regions: op.regions.slice(1) }] : undefined),
  'name a dim that is not there': ({ op }) =>
    op.name === 'dim' ? [{ ...op, attrs: { name: 'elsewhere' } }] : undefined,
  'name an axis that is not there': ({ op }) =>
    op.name === 'program_id' ? [{ ...op, attrs: { axis: 'elsewhere' } }] : undefined,
};

function replaceOne(operands: GenericOp['operands'], from: Value, to: Value): GenericOp['operands'] {
  const swap = (v: Value): Value => (v === from ? to : v);
  return Object.fromEntries(
    Object.entries(operands).map(([group, v]) => [group, Array.isArray(v) ? v.map(swap) : v && swap(v as Value)]),
  );
}

/** All kernels that one mutation makes of a kernel. */
function mutants(kernel: Kernel, mutate: (choice: Choice) => readonly GenericOp[] | undefined): Kernel[] {
  const { body } = kernel.launches[0]!;
  const uses = countUses(body);
  const found: Kernel[] = [];
  walk(body, (op, region) => {
    const by = mutate({ op, region, uses });
    // Two ops that change places take the second one's old place with them.
    const next = by?.length === 2 && by[0] !== op ? by[0] : undefined;
    if (!by) return;
    found.push(mapBodies(kernel, (b) => substitute(next ? substitute(b, next, []) : b, op, by)));
  });
  return found;
}

test.each(Object.entries(mutations))('the verifier refuses random kernels that %s', (_, mutate) => {
  let tried = 0;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.integer({ min: 1, max: 8 }), (s, steps) => {
      for (const mutant of mutants(randomKernel(s, steps).kernel, mutate)) {
        tried++;
        expect(verifyKernel(mutant)).not.toEqual([]);
      }
    }),
    { seed, numRuns: Math.ceil(runs / 10) },
  );
  expect(tried).toBeGreaterThan(0);
});
