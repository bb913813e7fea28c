/** How each op of the table becomes Triton IR. */

import { InternalError } from '../../diagnostics/diagnostic.js';
import type { TileType } from '../../ir/types.js';
import type { GenericOp } from '../../ir/value.js';
import { operandsOf } from '../../ir/walk.js';
import { mlirString } from '../mlir.js';
import { noWarpgroups, type RuleTable } from '../rule-table.js';
import { type ElementRule, elementRules } from './arithmetic.js';
import { lowerCombined, lowerDot, lowerReduce, lowerScan } from './contraction.js';
import { lowerAtomic, lowerCas, lowerGather, lowerLoad, lowerScatter, lowerStore } from './memory.js';
import type { ProgramLowering } from './program.js';
import { lowerPhilox } from './random.js';
import {
  lowerBroadcast,
  lowerConcatenate,
  lowerConstant,
  lowerExtentMask,
  lowerFlip,
  lowerInsert,
  lowerIota,
  lowerJoin,
  lowerReshape,
  lowerSlice,
  lowerSplit,
  lowerTakeAlong,
  lowerTranspose,
} from './shape.js';

/** Elementwise: the rule of the op, on what its operands have become. */
function element(l: ProgramLowering, op: GenericOp): void {
  const { e, target } = l;
  if (l.folded.selects.has(op)) return l.set(op.results[0]!, l.get((op.operands as { on_true: never }).on_true));
  const operands = operandsOf(op);
  // What a comparison or a conversion is about is its operand's dtype; a selection's is its result's.
  const { dtype } = (op.name === 'select' ? op.results[0]! : operands[0]!).type as TileType;
  const rule = (elementRules as Record<string, ElementRule>)[op.name]!;
  l.set(op.results[0]!, rule({ e, target, dtype, op }, ...operands.map((v) => l.get(v))));
}

const elementwise = Object.fromEntries(Object.keys(elementRules).map((name) => [name, element])) as {
  [N in keyof typeof elementRules]: typeof element;
};

const ends = (_: ProgramLowering, op: GenericOp): never => {
  throw new InternalError(`'${op.name}' ends a region`);
};

export const tritonRules: RuleTable<ProgramLowering> = {
  ...elementwise,
  constant: lowerConstant,
  dim: (l, op) => l.set(op.results[0]!, l.dim(op.attrs.name)),
  program_id: (l, op) => l.set(op.results[0]!, l.programId(op.attrs.axis)),
  num_programs: (l, op) => l.set(op.results[0]!, l.extent(l.launch.grid.find((g) => g.name === op.attrs.axis)!.extent)),
  iota: lowerIota,
  extent_mask: lowerExtentMask,
  broadcast: lowerBroadcast,
  reshape: lowerReshape,
  transpose: lowerTranspose,
  pad: (_, op) => {
    throw new InternalError(`'${op.name}' is made explicit by legalize-ragged`);
  },
  join: lowerJoin,
  split: lowerSplit,
  concatenate: lowerConcatenate,
  slice: lowerSlice,
  insert: lowerInsert,
  flip: lowerFlip,
  take_along: lowerTakeAlong,
  reduce: lowerReduce,
  scan: lowerScan,
  reduce_with: lowerCombined,
  scan_with: lowerCombined,
  sort: (_, op) => {
    throw new InternalError(`'${op.name}' is made of simpler ops by expand`);
  },
  dot: lowerDot,
  philox: lowerPhilox,
  load: lowerLoad,
  store: lowerStore,
  gather: lowerGather,
  scatter: lowerScatter,
  atomic_rmw: lowerAtomic,
  atomic_cas: lowerCas,
  debug_print: (l, op) => {
    const values = (op.operands.values ?? []).map((v) => l.get(v));
    const signed = values.map(() => '1').join(', ');
    const properties = { prefix: mlirString(` ${op.attrs.format} `), isSigned: `array<i32${signed && `: ${signed}`}>` };
    l.e.ops('tt.print', { operands: values, properties });
  },
  assert: (l, op) => {
    const { condition, mask } = op.operands;
    const holds = mask ? l.e.binary('ori', l.get(condition), l.e.not(l.get(mask))) : l.get(condition);
    l.e.ops('tt.assert', { operands: [holds], properties: { message: mlirString(op.attrs.message) } });
  },
  assume: (l, op) => {
    l.e.ops('llvm.intr.assume', { operands: [l.get(op.operands.condition)] });
  },
  multiple_of: (l, op) => l.set(op.results[0]!, l.get(op.operands.input)),
  for: (l, op) => l.for(op),
  while: (l, op) => l.while(op),
  if: (l, op) => l.if(op),
  yield: ends,
  condition: ends,
  ...noWarpgroups('triton'),
};
