/** The program around a launcher: reads and writes `.npy` files, compares, times. */

import { invariant } from '../../diagnostics/diagnostic.js';
import type { DType } from '../../ir/dtypes.js';
import { parseExtent } from '../../ir/parser.js';
import type { LaunchPlan } from '../launch-plan.js';
import { render } from '../render.js';
import { type ArrayParam, cArguments } from './c-arguments.js';
import { asDType, cComment, cExtent, cFormat, cText, scalarType } from './c-text.js';

/** Exponent and mantissa of floats that C has no type for, and which special values they have, as main.c numbers them. */
const narrowFloats: Readonly<Record<string, readonly [exponent: number, mantissa: number, special: number]>> = {
  f16: [5, 10, 0],
  bf16: [8, 7, 0],
  f8e4m3fn: [4, 3, 1],
  f8e5m2: [5, 2, 0],
  f8e4m3fnuz: [4, 3, 2],
  f8e5m2fnuz: [5, 2, 2],
  f8e8m0fnu: [8, 0, 4],
  f4e2m1fn: [2, 1, 3],
};

/** NumPy's descriptor of what a dtype is stored as, without its byte order. */
function storedAs({ name, cls, bits, signed }: DType): string {
  if (cls === 'bool') return 'b1';
  if (cls === 'float') return { f16: 'f2', f32: 'f4', f64: 'f8', bf16: 'u2' }[name] ?? 'u1';
  return `${signed ? 'i' : 'u'}${Math.max(1, bits / 8)}`;
}

function dtypeView(dtype: DType): string {
  const kind =
    dtype.cls === 'bool' ? 'TW_BOOL' : dtype.cls === 'float' ? 'TW_FLOAT' : dtype.signed ? 'TW_INT' : 'TW_UINT';
  const [exponent, mantissa, special] = narrowFloats[dtype.name] ?? [0, 0, 0];
  const bits = dtype.cls === 'bool' ? 8 : dtype.bits;
  return `{ "${dtype.name}", ${kind}, ${bits}, ${exponent}, ${mantissa}, ${special}, "${storedAs(dtype)}" }`;
}

const roles: Readonly<Record<string, string>> = { in: '0', out: '1', inout: '2' };

/** The C source of the program, beside the launcher's. */
export function renderMain(plan: LaunchPlan, symbol: string): string {
  const given = cArguments(plan);
  const arrays = given.flatMap((a) =>
    a.kind === 'array' ? [plan.params.find((p): p is ArrayParam => p.kind === 'array' && p.name === a.name)!] : [],
  );
  const scalars = given.filter((a) => a.kind === 'scalar');
  const dims = plan.dims.map((d) => d.name);
  const scalarNames = new Map(scalars.map((s, i) => [s.name, `scalar_${i}`]));
  const argument = (name: string): string => {
    const dim = dims.indexOf(name);
    const found = dim >= 0 ? `dims[${dim}].value` : scalarNames.get(name);
    invariant(found !== undefined, `no argument '${name}' in the plan`);
    return `(int64_t)${found}`;
  };
  const dtypeOf = (name: string): DType => asDType(plan.params.find((p) => p.name === name)!.dtype);
  const scalarAt = (name: string): string => scalarNames.get(name)!;
  const flops = plan.cost?.flops;
  return render('launcher/main.c', {
    symbol,
    comment: cComment(plan.kernel),
    kernelJson: cFormat(JSON.stringify(plan.kernel).slice(1, -1)),
    header: `${symbol}.h`,
    scalars: scalars.map(({ name }) => ({
      name: cText(name),
      local: scalarAt(name),
      type: `${scalarType(dtypeOf(name))} `,
      dtype: dtypeView(dtypeOf(name)),
    })),
    arrays: arrays.map((p) => ({
      name: cText(p.name),
      type: dtypeView(asDType(p.dtype)),
      role: roles[p.role]!,
      input: p.role === 'out' ? '' : cText(p.aliasOf ?? p.name),
      rank: String(p.shape.length),
      dims: p.shape.map((extent) => String(dims.indexOf(nameOf(extent)))).join(', ') || '0',
    })),
    dimNames: dims.map(cText),
    shapes: arrays.flatMap((p, i) =>
      p.shape.map((extent, axis) => `arrays[${i}].shape[${axis}] = ${cExtent(parseExtent(extent), argument)};`),
    ),
    flops: flops === undefined ? '0' : `(double)${cExtent(parseExtent(flops), argument)}`,
    callArguments: [
      'stream',
      ...arrays.map((_, i) => `arrays[${i}].device`),
      ...scalars.map(({ name }) => scalarAt(name)),
      ...dims.map((_, i) => `dims[${i}].value`),
    ].join(', '),
    usage: given.map((a) => cText(`${a.name}  ${a.about}`)),
    rtol: '1e-5',
    atol: '1e-6',
  });
}

function nameOf(text: string): string {
  const extent = parseExtent(text);
  return typeof extent !== 'number' && extent.kind === 'argument' ? extent.name : '';
}
