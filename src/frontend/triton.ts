/** Options of the Triton back end: `import * as pltriton from 'tilewright/triton'`. */

import { type CompilerParams as Base, givenOptions, type OptionKinds } from './compiler-params.js';

export interface TritonOptions {
  /** Warps (waves on AMD) that run one program. */
  readonly numWarps?: number;
  /** Depth of the software pipeline of loops over memory. */
  readonly numStages?: number;
  /** Programs of one cluster that work together (sm_90 and up). */
  readonly numCtas?: number;
  /** Registers per thread at most (NVIDIA). */
  readonly maxnreg?: number;
  /** Lets the compiler contract multiplications and additions. */
  readonly enableFpFusion?: boolean;
  /** Waves per execution unit that the compiler aims at (AMD). */
  readonly wavesPerEu?: number;
  /** Size of the matrix instruction outside of k (AMD). */
  readonly matrixInstrNonkdim?: number;
  /** Elements along k that one lane holds (AMD). */
  readonly kpack?: number;
}

const kinds: OptionKinds<TritonOptions> = {
  numWarps: 'count',
  numStages: 'count',
  numCtas: 'count',
  maxnreg: 'count',
  enableFpFusion: 'flag',
  wavesPerEu: 'count',
  matrixInstrNonkdim: 'count',
  kpack: 'count',
};

export class CompilerParams implements Base {
  readonly backend = 'triton';
  readonly options: Base['options'];
  constructor(options: TritonOptions = {}) {
    this.options = givenOptions(this.backend, kinds, options);
  }
}
