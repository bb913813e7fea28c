/** Options of the Mosaic GPU back end: `import * as plgpu from 'tilewright/mgpu'`. */

import { type CompilerParams as Base, givenOptions, type OptionKinds } from './compiler-params.js';

export interface MosaicGpuOptions {
  /** Lets math functions use the hardware's approximations. */
  readonly approxMath?: boolean;
  /** Buffers per operand of the block pipeline. */
  readonly maxConcurrentSteps?: number;
}

const kinds: OptionKinds<MosaicGpuOptions> = { approxMath: 'flag', maxConcurrentSteps: 'count' };

export class CompilerParams implements Base {
  readonly backend = 'mosaic_gpu';
  readonly options: Base['options'];
  constructor(options: MosaicGpuOptions = {}) {
    this.options = givenOptions(this.backend, kinds, options);
  }
}
