import { defineCode } from '../diagnostic.js';

/** Choice of a back end, and the gates of Mosaic GPU (TW203x, TW204x). All are told before any compiler runs. */
export const backendCodes = {
  paramsOfOthers: defineCode<{ backend: string; others: readonly string[] }>(
    'TW2030',
    'error',
    'a back end that the kernel has no options for',
    'A kernel says with `compilerParams` which back ends it is meant for. This one names others only than the back end that was selected. A kernel for several back ends lists one object for each.',
    ({ backend, others }) =>
      `back end ${backend} was selected, but the kernel has compilerParams of ${others.join(', ')}`,
  ),
  wrongTarget: defineCode<{ backend: string; target: string }>(
    'TW2031',
    'error',
    'a back end that does not compile for the target',
    'Each back end compiles for some targets: `cpu` for the CPU, `triton` for GPUs of NVIDIA and AMD, `mosaic_gpu` for NVIDIA from sm_90a on.',
    ({ backend, target }) => `back end ${backend} does not compile for '${target}'`,
  ),
  noRocm: defineCode<{}>(
    'TW2032',
    'error',
    'Mosaic GPU for an AMD target',
    'Mosaic GPU is written for the TMA, wgmma and tcgen05 units of NVIDIA. On AMD the Triton back end compiles the same automatic-block kernels.',
    () =>
      'Mosaic GPU does not yet support AMD ROCm devices. Use `compilerParams: new pltriton.CompilerParams()` for ROCm.',
  ),
  badMesh: defineCode<{ mesh: string }>(
    'TW2033',
    'error',
    'a mesh that Mosaic GPU does not know',
    'An explicit program runs on a mesh of its own kind: grid, cluster and warpgroups of one GPU, as `plgpu.mesh({ … })` gives it.',
    ({ mesh }) => `Mesh ${mesh} is not supported by the Mosaic GPU backend`,
  ),
  dynamicGrid: defineCode<{}>(
    'TW2034',
    'error',
    'a grid that depends on a scalar argument',
    'Mosaic GPU takes grids of numbers and of dims (extents of the arguments), which the host knows before the launch. A bound that comes from a scalar argument is dynamic.',
    () => 'dynamic grid bounds not supported in the Mosaic GPU backend',
  ),
  externalMesh: defineCode<{}>(
    'TW2035',
    'error',
    'a mesh of several devices',
    'A kernel runs on one device: `plgpu.deviceMesh` describes several, which no back end can launch yet.',
    () => 'External meshes are not supported by the Mosaic GPU backend',
  ),
  mixedAxes: defineCode<{ axis: string }>(
    'TW2036',
    'error',
    'a collective over devices and blocks at once',
    'The axes of one collective are all axes of the kernel (grid, cluster, threads), or all axes of a mesh of devices.',
    ({ axis }) => `${axis} mixes device mesh and kernel mesh axes`,
  ),
  badDType: defineCode<{ dtype: string }>(
    'TW2037',
    'error',
    'a dtype that Mosaic GPU cannot hold',
    'Registers and shared memory of the Mosaic GPU back end hold bool, the integers from 8 bits up, f16, bf16, f32, f64, f8e4m3fn and f8e5m2.',
    ({ dtype }) => `Unsupported dtype: ${dtype}`,
  ),
  transformSpace: defineCode<{}>(
    'TW2038',
    'error',
    'a transform of memory that is laid out by the host',
    'Tiling, swizzle and transposition say how shared and tensor memory is laid out. Arrays in global memory are row-major.',
    () => 'Only SMEM and TMEM refs are supported.',
  ),
  badTransform: defineCode<{ transform: string }>(
    'TW2039',
    'error',
    'an unknown transform',
    'The transforms are `plgpu.tiling([…])`, `plgpu.swizzle(bytes)` and `plgpu.transpose([…])`.',
    ({ transform }) => `Unsupported transform: ${transform}`,
  ),
  pallasCallDeprecated: defineCode<{ kernel: string }>(
    'TW2040',
    'warning',
    '`pallasCall` on Mosaic GPU',
    '`pallasCall` is there for those who port from Pallas, whose own is deprecated on Mosaic GPU.',
    ({ kernel }) =>
      `pallasCall is deprecated on the Mosaic GPU backend: migrate '${kernel}' to plgpu.warpgroupProgram (or blockProgram)`,
  ),
  explicitPending: defineCode<{ what: string }>(
    'TW2041',
    'error',
    'what explicit programs cannot do yet',
    'This version has explicit programs of up to eight warpgroups in a block, and no clusters of blocks. `blockProgram` runs on every back end.',
    ({ what }) => `plgpu.warpgroupProgram does not have ${what} yet`,
  ),
  strideUnpromised: defineCode<{ array: string; multiple: number; dtype: string }>(
    'TW2042',
    'error',
    'rows that TMA cannot take',
    'TMA copies blocks of arrays whose rows begin at multiples of 16 bytes. A run-time extent may be any number, unless the kernel promises more: `dim("n", { multipleOf: 8 })`. The launch then refuses an `n` that breaks the promise.',
    ({ array, multiple, dtype }) =>
      `rows of '${array}' must be multiples of ${multiple} elements of ${dtype} for TMA, which is not promised`,
  ),
  accumulators: defineCode<{ m: number; n: number; registers: number }>(
    'TW2043',
    'error',
    'a block of sums that registers cannot hold',
    'wgmma keeps sums in the registers of a warpgroup: m · n / 128 of the 255 that a thread has, besides what the epilogue takes.',
    ({ m, n, registers }) => `sums of ${m} × ${n} take ${registers} registers of each thread of a warpgroup`,
  ),
} as const;
