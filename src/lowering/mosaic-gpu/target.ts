/** What the Mosaic GPU back end compiles for: GPUs with TMA and a tensor core of warpgroups. */
export const mosaicTargets: readonly string[] = ['sm_90a', 'sm_100a'];
