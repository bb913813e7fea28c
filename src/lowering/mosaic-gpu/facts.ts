/** What is known of run-time values: which number they are surely a multiple of. */

import type { Kernel } from '../../ir/kernel.js';
import type { OpOf } from '../../ir/ops/index.js';
import { isOp } from '../../ir/ops/index.js';
import type { Extent } from '../../ir/symbolic.js';
import type { GenericOp, Value } from '../../ir/value.js';

const gcd = (a: number, b: number): number => (b === 0 ? Math.abs(a) : gcd(b, a % b));
/** Multiples are told up to this power of two. */
const most = 1 << 16;

/** What an extent is a multiple of by the promises of the dims; 0 is a multiple of everything. */
export function extentMultiple(extent: Extent, { dims }: Kernel): number {
  if (typeof extent === 'number') return extent;
  const left = (): number => (extent.kind === 'argument' ? 1 : extentMultiple(extent.left, { dims } as Kernel));
  const right = (): number => (extent.kind === 'argument' ? 1 : extentMultiple(extent.right, { dims } as Kernel));
  switch (extent.kind) {
    case 'argument':
      return dims.find((d) => d.name === extent.name)?.multipleOf ?? 1;
    case 'mul':
      return left() * right();
    case 'add':
    case 'sub':
    case 'min':
    case 'max':
      return gcd(left(), right());
    default:
      return 1;
  }
}

/** The dims of an extent that promise less than `multiple`. */
export function unpromised(extent: Extent, { dims }: Kernel, multiple: number): string[] {
  if (typeof extent === 'number') return [];
  if (extent.kind !== 'argument')
    return [
      ...unpromised(extent.left, { dims } as Kernel, multiple),
      ...unpromised(extent.right, { dims } as Kernel, multiple),
    ];
  const promised = dims.find((d) => d.name === extent.name)?.multipleOf ?? 1;
  return promised % multiple === 0 ? [] : [extent.name];
}

/** What an index is a multiple of, by the ops that make it. */
export function valueMultiple(value: Value, definition: (value: Value) => GenericOp | undefined): number {
  const op = definition(value);
  if (isOp(op, 'constant')) return gcd(Number((op as OpOf<'constant'>).attrs.value), most);
  const { left, right } = (op?.operands ?? {}) as { left?: Value; right?: Value };
  if (!op || !left || !right) return 1;
  const [a, b] = [valueMultiple(left, definition), valueMultiple(right, definition)];
  if (op.name === 'mul') return gcd(a * b, most);
  return op.name === 'add' || op.name === 'sub' ? gcd(a, b) : 1;
}
