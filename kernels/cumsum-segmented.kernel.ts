import { array, blockProgram, bool, dim, dtypes, f32, grid, i32, kernel, scan, select, squeezed } from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/**
 * Along each row of x[m, n]: cumsum, the running sum; segsum, which starts anew where `start` is true (that element
 * included); cummax, the running maximum. `block` is at least n.
 *
 * segsum is one scan with the operator (s, f) ∘ (t, g) = (g ? t : s + t, f | g), which is associative.
 */
export const cumsumSegmented = kernel(
  'cumsum_segmented',
  { dtype: dtypes(f32, i32), block: 1024 },
  ({ dtype, block }) => {
    const [m, n] = [dim('m'), dim('n', { max: block })];
    const g = grid({ row: m });
    const row = array(dtype, [m, n]).block([squeezed, block], [g.row, 0]);
    const flags = array(bool, [m, n]).block([squeezed, block], [g.row, 0]);
    return blockProgram(
      { grid: g, inputs: { x: row, start: flags }, outputs: { cumsum: row, segsum: row, cummax: row } },
      ({ x, start, cumsum, segsum, cummax }) => {
        const v = x.load();
        cumsum.store(v.cumsum(0) as never);
        const { sum } = scan({ sum: v, start: start.load() }, 0, (a, b) => ({
          sum: select(b.start, b.sum, a.sum.add(b.sum)),
          start: a.start.or(b.start),
        }));
        segsum.store(sum);
        cummax.store(v.cummax(0));
      },
    );
  },
);

export const cases: OracleCases = { id: 14, settings: ({ dtype }) => ({ params: { dtype } }) };
