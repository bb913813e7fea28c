import { InternalError } from '../../diagnostics/diagnostic.js';
import type { GenericOp } from '../../ir/value.js';
import type { RuleTable } from '../rule-table.js';
import { lowerConcatenate, lowerInsert, lowerJoin, lowerSlice, lowerSplit, lowerTakeAlong } from './arrange.js';
import { lowerCombine } from './combine.js';
import { lowerFor, lowerIf, lowerWhile } from './control.js';
import { lowerAssert, lowerPrint } from './debug.js';
import type { RegionLowering } from './program.js';
import { lowerSort } from './sort.js';

const virtual = (lowering: RegionLowering, op: GenericOp): void => lowering.virtual(op);
/** Ops whose results are scalars always: they never get to the rule of a tile. */
const scalarOnly = (_: RegionLowering, op: GenericOp): never => {
  throw new InternalError(`'${op.name}' gives a scalar`);
};
const ends = scalarOnly;

/** How each op of the table becomes loops on the CPU. */
export const cpuRules: RuleTable<RegionLowering> = {
  constant: virtual,
  iota: virtual,
  extent_mask: virtual,
  select: virtual,
  cast: virtual,
  dim: scalarOnly,
  program_id: scalarOnly,
  num_programs: scalarOnly,
  broadcast: (l, op) => l.broadcast(op),
  reshape: (l, op) => l.reshape(op),
  transpose: (l, op) => l.transpose(op),
  pad: (_, op) => {
    throw new InternalError(`'${op.name}' is made explicit by legalize-ragged`);
  },
  join: lowerJoin,
  split: lowerSplit,
  concatenate: lowerConcatenate,
  slice: lowerSlice,
  insert: lowerInsert,
  flip: virtual,
  take_along: lowerTakeAlong,
  neg: virtual,
  abs: virtual,
  not: virtual,
  exp: virtual,
  exp2: virtual,
  log: virtual,
  log2: virtual,
  sqrt: virtual,
  rsqrt: virtual,
  tanh: virtual,
  floor: virtual,
  ceil: virtual,
  round: virtual,
  add: virtual,
  sub: virtual,
  mul: virtual,
  div: virtual,
  rem: virtual,
  floor_div: virtual,
  mod: virtual,
  cdiv: virtual,
  max: virtual,
  min: virtual,
  max_num: virtual,
  min_num: virtual,
  and: virtual,
  or: virtual,
  xor: virtual,
  shl: virtual,
  shr: virtual,
  eq: virtual,
  ne: virtual,
  lt: virtual,
  le: virtual,
  gt: virtual,
  ge: virtual,
  philox: virtual,
  sort: lowerSort,
  reduce: (l, op) => l.reduce(op),
  scan: lowerCombine,
  reduce_with: lowerCombine,
  scan_with: lowerCombine,
  dot: (l, op) => l.dot(op),
  load: (l, op) => l.load(op),
  store: (l, op) => l.store(op),
  gather: (l, op) => l.gather(op),
  scatter: (l, op) => l.scatter(op),
  atomic_rmw: (l, op) => l.atomic(op),
  atomic_cas: (l, op) => l.atomic(op),
  debug_print: lowerPrint,
  assert: lowerAssert,
  assume: () => {},
  multiple_of: scalarOnly,
  for: lowerFor,
  while: lowerWhile,
  if: lowerIf,
  yield: ends,
  condition: ends,
};
