/** Where the variables and parameters of an entry lie. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import type { Entry, Instruction, Operand } from './module.js';

/** Shared memory begins here, so that a null pointer is outside of it. */
export const sharedBase = 1024;
/** Upper words of generic addresses into memories that are not global. */
export const windows = { shared: 3, parameter: 5, local: 6 } as const;

/** An instruction that the simulator does not have, or not in this form. */
export function unsupported(i: Instruction, why = 'the simulator does not have this instruction'): never {
  throw new CompileError([
    simulatorCodes.unknownInstruction({ text: i.text.slice(0, 140), line: i.line, why }, { loc: i.loc }),
  ]);
}

export class Symbols {
  private readonly addresses = new Map<string, number>();
  private readonly upper = new Map<string, number>();
  /** Bytes of shared memory that the entry declares; dynamic memory begins behind them. */
  readonly staticShared: number;
  readonly localBytes: number;
  /** What is being compiled, for errors. */
  current: Instruction | undefined;

  constructor(entry: Entry, globals: ReadonlyMap<string, number>, globalWindow: number) {
    let top = sharedBase;
    const align = (to: number): number => Math.ceil(top / to) * to;
    for (const v of entry.shared) {
      if (v.extern) continue;
      top = align(v.alignment);
      this.addresses.set(v.name, top);
      top += v.bytes;
    }
    // Descriptors of wgmma and TMA count on dynamic memory that begins at a multiple of 1024.
    const dynamic = entry.shared.filter((v) => v.extern);
    if (dynamic.length > 0) top = align(1024);
    for (const v of dynamic) this.addresses.set(v.name, top);
    this.staticShared = top - sharedBase;
    let localTop = 0;
    for (const v of entry.local) {
      localTop = Math.ceil(localTop / v.alignment) * v.alignment;
      this.addresses.set(v.name, localTop);
      localTop += v.bytes;
    }
    this.localBytes = localTop;
    for (const p of entry.parameters) this.addresses.set(p.name, p.offset);
    for (const [name, at] of globals) {
      this.addresses.set(name, at);
      this.upper.set(name, globalWindow);
    }
  }

  /** Lower word of the address of a variable. */
  address({ name, offset }: Extract<Operand, { kind: 'symbol' }>): number {
    const at = this.addresses.get(name);
    return at === undefined ? this.refuse(`'${name}' is not known`) : (at + offset) | 0;
  }

  /** Upper word. */
  window(name: string): number {
    return this.upper.get(name) ?? 0;
  }

  refuse(why: string): never {
    return unsupported(this.current!, why);
  }
}
