/** Tiles of rank 1, straight between global memory and registers: any offset, any stride, any valid extent. */

import type { OpOf } from '../../ir/ops/index.js';
import { blockAxes } from '../../ir/ops/memory.js';
import type { Extent } from '../../ir/symbolic.js';
import type { TileType } from '../../ir/types.js';
import type { Value } from '../../ir/value.js';
import { unsupportedOp } from '../rule-table.js';
import { arrayName, arrayType } from './module.js';
import type { Program } from './program.js';
import { elementType, layoutCast, layouts, literal, vectorType } from './text.js';

const lanes = 128;

/** Refuses tiles that the 128 threads of a warpgroup cannot share. */
export function checkLine({ shape, dtype }: TileType): number {
  const [n = 1] = shape;
  if (shape.length !== 1)
    return unsupportedOp(`tiles of rank ${shape.length} outside of matrix pipelines, with mosaic_gpu`);
  if (n % lanes !== 0)
    return unsupportedOp(
      `a tile ${dtype.name}[${n}] with mosaic_gpu: ${lanes} threads share multiples of ${lanes} elements`,
    );
  return n;
}

/** The position of each element. */
export function emitIota(program: Program, n: number): string {
  const type = vectorType([n], 'i32');
  const plain = program.out.let(`"mosaic_gpu.broadcasted_iota"() <{dimension = 0 : i32}> : () -> ${type}`);
  return program.out.let(layoutCast(plain, type, layouts.line));
}

/** Which elements lie within an extent. */
export function emitMask(program: Program, n: number, extent: string): string {
  const type = vectorType([n], 'i32');
  const limit = program.out.let(`vector.broadcast ${extent} : i32 to ${type}`);
  return program.out.let(`arith.cmpi slt, ${emitIota(program, n)}, ${limit} : ${type}`);
}

interface Access {
  /** The array from the block's first element on. */
  readonly memory: string;
  readonly memoryType: string;
  /** Elements from there to each element of the tile, i32. */
  readonly offsets: string;
  readonly mask: string;
}

function access(program: Program, op: OpOf<'load'> | OpOf<'store'>, n: number): Access {
  const { out } = program;
  const { ref, index = [], valid = [] } = op.operands;
  if (op.operands.mask) return unsupportedOp(`'${op.name}' with a mask, with mosaic_gpu`);
  const param = program.array(ref);
  const { shape, dtype } = param.value.type;
  const [axis = 0] = blockAxes(shape.length, op.attrs.axes);
  // 64 bits: an array may have more elements than an i32 counts.
  const wide = (v: string): string => out.let(`arith.index_cast ${v} : i32 to index`);
  const strideAfter = (from: number): string =>
    shape.slice(from + 1).reduce(
      (product: string, extent: Extent) => {
        return out.let(`arith.muli ${product}, ${wide(program.extent(extent))} : index`);
      },
      out.int(1, 'index'),
    );
  let base = out.int(0, 'index');
  index.forEach((v: Value, i: number) => {
    const part = out.let(`arith.muli ${wide(program.scalar(v))}, ${strideAfter(i)} : index`);
    base = out.let(`arith.addi ${base}, ${part} : index`);
  });
  const memoryType = `memref<?x${elementType(dtype)}, strided<[1], offset: ?>>`;
  const all = out.int(1 << 30, 'index');
  const memory = out.let(
    `memref.reinterpret_cast ${arrayName(param.name)} to offset: [${base}], sizes: [${all}], strides: [1] : ${arrayType(param)} to ${memoryType}`,
  );
  const type = vectorType([n], 'i32');
  let offsets = emitIota(program, n);
  if (axis !== shape.length - 1) {
    const stride = out.let(`arith.index_cast ${strideAfter(axis)} : index to i32`);
    offsets = out.let(`arith.muli ${offsets}, ${out.let(`vector.broadcast ${stride} : i32 to ${type}`)} : ${type}`);
  }
  const [limit] = valid;
  const bools = vectorType([n], 'i1');
  const mask =
    limit === undefined
      ? out.let(layoutCast(out.let(`arith.constant dense<true> : ${bools}`), bools, layouts.line))
      : emitMask(program, n, program.scalar(limit));
  return { memory, memoryType, offsets, mask };
}

/** Code for each register of some vectors; `lane` gives the lines for one element, and its result where there is one. */
function primitive(
  program: Program,
  op: OpOf<'load'> | OpOf<'store'>,
  n: number,
  inputs: readonly (readonly [string, string])[],
  { memory, memoryType }: Access,
  result: string | undefined,
  lane: (elements: readonly string[], memory: string, add: (text: string) => string) => string | undefined,
): string | undefined {
  const { out } = program;
  const registers = n / lanes;
  const body = out.nested();
  const types = inputs.map(([, element]) => vectorType([n], element));
  const args = [...inputs.map(() => body.fresh()), body.fresh()];
  const held = inputs.map(([, element], i) => {
    const name = body.fresh();
    const register = vectorType([1], element);
    body.add(
      `${name}:${registers} = builtin.unrealized_conversion_cast ${args[i]} : ${types[i]} to ${Array(registers).fill(register).join(', ')}`,
    );
    return name;
  });
  const made: string[] = [];
  for (let r = 0; r < registers; r++) {
    const elements = inputs.map(([, element], i) =>
      body.let(
        `vector.extract ${held[i]}${registers === 1 ? '' : `#${r}`}[0] : ${element} from ${vectorType([1], element)}`,
      ),
    );
    const value = lane(elements, args.at(-1)!, (text) => {
      const name = body.fresh();
      body.lines.push(...text.replaceAll('@', name).split('\n'));
      return name;
    });
    if (value !== undefined) made.push(body.let(`vector.from_elements ${value} : ${vectorType([1], result!)}`));
  }
  const whole = result === undefined ? undefined : vectorType([n], result);
  if (whole !== undefined) {
    const vector = body.fresh();
    body.add(
      `${vector} = builtin.unrealized_conversion_cast ${made.join(', ')} : ${made.map(() => vectorType([1], result!)).join(', ')} to ${whole} ` +
        `{layout = ${layouts.line}, registers_shape = [${registers} : i64, 1 : i64, 1 : i64, 1 : i64]}`,
    );
    body.add(`mosaic_gpu.return ${vector} : ${whole}`);
  } else body.add('mosaic_gpu.return');
  const name = whole === undefined ? undefined : out.fresh();
  const list = inputs.map(() => layouts.line).join(', ');
  out.add(
    `${name === undefined ? '' : `${name} = `}"mosaic_gpu.custom_primitive"(${[...inputs.map(([v]) => v), memory].join(', ')}) ` +
      `<{in_layouts = [${list}], in_transforms = [], out_layouts = [${whole === undefined ? '' : layouts.line}]}> ({`,
  );
  out.add(`^bb0(${args.map((a, i) => `${a}: ${types[i] ?? memoryType}`).join(', ')}):`);
  out.lines.push(...body.lines.map((line) => `  ${line}`));
  out.add(`}) : (${[...types, memoryType].join(', ')}) -> (${whole ?? ''})`, op.loc);
  return name;
}

/** Loads a tile; elements that are not valid are zeros. */
export function emitLineLoad(program: Program, op: OpOf<'load'>): string {
  const type = op.results[0]!.type as TileType;
  const n = checkLine(type);
  const element = elementType(type.dtype);
  const from = access(program, op, n);
  const inputs = [
    [from.offsets, 'i32'],
    [from.mask, 'i1'],
  ] as const;
  return primitive(program, op, n, inputs, from, element, ([offset, mask], memory, add) => {
    const at = add(`@ = arith.index_cast ${offset} : i32 to index`);
    const zero = add(`@ = arith.constant ${literal(0, type.dtype)}${element === 'i1' ? '' : ` : ${element}`}`);
    return add(
      [
        `@ = scf.if ${mask} -> (${element}) {`,
        `  @_loaded = memref.load ${memory}[${at}] : ${from.memoryType}`,
        `  scf.yield @_loaded : ${element}`,
        '} else {',
        `  scf.yield ${zero} : ${element}`,
        '}',
      ].join('\n'),
    );
  })!;
}

/** Stores the valid elements of a tile. */
export function emitLineStore(program: Program, op: OpOf<'store'>, vector: string): void {
  const type = op.operands.value.type;
  const n = checkLine(type);
  const element = elementType(type.dtype);
  const to = access(program, op, n);
  const whole = vectorType([n], element);
  const value = program.out.let(layoutCast(vector, whole, layouts.line));
  const inputs = [
    [to.offsets, 'i32'],
    [to.mask, 'i1'],
    [value, element],
  ] as const;
  primitive(program, op, n, inputs, to, undefined, ([offset, mask, x], memory, add) => {
    const at = add(`@ = arith.index_cast ${offset} : i32 to index`);
    add([`scf.if ${mask} {`, `  memref.store ${x}, ${memory}[${at}] : ${to.memoryType}`, '}'].join('\n'));
    return undefined;
  });
}

const reductions: Readonly<Record<string, readonly [float: string, int: string]>> = {
  sum: ['add', 'add'],
  max: ['maximumf', 'maxsi'],
  min: ['minimumf', 'minsi'],
};

/** Reduces a whole tile to a scalar. */
export function emitReduce(program: Program, op: OpOf<'reduce'>, vector: string): string {
  const type = op.operands.input.type;
  const n = checkLine(type);
  const { dtype } = type;
  const float = dtype.cls === 'float';
  const kind = reductions[op.attrs.kind]?.[float ? 0 : 1];
  const result = op.results[0]!.type as TileType;
  if (kind === undefined || (!float && (dtype.bits !== 32 || !dtype.signed)) || result.dtype !== dtype)
    return unsupportedOp(`'reduce' (${op.attrs.kind}) of ${dtype.name} with mosaic_gpu`);
  const element = elementType(dtype);
  const { out } = program;
  // Sums of narrow floats accumulate in f32 and round once.
  const widen = float && dtype.bits < 32 && op.attrs.kind === 'sum';
  const [held, heldElement] = widen
    ? [out.let(`arith.extf ${vector} : ${vectorType([n], element)} to ${vectorType([n], 'f32')}`), 'f32']
    : [vector, element];
  const scratch = program.reserve('scratch of a reduction', 16, 16, op.loc);
  const attributes = `{offset = ${scratch} : i32, scratch_size = 16 : i32}`;
  const reduced = out.let(
    `vector.reduction <${kind}>, ${held} ${attributes} : ${vectorType([n], heldElement)} into ${heldElement}`,
    op.loc,
  );
  return widen ? out.let(`arith.truncf ${reduced} : f32 to ${element}`) : reduced;
}
