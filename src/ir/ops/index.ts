/** The op table: every op of the kernel IR, defined once. */

import { InternalError } from '../../diagnostics/diagnostic.js';
import type { Loc } from '../../diagnostics/location.js';
import type { AttrsOf } from '../attributes.js';
import type { OpDefinition, OperandsOf } from '../define-op.js';
import type { GenericOp, Region, Value } from '../value.js';
import { arrangeOps } from './arrange.js';
import { combineOps } from './combine.js';
import { contractionOps } from './contraction.js';
import { controlOps } from './control.js';
import { debugOps } from './debug.js';
import { elementwiseOps } from './elementwise.js';
import { mathOps } from './math.js';
import { memoryOps } from './memory.js';
import { randomOps } from './random.js';
import { shapeOps } from './shape.js';
import { sortOps } from './sort.js';
import { warpgroupOps } from './warpgroup.js';

export const opTable = [
  ...shapeOps,
  ...arrangeOps,
  ...elementwiseOps,
  ...mathOps,
  ...contractionOps,
  ...combineOps,
  ...sortOps,
  ...randomOps,
  ...memoryOps,
  ...controlOps,
  ...debugOps,
  ...warpgroupOps,
] as const;

type Definition = (typeof opTable)[number];
export type OpName = Definition['name'];
type DefinitionOf<N extends OpName> = Extract<Definition, { readonly name: N }>;

/** An op with the operands and attributes of its definition. */
export interface OpOf<N extends OpName = OpName> extends GenericOp {
  readonly name: N;
  readonly operands: OperandsOf<DefinitionOf<N>['operands']> & GenericOp['operands'];
  readonly attrs: AttrsOf<DefinitionOf<N>['attrs']> & GenericOp['attrs'];
  readonly results: readonly Value[];
  readonly regions: readonly Region[];
  readonly loc: Loc;
}

/** What building an op of a name takes. */
export type OperandsFor<N extends OpName> = OperandsOf<DefinitionOf<N>['operands']>;
export type AttrsFor<N extends OpName> = AttrsOf<DefinitionOf<N>['attrs']>;

const byName: ReadonlyMap<string, OpDefinition> = new Map(opTable.map((d) => [d.name, d as unknown as OpDefinition]));

export const opNames: readonly OpName[] = opTable.map((d) => d.name);

export function tryDefinition(name: string): OpDefinition | undefined {
  return byName.get(name);
}

export function definitionOf(op: GenericOp): OpDefinition {
  const found = byName.get(op.name);
  if (!found) throw new InternalError(`no op '${op.name}' in the table`);
  return found;
}

/** Narrows an op to those of one name. */
export function isOp<N extends OpName>(op: GenericOp | undefined, name: N): op is OpOf<N> {
  return op?.name === name;
}

/** Without effects and regions: may be folded, merged, moved and dropped. */
export const isPure = (op: GenericOp): boolean => definitionOf(op).effects.length === 0 && op.regions.length === 0;

/** The array that an op writes to, itself and not in its regions. */
export function writtenRef(op: GenericOp): Value | undefined {
  const writes = definitionOf(op).effects.some((e) => e === 'writes' || e === 'atomic');
  return writes ? (op.operands as { ref?: Value }).ref : undefined;
}
