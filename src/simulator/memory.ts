/** Memory of a simulated device: one arena of global memory with exact bounds, and views that every memory has. */

import { invariant } from '../diagnostics/diagnostic.js';

/** One buffer under every element type that instructions use. */
export interface Views {
  readonly u8: Uint8Array;
  readonly i8: Int8Array;
  readonly u16: Uint16Array;
  readonly i16: Int16Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
  readonly f32: Float32Array;
}

export function viewsOf(bytes: number): Views {
  const buffer = new ArrayBuffer(Math.ceil(Math.max(bytes, 16) / 16) * 16);
  return {
    u8: new Uint8Array(buffer),
    i8: new Int8Array(buffer),
    u16: new Uint16Array(buffer),
    i16: new Int16Array(buffer),
    i32: new Int32Array(buffer),
    u32: new Uint32Array(buffer),
    f32: new Float32Array(buffer),
  };
}

export interface Allocation {
  readonly name: string;
  /** Offset in the arena. */
  readonly at: number;
  readonly bytes: number;
}

/** Upper word of every global address; the lower word is the offset in the arena. */
export const globalWindow = 0x7f;

const granuleBits = 8;
const granule = 1 << granuleBits;

/** Bytes of arena for the buffers: each begins at a multiple of 256 and is followed by a gap that belongs to nobody. */
export function arenaBytes(sizes: readonly number[]): number {
  return sizes.reduce((sum, n) => sum + Math.ceil(n / granule) * granule + granule, 16 * granule);
}

export class GlobalMemory {
  readonly views: Views;
  /** Of every 256 bytes: the number of the allocation, 0 for none. */
  readonly owner: Int32Array;
  readonly starts: number[] = [0];
  readonly ends: number[] = [0];
  private readonly names: string[] = [''];
  private top = 16 * granule;

  constructor(bytes: number) {
    this.views = viewsOf(bytes);
    this.owner = new Int32Array(Math.ceil(bytes / granule) + 1);
  }

  allocate(name: string, bytes: number): Allocation {
    const at = this.top;
    this.top = at + Math.ceil(bytes / granule) * granule + granule;
    invariant(this.top <= this.views.u8.length, 'the arena is too small');
    this.owner.fill(this.starts.length, at >> granuleBits, (at + Math.max(bytes, 1) + granule - 1) >> granuleBits);
    this.starts.push(at);
    this.ends.push(at + bytes);
    this.names.push(name);
    return { name, at, bytes };
  }

  /** Whether `size` bytes at `address` of a window lie within one allocation. */
  holds(address: number, window: number, size: number): boolean {
    if (window !== globalWindow) return false;
    const id = this.owner[address >>> granuleBits];
    return id !== undefined && address >= this.starts[id]! && address + size <= this.ends[id]!;
  }

  /** An address in words, for people: the allocation that it is in or behind. */
  describe(address: number, window: number): string {
    if (window === 0 && address < 4096) return 'a null pointer';
    const hex = `address 0x${(window >>> 0).toString(16)}${(address >>> 0).toString(16).padStart(8, '0')}`;
    if (window !== globalWindow) return `${hex}, which no buffer has`;
    const before = this.starts.findLastIndex((s, id) => id > 0 && s <= address);
    if (before < 1) return `${hex}, which no buffer has`;
    const size = this.ends[before]! - this.starts[before]!;
    return `offset ${address - this.starts[before]!} of '${this.names[before]}' (${size} bytes)`;
  }
}
