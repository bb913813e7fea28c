/** Convolutions in float64. */

import type { OracleKernelCall } from './call.js';

export function conv2dAndDepthwise(c: OracleKernelCall): void {
  const sizes = c.pick(
    { n: 1, h: 16, w: 16, channels: 32, f: 64, size: 3, stride: 1, pad: 1 },
    { n: 2, h: 13, w: 9, channels: 19, f: 21, size: 3, stride: 2, pad: 1 },
    { n: 1, h: 1, w: 1, channels: 1, f: 1, size: 1, stride: 1, pad: 0 },
  );
  const { n, h, w, channels, f, size } = sizes;
  const x = c.normal('x', [n, h, w, channels]);
  const filters = c.normal('w', [size, size, channels, f]);
  const deep = c.normal('wd', [size, size, channels]);
  const [stride, pad] = [c.scalar('stride', sizes.stride, 'i32'), c.scalar('pad', sizes.pad, 'i32')];
  const [ho, wo] = [h, w].map((extent) => Math.floor((extent + 2 * pad - size) / stride) + 1) as [number, number];
  /** Sums over the places of the filter that lie in the image: `term` takes the pixel's place in x and the filter's. */
  const over = (pixel: number, term: (pixel: number, place: number) => number): number => {
    const [image, i, j] = [Math.floor(pixel / (ho * wo)), Math.floor(pixel / wo) % ho, pixel % wo];
    let total = 0;
    for (let u = 0; u < size; u++)
      for (let v = 0; v < size; v++) {
        const [row, column] = [i * stride + u - pad, j * stride + v - pad];
        if (row < 0 || row >= h || column < 0 || column >= w) continue;
        total += term((image * h + row) * w + column, u * size + v);
      }
    return total;
  };
  const y = (at: number): number =>
    over(Math.floor(at / f), (pixel, place) => {
      let total = 0;
      for (let t = 0; t < channels; t++)
        total += x[pixel * channels + t]! * filters[(place * channels + t) * f + (at % f)]!;
      return total;
    });
  const yd = (at: number): number => {
    const [pixel, t] = [Math.floor(at / channels), at % channels];
    return over(pixel, (p, place) => x[p * channels + t]! * deep[place * channels + t]!);
  };
  c.result('y', [n, ho, wo, f], y, { size: 3 * Math.sqrt(size * size * channels) });
  c.result('yd', [n, ho, wo, channels], yd, { size: 3 * size });
}
