/** Checks one op against its definition in the table: what the parser and the verifier share. */

import { irCodes } from '../diagnostics/codes/ir.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { acceptsAttr } from './attributes.js';
import type { OpDefinition, Report } from './define-op.js';
import { definitionOf } from './ops/index.js';
import { printType, sameType, type Type } from './types.js';
import type { GenericOp, Value } from './value.js';

const show = (types: readonly Type[]): string => types.map(printType).join(', ') || 'nothing';

/** Reports operands that are missing, unknown or of the wrong kind. */
export function checkOperands(
  { name, operands: specs }: OpDefinition,
  operands: GenericOp['operands'],
  report: Report,
): void {
  for (const group of Object.keys(operands))
    if (!Object.hasOwn(specs, group)) report(`'${name}' has no operand '${group}'`);
  for (const [group, { arity, constraint }] of Object.entries(specs)) {
    const given = operands[group];
    if (arity === 'one' && !given) report(`'${name}' needs operand '${group}'`);
    if (given && Array.isArray(given) !== (arity === 'variadic'))
      report(`'${name}' needs ${arity === 'variadic' ? 'a list of values' : 'one value'} for '${group}'`);
    for (const v of Array.isArray(given) ? (given as readonly Value[]) : given ? [given as Value] : [])
      if (!constraint.accepts(v.type))
        report(
          `'${name}' needs ${constraint.expects} for ${arity === 'variadic' ? 'each of ' : ''}'${group}', got ${printType(v.type)}`,
        );
  }
}

/**
 * Reports every way in which `op` breaks its definition; rules that build on a broken one are not checked further.
 *
 * @param loc where to report, if not at the op.
 */
export function checkOp(op: GenericOp, sink: (diagnostic: Diagnostic) => void, loc: Loc = op.loc): void {
  const definition = definitionOf(op);
  let failed = false;
  const fail = (diagnostic: Diagnostic): void => {
    failed = true;
    sink(diagnostic);
  };
  const report = (message: string): void => fail(irCodes.invalidOp({ message }, { loc }));
  for (const [name, spec] of Object.entries(definition.attrs)) {
    const given = op.attrs[name];
    if (given !== undefined && !acceptsAttr(spec, given))
      report(`attribute '${name}' of '${op.name}' must be ${spec.expects}`);
    if (given === undefined && !spec.optional) report(`'${op.name}' needs attribute '${name}'`);
  }
  for (const name of Object.keys(op.attrs))
    if (!Object.hasOwn(definition.attrs, name)) report(`'${op.name}' has no attribute '${name}'`);
  checkOperands(definition, op.operands, report);
  if (op.regions.length !== definition.regions.length)
    report(`'${op.name}' has ${definition.regions.length} regions, got ${op.regions.length}`);
  if (failed) return;
  const types = op.results.map((r) => r.type);
  if ('infer' in definition.results) {
    const inferred = definition.results.infer(op.operands as never, op.attrs as never, report);
    const fits = inferred && inferred.length === types.length && inferred.every((t, i) => sameType(t, types[i]!));
    if (inferred && !fits)
      fail(irCodes.resultTypes({ op: op.name, expected: show(inferred), got: show(types) }, { loc }));
  } else if (definition.results.stated !== 'any' && definition.results.stated !== types.length) {
    report(`'${op.name}' gives ${definition.results.stated} results, got ${types.length}`);
  }
  if (!failed) definition.verify?.(op as never, report);
  if (definition.combines) for (const inner of op.regions) for (const o of inner.ops) checkCombined(op, o, sink);
}

/** Back ends turn the body of a reduction or scan into a few instructions on registers; nothing else can stand there. */
function checkCombined(op: GenericOp, inner: GenericOp, sink: (diagnostic: Diagnostic) => void): void {
  const { elementwise, terminator } = definitionOf(inner);
  const scalars = inner.results.every((r) => r.type.kind === 'tile' && r.type.shape.length === 0);
  if (terminator || (elementwise && scalars)) return;
  const message = `the body of '${op.name}' holds elementwise ops on scalars only, got '${inner.name}'`;
  sink(irCodes.invalidOp({ message }, { loc: inner.loc }));
}
