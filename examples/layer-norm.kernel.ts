import { array, bf16, blockProgram, dim, dtypes, f16, f32, grid, kernel, scalar, squeezed } from 'tilewright';

/**
 * y[m, n] = (x - mean) / sqrt(var + eps) * w[n] + b[n], with the mean and the (biased) variance of each row of x[m, n].
 * One program takes one row; `block` is at least n.
 */
export const layerNorm = kernel('layer_norm', { dtype: dtypes(f32, f16, bf16), block: 1024 }, ({ dtype, block }) => {
  const [m, n] = [dim('m'), dim('n', { max: block })];
  const g = grid({ row: m });
  const row = array(dtype, [m, n]).block([squeezed, block], [g.row, 0]);
  const column = array(dtype, [n]).block([block], [0]);
  return blockProgram(
    { grid: g, inputs: { x: row, w: column, b: column, eps: scalar(f32) }, outputs: { y: row } },
    ({ x, w, b, eps, y }) => {
      const count = n.to(f32);
      const v = x.load().to(f32);
      const centred = v.sub(v.sum(0).div(count));
      const variance = centred.mul(centred).sum(0).div(count);
      const scale = variance.add(eps).rsqrt();
      y.store(centred.mul(scale).mul(w.load().to(f32)).add(b.load().to(f32)).to(dtype));
    },
  );
});
