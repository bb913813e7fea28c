import {
  array,
  bf16,
  blockProgram,
  cdiv,
  choice,
  type DType,
  dim,
  dot,
  ds,
  dtypes,
  f16,
  f32,
  gather,
  grid,
  type Index,
  i32,
  iota,
  kernel,
  loop,
  perTarget,
  type Ref,
  scalar,
  scatter,
  sequence,
  type Tile,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Blocks that fit the registers of a GPU; small ones for f32, which few have matrix instructions for. */
const gpuBlocks = ({ dtype }: { dtype: DType }) =>
  dtype === f32 ? { bm: 32, bf: 32, bc: 16 } : { bm: 64, bf: 32, bc: 32 };

/**
 * Two convolutions of images x[n, h, w, c] (cross-correlation; `pad` zeros on each side, steps of `stride`): over all
 * channels, y[n, ho, wo, f] = Σ x[n, i stride + u - pad, j stride + v - pad, c] filters[u, v, c, f], the filters being `w`,
 * and channel by channel, yd[n, ho, wo, c] with wd[u, v, c]; summed in f32.
 *
 * The first is a matrix product of a matrix that nobody stores: its rows are the pixels of y, and a block of it is gathered
 * from x for each place in the filter and stretch of channels (implicit GEMM; Chetlur et al., cuDNN).
 */
export const conv2dAndDepthwise = kernel(
  'conv2d_and_depthwise',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    { dtype: dtypes(f32, f16, bf16), bm: 64, bf: choice([64, 32, 128]), bc: choice([32, 16, 64]) },
  ),
  ({ dtype, bm, bf, bc }) => {
    const [n, h, w, c, f] = [dim('n'), dim('h'), dim('width'), dim('c'), dim('f')];
    const [kh, kw, ho, wo] = [dim('kh'), dim('kw'), dim('ho'), dim('wo')];
    const x = array(dtype, [n, h, w, c]);
    const numbers = { stride: scalar(i32), pad: scalar(i32) };
    const pixels = n.mul(ho).mul(wo);
    const programs = (blocks: Index) => grid({ i: cdiv(pixels, bm), j: blocks });

    /** A block of pixels of a result: which there are, and the index of their channels from `channel` on. */
    const pixelsFrom = (first: Index) => {
      const pixel = first.add(iota([bm]));
      const [image, row, column] = [pixel.div(wo.mul(ho)), pixel.div(wo).rem(ho), pixel.rem(wo)];
      return { exists: pixel.lt(pixels), image, row, column };
    };
    type Pixels = ReturnType<typeof pixelsFrom>;
    /** Of each pixel what lies under place (u, v) of the filter, for channels from `channel` on; zeros outside of x. */
    const under = (
      refs: { readonly x: Ref; readonly stride: Index; readonly pad: Index },
      { exists, image, row, column }: Pixels,
      [u, v, channel]: readonly [Index, Index, Index],
    ) => {
      const at = (place: Tile<typeof i32, 1>, offset: Index) => place.mul(refs.stride).add(offset).sub(refs.pad);
      const [i, j] = [at(row, u), at(column, v)];
      const inside = exists.and(i.ge(0)).and(i.lt(h)).and(j.ge(0)).and(j.lt(w));
      const channels = channel.add(iota([bc])).expand(0);
      const mask = inside.expand(1).and(channels.lt(c));
      return gather(refs.x as Ref<typeof dtype, 4>, [image.expand(1), i.expand(1), j.expand(1), channels], {
        mask,
        other: 0,
      });
    };

    const g = programs(cdiv(f, bf));
    const convolution = blockProgram(
      {
        grid: g,
        inputs: { x, w: array(dtype, [kh, kw, c, f]), ...numbers },
        outputs: { y: array(dtype, [n, ho, wo, f]) },
      },
      ({ x, w: filters, stride, pad, y }) => {
        const [places, column] = [pixelsFrom(g.i.mul(bm)), g.j.mul(bf)];
        const stretches = cdiv(c, bc);
        const sum = loop({ to: kh.mul(kw).mul(stretches), carry: zeros(f32, [bm, bf]) }, (t, sum) => {
          const [place, channel] = [t.div(stretches), t.rem(stretches).mul(bc)];
          const [u, v] = [place.div(kw), place.rem(kw)];
          const left = under({ x, stride, pad } as never, places, [u, v, channel]);
          return sum.add(dot(left, filters.at(u, v, ds(channel, bc), ds(column, bf)).load()));
        });
        const { exists, image, row, column: j } = places;
        const filter = column.add(iota([bf])).expand(0);
        const mask = exists.expand(1).and(filter.lt(f));
        scatter(y, [image.expand(1), row.expand(1), j.expand(1), filter], sum.to(dtype), { mask });
      },
    );

    const gd = programs(cdiv(c, bc));
    const depthwise = blockProgram(
      {
        grid: gd,
        inputs: { x, wd: array(dtype, [kh, kw, c]), ...numbers },
        outputs: { yd: array(dtype, [n, ho, wo, c]) },
      },
      ({ x, wd, stride, pad, yd }) => {
        const [places, channel] = [pixelsFrom(gd.i.mul(bm)), gd.j.mul(bc)];
        const sum = loop({ to: kh.mul(kw), carry: zeros(f32, [bm, bc]) }, (place, sum) => {
          const [u, v] = [place.div(kw), place.rem(kw)];
          const seen = under({ x, stride, pad } as never, places, [u, v, channel]).to(f32);
          return sum.add(seen.mul(wd.at(u, v, ds(channel, bc)).load().to(f32)));
        });
        const { exists, image, row, column } = places;
        const channels = channel.add(iota([bc])).expand(0);
        const mask = exists.expand(1).and(channels.lt(c));
        scatter(yd, [image.expand(1), row.expand(1), column.expand(1), channels], sum.to(dtype), { mask });
      },
    );
    return sequence({ temps: {} }, [convolution, depthwise]);
  },
);

export const cases: OracleCases = {
  id: 20,
  settings: ({ dtype, shapes: { y } }) => ({ params: { dtype }, dims: { ho: y![1]!, wo: y![2]! } }),
};
