/** The three ways in which tables of edge cases run: by the interpreter, by the constant folder, and on the CPU. */

import { expect } from '@jest/globals';
import { fromNumbers, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { interpretSource, runSource } from '../../src/api/run.js';
import type { KernelSource } from '../../src/api/source.js';
import { runPasses } from '../../src/ir/pass.js';
import { canonicalize } from '../../src/ir/passes/canonicalize.js';
import { mapBodies } from '../../src/ir/rewrite.js';
import type { GenericOp, Value } from '../../src/ir/value.js';

/** Runs an elementwise kernel (`op-kernels.ts`) on arrays. */
export type Execute = (
  source: KernelSource,
  inputs: Readonly<Record<string, NdArray>>,
) => Promise<Readonly<Record<string, NdArray>>>;

export const byInterpreter: Execute = (source, inputs) => interpretSource(source, inputs);

export const onCpu: Execute = async (source, inputs) => (await runSource(source, inputs, { lineInfo: false })).outputs;

/** Elements that one kernel folds: each is a copy of the body. */
const copies = 32;

/**
 * The kernel for each element of the inputs, in which constants stand for what was loaded. All of it must fold: what is
 * stored is a constant then, and that is the result.
 */
export const byFolder: Execute = async ({ kernel }, inputs) => {
  const names = kernel.params.filter((p) => p.kind === 'array' && p.role === 'in').map((p) => p.name);
  const columns = names.map((name) => toRegisters(inputs[name]!));
  const elements = Array.from({ length: columns[0]!.length }, (_, i) => columns.map((c) => c[i]!));
  const keyOf = (given: readonly (number | bigint)[]): string =>
    given.map((x) => (Object.is(x, -0) ? '-0' : String(x))).join();
  const distinct = [...new Map(elements.map((given) => [keyOf(given), given]))];
  const found = new Map<string, ReadonlyMap<string, number | bigint>>();
  for (let at = 0; at < distinct.length; at += copies) {
    const some = distinct.slice(at, at + copies);
    const many = mapBodies(kernel, ({ args, ops }) => ({
      args,
      ops: some.flatMap(([, given]) => copyOf(ops, (ref) => given[names.indexOf(ref.hint!)]!)),
    }));
    const { ops } = runPasses(many, [canonicalize]).launches[0]!.body;
    const makers = new Map(ops.flatMap((op) => op.results.map((r) => [r, op] as const)));
    const stores = ops.filter((op) => op.name === 'store');
    const perCopy = stores.length / some.length;
    some.forEach(([key], i) => {
      const results = stores.slice(i * perCopy, (i + 1) * perCopy).map((op) => {
        const { ref, value } = op.operands as { ref: Value; value: Value };
        const maker = makers.get(value)!;
        expect(`${ref.hint}(${key}) is a ${maker.name}`).toBe(`${ref.hint}(${key}) is a constant`);
        return [ref.hint!, maker.attrs.value as number | bigint] as const;
      });
      found.set(key, new Map(results));
    });
  }
  const outputs = kernel.params.filter((p) => p.kind === 'array' && p.role === 'out');
  return Object.fromEntries(
    outputs.map(({ name, value: { type } }) => [
      name,
      fromNumbers(
        type.dtype,
        [elements.length],
        elements.map((given) => found.get(keyOf(given))!.get(name)!),
      ),
    ]),
  );
};

/** Ops with results of their own, loads replaced by constants. */
function copyOf(ops: readonly GenericOp[], constantOf: (ref: Value) => number | bigint): GenericOp[] {
  const renamed = new Map<Value, Value>();
  const now = (v: Value): Value => renamed.get(v) ?? v;
  return ops.map((op) => {
    const results = op.results.map((r): Value => ({ ...r }));
    op.results.forEach((r, i) => {
      renamed.set(r, results[i]!);
    });
    if (op.name === 'load') {
      const { ref } = op.operands as { ref: Value };
      return { ...op, name: 'constant', operands: {}, attrs: { value: constantOf(ref) }, results };
    }
    const operands = Object.fromEntries(
      Object.entries(op.operands).map(([group, v]) => [group, Array.isArray(v) ? v.map(now) : v && now(v as Value)]),
    );
    return { ...op, operands: operands as GenericOp['operands'], results };
  });
}
