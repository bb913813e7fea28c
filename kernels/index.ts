/** The corpus: kernels that people write, one source each for every back end. */

export { asin } from './asin.kernel.js';
export { batchedMatmul } from './batched-matmul.kernel.js';
export { conv2dAndDepthwise } from './conv2d-and-depthwise.kernel.js';
export { crossEntropyOnline } from './cross-entropy-online.kernel.js';
export { cumsumSegmented } from './cumsum-segmented.kernel.js';
export { embeddingGatherScatter } from './embedding-gather-scatter.kernel.js';
export { fillIota } from './fill-iota.kernel.js';
export { flashAttentionBwd } from './flash-attention-bwd.kernel.js';
export { flashAttentionFwd } from './flash-attention-fwd.kernel.js';
export { gatedActivations } from './gated-activations.kernel.js';
export { groupedMatmul } from './grouped-matmul.kernel.js';
export { int4Matmul } from './int4-matmul.kernel.js';
export { layernormFwdBwd } from './layernorm-fwd-bwd.kernel.js';
export { linearAttentionGlaGdn } from './linear-attention-gla-gdn.kernel.js';
export { matmulEpilogue } from './matmul-epilogue.kernel.js';
export { matvec } from './matvec.kernel.js';
export { pagedDecodeAttention } from './paged-decode-attention.kernel.js';
export { persistentMatmul } from './persistent-matmul.kernel.js';
export { philoxDropout } from './philox-dropout.kernel.js';
export { rmsnormFwdBwd } from './rmsnorm-fwd-bwd.kernel.js';
export { rope } from './rope.kernel.js';
export { rowReductions } from './row-reductions.kernel.js';
export { scaledMatmul } from './scaled-matmul.kernel.js';
export { softmax } from './softmax.kernel.js';
export { transpose } from './transpose.kernel.js';
export { vectorAdd } from './vector-add.kernel.js';
