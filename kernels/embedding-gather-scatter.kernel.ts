import {
  array,
  atomic,
  bf16,
  blockProgram,
  cdiv,
  dim,
  dtypes,
  f16,
  f32,
  gather,
  grid,
  i32,
  iota,
  kernel,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/**
 * Rows of table[v, d] by number, y[t, d] = table[idx[t]], and the gradient back: dtable[v, d] is zero but for
 * dtable[idx[t]] += grad[t], in f32. Numbers repeat, so their rows are added to atomically, in any order.
 */
export const embeddingGatherScatter = kernel(
  'embedding_gather_scatter',
  { dtype: dtypes(f32, f16, bf16), bt: 16, bd: 128 },
  ({ dtype, bt, bd }) => {
    const [v, d, t] = [dim('v'), dim('d'), dim('t')];
    const g = grid({ i: cdiv(t, bt), j: cdiv(d, bd) });
    const rows = array(dtype, [t, d]).block([bt, bd], [g.i, g.j]);
    return blockProgram(
      {
        grid: g,
        inputs: { table: array(dtype, [v, d]), idx: array(i32, [t]).block([bt], [g.i]), grad: rows },
        outputs: { y: rows, dtable: array(f32, [v, d]) },
        zeroed: ['dtable'],
      },
      ({ table, idx, grad, y, dtable }) => {
        const row = idx.load().expand(1).broadcastTo([bt, bd]);
        const column = g.j
          .mul(bd)
          .add(iota([bd]))
          .expand(0)
          .broadcastTo([bt, bd]);
        const mask = column.lt(d);
        y.store(gather(table, [row, column], { mask }));
        atomic.add(dtable.at(row, column), grad.load().to(f32), { mask });
      },
    );
  },
);

export const cases: OracleCases = { id: 13, settings: ({ dtype }) => ({ params: { dtype } }) };
