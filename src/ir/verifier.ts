/**
 * What makes a kernel valid. Everything wrong is collected: operand kinds, attributes, result types and each op's own
 * rules (by the op table), scoping, names of dims and axes, and valid extents that do not fit.
 */

import { irCodes } from '../diagnostics/codes/ir.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { RaggedAnalysis } from './analyses/ragged.js';
import { checkOp } from './check-op.js';
import type { Kernel, Launch } from './kernel.js';
import { isOp } from './ops/index.js';
import { argumentsOf, type Extent } from './symbolic.js';
import { printType } from './types.js';
import type { Region, Value } from './value.js';
import { operandsOf } from './walk.js';

export function verifyKernel(kernel: Kernel): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const names = new Set<string>();
  for (const { name, loc } of [...kernel.dims, ...kernel.params]) {
    if (names.has(name)) diagnostics.push(irCodes.redefinedName({ what: 'param or dim', name: `'${name}'` }, { loc }));
    names.add(name);
  }
  const integers = new Set([
    ...kernel.dims.map((d) => d.name),
    ...kernel.params.filter((p) => p.kind === 'scalar' && p.value.type.dtype.cls === 'int').map((p) => p.name),
  ]);
  const checkExtent = (extent: Extent, loc: Launch['loc']): void => {
    for (const name of argumentsOf(extent))
      if (!integers.has(name)) diagnostics.push(irCodes.undefinedName({ what: 'dim', name: `'${name}'` }, { loc }));
  };
  for (const param of kernel.params)
    if (param.kind === 'array') param.value.type.shape.forEach((x) => checkExtent(x, param.loc));
  for (const launch of kernel.launches) {
    launch.grid.forEach((axis) => checkExtent(axis.extent, launch.loc));
    verifyLaunch(kernel, launch, diagnostics);
  }
  return diagnostics;
}

function verifyLaunch(kernel: Kernel, launch: Launch, diagnostics: Diagnostic[]): void {
  const before = diagnostics.length;
  const axes = new Set(launch.grid.map((a) => a.name));
  const dims = new Set(kernel.dims.map((d) => d.name));
  const inScope = new Set<Value>(kernel.params.map((p) => p.value));
  const visit = (region: Region): void => {
    const defined: Value[] = [...region.args];
    for (const arg of region.args) inScope.add(arg);
    for (const op of region.ops) {
      for (const v of operandsOf(op))
        if (!inScope.has(v))
          diagnostics.push(irCodes.notInScope({ op: op.name, type: printType(v.type) }, { loc: op.loc }));
      if (isOp(op, 'dim') && !dims.has(op.attrs.name))
        diagnostics.push(irCodes.undefinedName({ what: 'dim', name: `'${op.attrs.name}'` }, { loc: op.loc }));
      if ((isOp(op, 'program_id') || isOp(op, 'num_programs')) && !axes.has(op.attrs.axis))
        diagnostics.push(irCodes.undefinedName({ what: 'grid axis', name: `'${op.attrs.axis}'` }, { loc: op.loc }));
      checkOp(op, (diagnostic) => diagnostics.push(diagnostic));
      op.regions.forEach(visit);
      for (const r of op.results) {
        inScope.add(r);
        defined.push(r);
      }
    }
    for (const v of defined) inScope.delete(v);
  };
  visit(launch.body);
  // Extents of ops that are not well formed mean nothing.
  if (diagnostics.length === before) diagnostics.push(...new RaggedAnalysis(launch).diagnostics);
}
