/** MLIR as a typed tree: what lowering rules build and the templates print in generic form. */

import { type Loc, unknownLoc } from '../diagnostics/location.js';

/** An SSA value; its name is given when the module is printed. */
export interface MlirValue {
  readonly type: string;
}

export interface MlirRegion {
  readonly args: readonly MlirValue[];
  readonly ops: readonly MlirOp[];
}

export interface MlirOp {
  readonly name: string;
  readonly operands: readonly MlirValue[];
  readonly results: readonly MlirValue[];
  /** `key = attribute` pairs, attributes in MLIR syntax. */
  readonly properties: Readonly<Record<string, string>>;
  /** Discardable attributes: what another dialect than the op's own gives meaning to. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly regions: readonly MlirRegion[];
  readonly loc: Loc;
}

export interface MlirOpParts {
  readonly operands?: readonly MlirValue[];
  readonly types?: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly regions?: readonly MlirRegion[];
}

export function mlirOp(name: string, parts: MlirOpParts, loc: Loc = unknownLoc): MlirOp {
  const { operands = [], types = [], properties = {}, attributes = {}, regions = [] } = parts;
  return { name, operands, results: types.map((type) => ({ type })), properties, attributes, regions, loc };
}

/** A string attribute. MLIR escapes by two hex digits, not as JSON does. */
export function mlirString(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  const bytes = new TextEncoder().encode(text);
  let quoted = '';
  for (const b of bytes) {
    const plain = b >= 0x20 && b < 0x7f && b !== 0x22 && b !== 0x5c;
    quoted += plain ? String.fromCharCode(b) : `\\${b.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return `"${quoted}"`;
}

/** `loc(…)` text of a location. */
export function mlirLoc(loc: Loc): string {
  switch (loc.kind) {
    case 'file':
      return `${mlirString(loc.file)}:${loc.line}:${loc.col}`;
    case 'call':
      return `callsite(${mlirLoc(loc.callee)} at ${mlirLoc(loc.caller)})`;
    case 'fused':
      return `fused<${mlirString(loc.pass)}>[${loc.from.map(mlirLoc).join(', ')}]`;
    case 'unknown':
      return 'unknown';
  }
}
