/** Executes Triton IR program by program, with bounds checks: what our lowering says, without a compiler or a GPU. */

import { binaryRules, compareFloat, compareInt, convert, libraryFunction } from './elementwise.js';
import { type Block, type Func, type Op, parseTtir } from './parse.js';
import { type Buffer, count, isFloat, parseType, reinterpret, settle, type Tensor, tensor } from './values.js';

/** Stands for what nothing has given a value. */
const poison = (element: string): number | bigint =>
  isFloat(element) ? Number.NaN : element === 'i64' ? 0x5eadbeefn : 0x5eadbee;

const strides = (shape: readonly number[]): number[] => shape.map((_, i) => count(shape.slice(i + 1)));

/** Place of an element on each axis. */
const placesOf = (shape: readonly number[], i: number, steps = strides(shape)): number[] =>
  steps.map((s, axis) => Math.floor(i / s) % shape[axis]!);
const flat = (shape: readonly number[], places: readonly number[], steps = strides(shape)): number => {
  let sum = 0;
  for (let axis = 0; axis < places.length; axis++) sum += steps[axis]! * places[axis]!;
  return sum;
};

class Program {
  private readonly values = new Map<string, Tensor>();

  constructor(
    func: Func,
    args: readonly Tensor[],
    private readonly ids: readonly number[],
  ) {
    func.args.forEach((a, i) => {
      this.values.set(a.name, args[i]!);
    });
    this.block(func.body);
  }

  private get(name: string): Tensor {
    const found = this.values.get(name);
    if (!found) throw new Error(`${name} has no value`);
    return found;
  }

  /** Runs the ops of a block; gives what its last one hands over. */
  private block(block: Block, args: readonly Tensor[] = []): readonly Tensor[] {
    block.args.forEach((a, i) => {
      this.values.set(a, args[i]!);
    });
    for (const op of block.ops) {
      if (/(^scf\.yield|\.return|^tt\.return|^scf\.condition)$/.test(op.name))
        return op.operands.map((v) => this.get(v));
      const results = this.op(op);
      op.results.forEach((r, i) => {
        this.values.set(r, results[i]!);
      });
    }
    return [];
  }

  private op(op: Op): readonly Tensor[] {
    const args = ['scf.if', 'tt.reduce', 'tt.scan', 'scf.for', 'scf.while'].includes(op.name)
      ? op.operands.map((v) => this.get(v))
      : op.operands.map((v) => this.get(v));
    const [x] = args;
    const type = op.types.length ? parseType(op.types.at(-1)!) : { element: '', shape: [] };
    const rule = binaryRules[op.name];
    if (rule) {
      const [a, b] = args.map((v) => v.data);
      if (args.length === 2) return [tensor(type.element, type.shape, (i) => rule(type.element, a![i]!, b![i]!))];
      return [tensor(type.element, type.shape, (i) => rule(type.element, ...args.map((v) => v.data[i]!)))];
    }
    switch (op.name) {
      case 'arith.constant':
        return [this.constant(op, type)];
      case 'arith.cmpf':
      case 'arith.cmpi': {
        const predicate = /^(\w+),/.exec(op.text)![1]!;
        const holds = (i: number): boolean =>
          op.name === 'arith.cmpf'
            ? compareFloat(predicate, Number(x!.data[i]), Number(args[1]!.data[i]))
            : compareInt(predicate, x!.element, x!.data[i]!, args[1]!.data[i]!);
        return [tensor('i1', x!.shape, (i) => Number(holds(i)))];
      }
      case 'arith.select': {
        const [c, a, b] = args;
        const one = c!.shape.length === 0;
        const data = a!.data.map((v, i) => (c!.data[one ? 0 : i] ? v : b!.data[i]!));
        return [{ ...a!, data }];
      }
      case 'tt.bitcast':
        if (type.element.startsWith('!tt.ptr')) return [{ ...x!, element: type.element }];
        return [tensor(type.element, type.shape, (i) => reinterpret(x!.element, type.element, x!.data[i]!))];
      case 'tt.fp_to_fp':
        return [tensor(type.element, type.shape, (i) => x!.data[i]!)];
      case 'tt.extern_elementwise': {
        const f = libraryFunction(/symbol = "(\w+)"/.exec(op.text)![1]!);
        return [tensor(type.element, type.shape, (i) => f(...args.map((a) => Number(a.data[i]))))];
      }
      case 'tt.get_program_id':
        return [tensor('i32', [], () => this.ids['xyz'.indexOf(op.text[0]!)]!)];
      case 'tt.make_range':
        return [tensor('i32', type.shape, (i) => i)];
      case 'tt.splat':
        return [{ ...x!, shape: type.shape, data: Array.from({ length: count(type.shape) }, () => x!.data[0]!) }];
      case 'tt.unsplat':
        return [{ ...x!, shape: [] }];
      case 'tt.expand_dims':
      case 'tt.reshape':
        return [{ ...x!, shape: type.shape }];
      case 'tt.broadcast':
        return [this.moved(x!, type.shape, (places) => places.map((p, axis) => (x!.shape[axis] === 1 ? 0 : p)))];
      case 'tt.trans': {
        const order = /array<i32: (.*?)>/.exec(op.text)![1]!.split(', ').map(Number);
        return [this.moved(x!, type.shape, (places) => x!.shape.map((_, axis) => places[order.indexOf(axis)]!))];
      }
      case 'tt.gather': {
        const axis = Number(/axis = (\d+)/.exec(op.text)![1]);
        const index = args[1]!;
        return [this.moved(x!, index.shape, (places, i) => places.with(axis, Number(index.data[i])))];
      }
      case 'tt.join': {
        const data = x!.data.flatMap((v, i) => [v, args[1]!.data[i]!]);
        return [{ ...x!, shape: [...x!.shape, 2], data }];
      }
      case 'tt.split':
        return [0, 1].map((half) => ({
          ...x!,
          shape: x!.shape.slice(0, -1),
          data: x!.data.filter((_, i) => i % 2 === half),
        }));
      case 'tt.addptr':
        return [{ ...x!, data: x!.data.map((p, i) => Number(p) + Number(args[1]!.data[i])) }];
      case 'tt.load':
        return [this.load(args)];
      case 'tt.store':
        this.store(args);
        return [];
      case 'tt.atomic_rmw':
        return [this.atomic(/^(\w+),/.exec(op.text)![1]!, args)];
      case 'tt.atomic_cas':
        return [this.swap(args)];
      case 'tt.dot':
        return [this.dot(args)];
      case 'tt.reduce':
      case 'tt.scan':
        return this.combine(op, args);
      case 'scf.for':
        return this.for(op, args);
      case 'scf.if':
        return this.block(op.regions[Number(x!.data[0]) ? 0 : 1] ?? { args: [], ops: [] });
      case 'scf.while':
        return this.while(op, args);
      case 'tt.assert':
        if (x!.data.some((v) => !v)) throw new Error(`assertion failed: ${op.text}`);
        return [];
      case 'tt.print':
      case 'llvm.intr.assume':
        return [];
      default:
        if (/^arith\.(ext|trunc|[su]itofp|fpto)/.test(op.name))
          return [tensor(type.element, type.shape, (i) => convert(op.name, x!.element, type.element, x!.data[i]!))];
        throw new Error(`no rule for ${op.name}`);
    }
  }

  private constant(op: Op, type: { element: string; shape: readonly number[] }): Tensor {
    const [, dense, plain] = /^(?:dense<(.*?)>|(\S+))/.exec(op.text)!;
    const text = dense ?? plain!;
    // A bool stands without its type.
    const element = type.element === '' ? 'i1' : type.element;
    if (text === 'true' || text === 'false') return tensor('i1', type.shape, () => Number(text === 'true'));
    if (!isFloat(element)) return tensor(element, type.shape, () => BigInt(text));
    if (!text.startsWith('0x')) return tensor(element, type.shape, () => Number(text));
    const width = element === 'bf16' ? 16 : Number(/\d+/.exec(element)![0]);
    const value = reinterpret(`i${width}`, element, BigInt.asIntN(width, BigInt(text)));
    return tensor(element, type.shape, () => value);
  }

  private moved(
    x: Tensor,
    shape: readonly number[],
    from: (places: readonly number[], i: number) => readonly number[],
  ): Tensor {
    const [to, own] = [strides(shape), strides(x.shape)];
    const data = new Array<number | bigint>(count(shape));
    for (let i = 0; i < data.length; i++) data[i] = x.data[flat(x.shape, from(placesOf(shape, i, to), i), own)]!;
    return { ...x, shape, data };
  }

  private place(pointers: Tensor, i: number): number {
    const at = Number(pointers.data[i]);
    const { buffer } = pointers;
    if (at < 0 || at >= buffer!.data.length)
      throw new Error(`'${buffer!.name}' has ${buffer!.data.length} elements, got ${at}`);
    return at;
  }

  private load([pointers, mask, other]: readonly Tensor[]): Tensor {
    const element = /<(.*)>/.exec(pointers!.element)![1]!;
    const read = (i: number): number | bigint => {
      if (mask && !mask.data[i]) return other ? other.data[i]! : poison(element);
      return pointers!.buffer!.data[this.place(pointers!, i)]!;
    };
    return { element, shape: pointers!.shape, data: pointers!.data.map((_, i) => read(i)) };
  }

  private store([pointers, value, mask]: readonly Tensor[]): void {
    value!.data.forEach((v, i) => {
      if (!mask || mask.data[i]) pointers!.buffer!.data[this.place(pointers!, i)] = v;
    });
  }

  private atomic(kind: string, [pointers, value, mask]: readonly Tensor[]): Tensor {
    const { element } = value!;
    const names: Readonly<Record<string, string>> = {
      fadd: 'addf',
      add: 'addi',
      and: 'andi',
      or: 'ori',
      xor: 'xori',
      max: 'maxsi',
      min: 'minsi',
      umax: 'maxui',
      umin: 'minui',
    };
    const memory = /<(.*)>/.exec(pointers!.element)![1]!;
    const own = pointers!.buffer!.element;
    const old = value!.data.map((v, i) => {
      if (!mask!.data[i]) return poison(element);
      const at = this.place(pointers!, i);
      // A pointer that was cast reads the bits.
      const before =
        own === memory ? pointers!.buffer!.data[at]! : reinterpret(own, memory, pointers!.buffer!.data[at]!);
      const after = kind === 'exch' ? v : settle(element, binaryRules[`arith.${names[kind]}`]!(element, before, v));
      pointers!.buffer!.data[at] = own === memory ? after : reinterpret(memory, own, after);
      return before;
    });
    return { ...value!, data: old };
  }

  private swap([pointers, compare, value]: readonly Tensor[]): Tensor {
    const memory = /<(.*)>/.exec(pointers!.element)![1]!;
    const own = pointers!.buffer!.element;
    const old = value!.data.map((v, i) => {
      const at = this.place(pointers!, i);
      const before =
        own === memory ? pointers!.buffer!.data[at]! : reinterpret(own, memory, pointers!.buffer!.data[at]!);
      if (before === compare!.data[i]) pointers!.buffer!.data[at] = own === memory ? v : reinterpret(memory, own, v);
      return before;
    });
    return { ...value!, data: old };
  }

  private dot([a, b, acc]: readonly Tensor[]): Tensor {
    const [m, k] = a!.shape.slice(-2) as [number, number];
    const n = b!.shape.at(-1)!;
    const batch = count(a!.shape.slice(0, -2));
    const [x, y, sums] = [a, b, acc].map((v) => Float64Array.from(v!.data, Number)) as [
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    for (let t = 0; t < batch; t++)
      for (let i = 0; i < m; i++)
        for (let p = 0; p < k; p++) {
          const factor = x[(t * m + i) * k + p]!;
          const [row, from] = [(t * m + i) * n, (t * k + p) * n];
          for (let j = 0; j < n; j++) sums[row + j]! += factor * y[from + j]!;
        }
    const data = Array.from(sums, (v) => settle(acc!.element, v));
    return { ...acc!, data };
  }

  private combine(op: Op, inputs: readonly Tensor[]): readonly Tensor[] {
    const axis = Number(/axis = (\d+)/.exec(op.text)![1]);
    const reverse = op.text.includes('reverse = true');
    const { shape } = inputs[0]!;
    const n = shape[axis]!;
    const rest = shape.filter((_, i) => i !== axis);
    const scan = op.name === 'tt.scan';
    const out = inputs.map((x) => ({
      ...x,
      shape: scan ? shape : rest,
      data: new Array<number | bigint>(scan ? x.data.length : count(rest)),
    }));
    for (let line = 0; line < count(rest); line++) {
      const places = placesOf(rest, line);
      const at = (p: number): number => flat(shape, [...places.slice(0, axis), p, ...places.slice(axis)]);
      const one = (x: Tensor, i: number): Tensor => ({ element: x.element, shape: [], data: [x.data[i]!] });
      const order = Array.from({ length: n }, (_, i) => (reverse ? n - 1 - i : i));
      let acc: readonly Tensor[] = [];
      for (const [step, p] of order.entries()) {
        const next = inputs.map((x) => one(x, at(p)));
        acc = step === 0 ? next : this.block(op.regions[0]!, [...acc, ...next]);
        if (scan) acc.forEach((v, i) => out[i]!.data.splice(at(p), 1, v.data[0]!));
      }
      if (!scan) acc.forEach((v, i) => out[i]!.data.splice(line, 1, v.data[0]!));
    }
    return out;
  }

  private for(op: Op, [from, to, step, ...init]: readonly Tensor[]): readonly Tensor[] {
    let carried: readonly Tensor[] = init;
    const [start, end, by] = [from, to, step].map((t) => Number(t!.data[0]));
    for (let i = start!; i < end!; i += by!)
      carried = this.block(op.regions[0]!, [tensor('i32', [], () => i), ...carried]);
    return carried;
  }

  private while(op: Op, init: readonly Tensor[]): readonly Tensor[] {
    let carried = init;
    for (;;) {
      const [holds, ...values] = this.block(op.regions[0]!, carried);
      if (!holds!.data[0]) return values;
      carried = this.block(op.regions[1]!, values);
    }
  }
}

/** Runs every program of a grid, one after the other. Buffers change in place. */
export function evaluateTtir(text: string, grid: readonly number[], args: readonly (Buffer | Tensor)[]): void {
  const func = parseTtir(text);
  const given = args.map(
    (a): Tensor => ('name' in a ? { element: `!tt.ptr<${a.element}>`, shape: [], data: [0], buffer: a } : a),
  );
  const [nx, ny, nz] = grid as [number, number, number];
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) new Program(func, given, [x, y, z]);
}
