/** Prints and checks by the C library: `printf` writes one line at once, a failed check says where and aborts. */

import { fileLoc, primaryLoc } from '../../diagnostics/location.js';
import { type DType, isFloat } from '../../ir/dtypes.js';
import { printedDigits } from '../../ir/interpreter/element-text.js';
import { formatPieces } from '../../ir/ops/debug.js';
import type { OpOf } from '../../ir/ops/index.js';
import type { Value } from '../../ir/value.js';
import { type MlirValue, mlirOp, mlirString } from '../mlir.js';
import { callC, hidden } from './c-library.js';
import { type Emitter, type Lanes, pointer } from './emitter.js';
import type { RegionLowering } from './program.js';
import { typeOf } from './tiles.js';

/** Address of a text, ended by a zero. */
function textAddress(e: Emitter, text: string): MlirValue {
  const bytes = new TextEncoder().encode(text);
  const value = mlirString(`${text}\0`);
  const names = [...e.symbols].filter(([, op]) => op.name === 'llvm.mlir.global');
  const known = names.find(([, op]) => op.properties.value === value)?.[0];
  const name = known ?? `tilewright.text${names.length}`;
  if (!known)
    e.symbols.set(
      name,
      mlirOp('llvm.mlir.global', {
        properties: {
          sym_name: mlirString(name),
          global_type: `!llvm.array<${bytes.length + 1} x i8>`,
          linkage: '#llvm.linkage<private>',
          constant: 'unit',
          value,
          addr_space: '0 : i32',
          ...hidden,
        },
        regions: [{ args: [], ops: [] }],
      }),
    );
  return e.op('llvm.mlir.addressof', { types: [pointer], properties: { global_name: `@${mlirString(name)}` } });
}

const percent = (text: string): string => text.replaceAll('%', '%%');

/** How printf takes an element, and the element as it is passed. */
function printed(e: Emitter, dtype: DType, x: Lanes): { spec: string; value: MlirValue } {
  if (dtype.cls === 'bool') {
    const [yes, no] = ['true', 'false'].map((text) => textAddress(e, text));
    const value = e.op('arith.select', { operands: [x.value, yes!, no!], types: [pointer] });
    return { spec: '%s', value };
  }
  if (isFloat(dtype)) {
    const wide = e.convert('arith.extf', x, 'f64');
    // The sign of a NaN says nothing, but printf shows it.
    const nan = e.compareFloat('uno', wide, wide);
    const value = e.select(nan, e.unary('math.absf', wide), wide).value;
    return { spec: `%.${printedDigits(dtype)}g`, value };
  }
  const value = e.convert(dtype.signed ? 'arith.extsi' : 'arith.extui', x, 'i64').value;
  return { spec: dtype.signed ? '%lld' : '%llu', value };
}

/** The program and the place of an element, as the interpreter writes them. */
function placeOf(
  lowering: RegionLowering,
  index: readonly MlirValue[],
): { text: string; values: readonly MlirValue[] } {
  const { e } = lowering.tiles;
  // The last axis of a grid is taken apart first.
  const ids = [...lowering.programIds].reverse();
  const program = `(${ids.map(([name]) => `${percent(name)}=%lld`).join(', ')})`;
  const place = index.length === 0 ? '' : `[${index.map(() => '%lld').join(', ')}]`;
  return { text: program + place, values: [...ids.map(([, id]) => e.toIndex(id)), ...index] };
}

/** Visits the elements that a mask lets through, one by one. */
function visit(
  lowering: RegionLowering,
  shape: readonly number[],
  mask: Value | undefined,
  each: (index: readonly MlirValue[]) => void,
): void {
  const { tiles } = lowering;
  const { e } = tiles;
  tiles.loops(shape, (index) => {
    if (!mask) return each(index);
    e.if(tiles.lanesAt(mask, index, 1).value, [], () => {
      each(index);
      return [];
    });
  });
}

export function lowerPrint(lowering: RegionLowering, op: OpOf<'debug_print'>): void {
  const { tiles } = lowering;
  const { e } = tiles;
  const { values = [], mask } = op.operands;
  const [first, ...rest] = formatPieces(op.attrs.format).map((piece) => percent(piece.replaceAll('\0', '')));
  const shape = values[0] ? typeOf(values[0]).shape : [];
  lowering.visitAlone(op, () =>
    visit(lowering, shape, mask, (index) => {
      const place = placeOf(lowering, index);
      const parts = values.map((v) => printed(e, typeOf(v).dtype, tiles.lanesAt(v, index, 1)));
      const text = `${place.text} ${first}${parts.map((p, i) => p.spec + rest[i]!).join('')}\n`;
      callC(e, 'printf', `i32 (${pointer}, ...)`, [
        textAddress(e, text),
        ...place.values,
        ...parts.map((p) => p.value),
      ]);
    }),
  );
}

/** A check that fails prints `assert ["file", line, column, "message"] (program)[place]`, which the runner reads. */
export function lowerAssert(lowering: RegionLowering, op: OpOf<'assert'>): void {
  const { tiles } = lowering;
  const { e } = tiles;
  const { condition, mask } = op.operands;
  const { file, line, col } = primaryLoc(op.loc) ?? fileLoc('', 0, 0);
  const what = JSON.stringify([file, line, col, op.attrs.message]);
  lowering.visitAlone(op, () =>
    visit(lowering, typeOf(condition).shape, mask, (index) => {
      const fails = e.binary('xori', tiles.lanesAt(condition, index, 1), e.int(1, 'i1'));
      e.if(fails.value, [], () => {
        const place = placeOf(lowering, index);
        const text = textAddress(e, `assert ${percent(what)} ${place.text}\n`);
        callC(e, 'printf', `i32 (${pointer}, ...)`, [text, ...place.values]);
        callC(e, 'fflush', `i32 (${pointer})`, [e.op('llvm.mlir.zero', { types: [pointer] })]);
        callC(e, 'abort', 'void ()', []);
        return [];
      });
    }),
  );
}
