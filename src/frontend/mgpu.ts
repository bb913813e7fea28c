/** The Mosaic GPU back end's options and explicit programs: `import * as plgpu from 'tilewright/mgpu'`. */

import { type CompilerParams as Base, givenOptions, type OptionKinds } from './compiler-params.js';

export { checkCollective, DeviceMesh, deviceMesh, Mesh, type MeshSpec, mesh } from './mesh.js';
export {
  type AccumulatorSpec,
  accumulator,
  type BarrierOptions,
  type BarrierSpec,
  barrier,
  gmem,
  type MemorySpace,
  type ScratchOptions,
  type ScratchSpec,
  smem,
  swizzle,
  type Transform,
  tiling,
  tmem,
  transformRef,
  transpose,
} from './scratch.js';
export {
  Barrier,
  commitSmem,
  copyGmemToSmem,
  copySmemToGmem,
  runScoped,
  type ScratchHandles,
  setMaxRegisters,
  syncWarpgroups,
  type WarpgroupProgramSpec,
  type WgmmaOptions,
  waitSmemToGmem,
  warpgroupProgram,
  wgmma,
  wgmmaWait,
} from './warpgroup.js';

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
