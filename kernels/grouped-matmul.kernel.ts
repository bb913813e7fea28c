import {
  all,
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
  grid,
  i32,
  iota,
  kernel,
  loop,
  maximum,
  minimum,
  perTarget,
  select,
  sequence,
  squeezed,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Blocks that fit the registers of a GPU; small ones for f32, which few have matrix instructions for. */
const gpuBlocks = ({ dtype }: { dtype: DType }) =>
  dtype === f32 ? { bm: 32, bn: 64, bk: 16 } : { bm: 64, bn: 64, bk: 32 };

/**
 * A product for each group of consecutive rows (ragged dot): y[m, n] = lhs[m, k] · rhs[g, k, n] with g the group that row m
 * is in, 0 past the last group; drhs[g, k, n] = lhs_gᵀ · dout_g over the rows of g. Group sizes are data; groups may be empty.
 *
 * A block of rows of y visits the groups that it touches, and masks the rows of the others.
 */
export const groupedMatmul = kernel(
  'grouped_matmul',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    {
      dtype: dtypes(f16, bf16, f32),
      bm: choice([64, 128, 32]),
      bn: choice([64, 128, 32]),
      bk: choice([64, 32, 16]),
    },
  ),
  ({ dtype, bm, bn, bk }) => {
    const [m, n, k, groups] = [dim('m'), dim('n'), dim('k'), dim('groups')];
    const sizes = array(i32, [groups]);
    const rows = grid({ i: cdiv(m, bm), j: cdiv(n, bn) });
    const forward = blockProgram(
      {
        grid: rows,
        inputs: {
          lhs: array(dtype, [m, k]).block([bm, k], [rows.i, 0]),
          rhs: array(dtype, [groups, k, n]).block([groups, k, bn], [0, 0, rows.j]),
          group_sizes: sizes,
        },
        outputs: { y: array(dtype, [m, n]).block([bm, bn], [rows.i, rows.j]) },
      },
      ({ lhs, rhs, group_sizes, y }) => {
        const [first, row] = [rows.i.mul(bm), rows.i.mul(bm).add(iota([bm]))];
        const carry = { start: zeros(i32, []), sum: zeros(f32, [bm, bn]) };
        const { sum } = loop({ to: groups, carry }, (group, { start, sum }) => {
          const end = start.add(group_sizes.at(group).load());
          const mine = row.ge(start).and(row.lt(end)).expand(1);
          const touched = start.lt(first.add(bm)).and(end.gt(first));
          const steps = select(touched, cdiv(k, bk), 0);
          const next = loop({ to: steps, carry: sum }, (t, sum) => {
            const depth = ds(t.mul(bk), bk);
            const left = select(mine, lhs.at(all, depth).load(), 0);
            return sum.add(dot(left, rhs.at(group, depth, all).load()));
          });
          return { start: end, sum: next };
        });
        y.store(sum.to(dtype));
      },
    );
    const columns = grid({ group: groups, i: cdiv(k, bm), j: cdiv(n, bn) });
    const gradient = blockProgram(
      {
        grid: columns,
        inputs: {
          lhs: array(dtype, [m, k]).block([m, bm], [0, columns.i]),
          dout: array(dtype, [m, n]).block([m, bn], [0, columns.j]),
          group_sizes: sizes,
        },
        outputs: {
          drhs: array(dtype, [groups, k, n]).block([squeezed, bm, bn], [columns.group, columns.i, columns.j]),
        },
      },
      ({ lhs, dout, group_sizes, drhs }) => {
        const start = loop({ to: columns.group, carry: zeros(i32, []) }, (i, sum) => sum.add(group_sizes.at(i).load()));
        const end = start.add(group_sizes.at(columns.group).load());
        const steps = cdiv(maximum(minimum(end, m).sub(start), 0), bk);
        const product = loop({ to: steps, carry: zeros(f32, [bm, bn]) }, (t, sum) => {
          const from = start.add(t.mul(bk));
          const mine = from
            .add(iota([bk]))
            .lt(end)
            .expand(1);
          const left = select(mine, lhs.at(ds(from, bk), all).load(), 0);
          return sum.add(dot(left.transpose(), select(mine, dout.at(ds(from, bk), all).load(), 0)));
        });
        drhs.store(product.to(dtype));
      },
    );
    return sequence({ temps: {} }, [forward, gradient]);
  },
);

export const cases: OracleCases = { id: 21, settings: ({ dtype }) => ({ params: { dtype } }) };
