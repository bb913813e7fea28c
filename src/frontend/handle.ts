/** What a kernel body holds: tiles and refs. They stand for what happens later, so JavaScript may not look into them. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { DiagnosticContext } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { type DType, tryDType } from '../ir/dtypes.js';
import { mistake, noteAt } from './errors.js';

export abstract class Handle {
  /** @internal What messages call it: `f32[64]`, `the ref 'x'`. */
  abstract get label(): string;
  /** @internal The user's line that made it. */
  abstract get birth(): Loc;

  toJSON(): string {
    return `<${this.label}>`;
  }
}

// Not methods of the class: TypeScript should go on to refuse iterating a handle and arithmetic on it.
Object.defineProperties(Handle.prototype, {
  [Symbol.toPrimitive]: {
    value(this: Handle, hint: string): never {
      const make = hint === 'string' ? frontendCodes.usedAsText : frontendCodes.usedAsNumber;
      return mistake((c) => make({ type: this.label }, c), {
        notes: [noteAt('the value was made here', this.birth)],
        help: 'use .add, .lt, select(), when() or loop()',
      });
    },
  },
  [Symbol.iterator]: {
    value(this: Handle): never {
      return mistake((c) => frontendCodes.notIterable({ type: this.label }, c), {
        notes: [noteAt('the value was made here', this.birth)],
      });
    },
  },
});

const isObject = (x: unknown): x is object => typeof x === 'object' && x !== null;

export const isDType = (x: unknown): x is DType => isObject(x) && 'name' in x && tryDType(String(x.name)) === x;

/** The host array that a value is, for messages: a typed array, or an `NdArray`. */
function hostArray(x: unknown): string | undefined {
  if (ArrayBuffer.isView(x)) return `a ${x.constructor.name}`;
  if (!isObject(x) || !('data' in x && 'dtype' in x && 'shape' in x) || !isDType(x.dtype)) return undefined;
  return `a host array ${x.dtype.name}[${Array.isArray(x.shape) ? x.shape.join(', ') : ''}]`;
}

/** Any value, as messages name it after `got`. */
export function describe(x: unknown): string {
  if (x instanceof Handle) return x.label;
  if (isDType(x)) return `the dtype ${x.name}`;
  if (x instanceof Promise) return 'a promise';
  if (Array.isArray(x)) return 'a list';
  switch (typeof x) {
    case 'string':
      return JSON.stringify(x);
    case 'number':
      return Object.is(x, -0) ? '-0' : String(x);
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'object':
      return x === null ? 'null' : (hostArray(x) ?? 'an object');
    default:
      return String(x);
  }
}

/** Refuses a host array, which a kernel cannot hold, wherever it turns up. */
export function checkNotCaptured(x: unknown, context: DiagnosticContext = {}): void {
  const array = hostArray(x);
  if (array === undefined) return;
  mistake((c) => frontendCodes.capturedArray({ what: array }, c), {
    ...context,
    help: 'declare an input and pass the array when the kernel is called',
  });
}

/** Refuses what a function of the API was given: `'add' takes a tile or a number, got undefined`. */
export function refuse(takes: string, got: unknown, context: DiagnosticContext = {}): never {
  checkNotCaptured(got, context);
  return mistake((c) => frontendCodes.badOperand({ message: `${takes}, got ${describe(got)}` }, c), {
    ...(got instanceof Handle ? { notes: [noteAt('the value was made here', got.birth)] } : {}),
    ...context,
  });
}

/** A callback of the user's. */
export function checkCallback(takes: string, f: unknown): void {
  if (typeof f !== 'function') refuse(takes, f);
}

/** One of a few words. */
export function checkWord(takes: string, words: readonly string[], x: unknown): void {
  if (!words.includes(x as string)) refuse(`${takes} ${words.map((w) => `'${w}'`).join(', ')}`, x);
}

export const isRecord = (x: unknown): x is Readonly<Record<string, unknown>> => {
  const prototype: unknown = isObject(x) ? Object.getPrototypeOf(x) : undefined;
  return prototype === Object.prototype || prototype === null;
};

/** A plain object: values by name. */
export function checkRecord(takes: string, x: unknown, context: DiagnosticContext = {}): void {
  if (!isRecord(x)) refuse(takes, x, context);
}

export function checkList(takes: string, x: unknown, context: DiagnosticContext = {}): void {
  if (!Array.isArray(x)) refuse(takes, x, context);
}

/** A boolean, or nothing. */
export function checkFlag(name: string, x: unknown): void {
  if (x !== undefined && typeof x !== 'boolean') refuse(`'${name}' is true or false`, x);
}

/** An options object: no other names than these, so that nothing that was asked for is passed over. */
export function checkOptions(of: string, names: readonly string[], options: unknown): void {
  if (!isRecord(options)) return refuse(`the options of '${of}' are { ${names.join(', ')} }`, options);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  mistake((c) => frontendCodes.badOperand({ message: `'${of}' has no option '${unknown}'` }, c), {
    help: didYouMean(unknown, names) ?? `its options are ${names.join(', ')}`,
  });
}
