/** The scratch arena of one thread: tiles at fixed offsets, reused once nothing reads them any more. */

import { elementCount } from '../../ir/types.js';
import type { Elem } from './emitter.js';
import { scratchBytes } from './storage.js';

/** A tile in scratch memory: row-major, or its last axis cut into panels. */
export interface Buffer {
  readonly offset: number;
  readonly elem: Elem;
  readonly shape: readonly number[];
  /** Width of the panels (a power of two): each holds its columns of all rows one after the other, as a dot reads them. */
  readonly panel?: number;
}

/** Cache lines, and the widest vector of any target. */
const alignment = 64;

export class Arena {
  private readonly free: { offset: number; bytes: number }[] = [];
  private end = 0;

  /** Bytes that the arena needs in all. */
  get bytes(): number {
    return this.end;
  }

  allocate(elem: Elem, shape: readonly number[], panel?: number): Buffer {
    const tile = { elem, shape, ...(panel === undefined ? {} : { panel }) };
    const bytes = bytesOf(tile);
    const at = this.free.findIndex((hole) => hole.bytes >= bytes);
    if (at < 0) {
      const offset = this.end;
      this.end += bytes;
      return { offset, ...tile };
    }
    const hole = this.free[at]!;
    if (hole.bytes === bytes) this.free.splice(at, 1);
    else this.free[at] = { offset: hole.offset + bytes, bytes: hole.bytes - bytes };
    return { offset: hole.offset, ...tile };
  }

  release(buffer: Buffer): void {
    this.free.push({ offset: buffer.offset, bytes: bytesOf(buffer) });
  }
}

function bytesOf({ elem, shape, panel }: Omit<Buffer, 'offset'>): number {
  const last = shape.at(-1) ?? 1;
  const columns = panel === undefined ? last : Math.ceil(last / panel) * panel;
  const elements = elementCount(shape.slice(0, -1)) * columns;
  return Math.ceil((elements * scratchBytes(elem)) / alignment) * alignment;
}
