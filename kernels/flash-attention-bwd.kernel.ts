import {
  all,
  array,
  bf16,
  blockProgram,
  cdiv,
  type DType,
  dim,
  dot,
  ds,
  dtypes,
  f16,
  f32,
  grid,
  type Index,
  iota,
  kernel,
  loop,
  minimum,
  perTarget,
  scalar,
  select,
  sequence,
  squeezed,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Blocks that fit the registers of a GPU; smaller ones for f32, which few have matrix instructions for. */
const gpuBlocks = ({ dtype }: { dtype: DType }) => (dtype === f32 ? { bq: 16, bk: 16 } : { bq: 32, bk: 32 });

/**
 * Gradient of causal attention o[b, hq, s, d] = softmax(scale · q kᵀ) v, from o and lse[b, hq, s] of the forward pass (Dao et
 * al., FlashAttention). With P = exp(scale · q kᵀ - lse) and D[b, hq, s] = Σ do · o: dS = P (do vᵀ - D), dq = scale dS k,
 * dk = scale dSᵀ q and dv = Pᵀ do. Heads are grouped: the hq / hkv query heads of one head of k and v are summed in dk and
 * dv. `bd` is at least d.
 *
 * Three launches: D; dq, a block of queries over the keys that it sees; dk and dv, a block of keys over the queries that see
 * it. P is computed twice, and each result is written by one program: no atomics, the same bits in every run.
 */
export const flashAttentionBwd = kernel(
  'flash_attention_bwd',
  perTarget({ cuda: gpuBlocks, hip: gpuBlocks }, { dtype: dtypes(f16, bf16, f32), bq: 64, bk: 64, bd: 64 }),
  ({ dtype, bq, bk, bd }) => {
    const [b, hq, hkv, s, d] = [dim('b'), dim('hq'), dim('hkv'), dim('s'), dim('d', { max: bd })];
    const heads = hq.div(hkv);
    const queryGrid = grid({ b, h: hq, i: cdiv(s, bq) });
    const queries = array(dtype, [b, hq, s, d]);
    const queryRows = queries.block([squeezed, squeezed, bq, bd], [queryGrid.b, queryGrid.h, queryGrid.i, 0]);
    const perQuery = array(f32, [b, hq, s]);
    const querySums = perQuery.block([squeezed, squeezed, bq], [queryGrid.b, queryGrid.h, queryGrid.i]);
    const keys = array(dtype, [b, hkv, s, d]);
    /** Whether each of a block of queries sees each of a block of keys. */
    const seen = (query: Index, key: Index) =>
      query
        .add(iota([bq]))
        .expand(1)
        .ge(key.add(iota([bk])));

    const rowSums = blockProgram(
      { grid: queryGrid, inputs: { do: queryRows, o: queryRows }, outputs: { row_sums: querySums } },
      ({ do: up, o, row_sums }) => {
        row_sums.store(up.load().to(f32).mul(o.load().to(f32)).sum(1));
      },
    );

    const keyHead = keys.block([squeezed, squeezed, s, bd], [queryGrid.b, queryGrid.h.div(heads), 0, 0]);
    const ofQueries = blockProgram(
      {
        grid: queryGrid,
        inputs: {
          q: queryRows,
          k: keyHead,
          v: keyHead,
          scale: scalar(f32),
          do: queryRows,
          lse: querySums,
          row_sums: querySums,
        },
        outputs: { dq: queryRows },
      },
      ({ q, k, v, scale, do: up, lse, row_sums, dq }) => {
        const [query, upstream, first] = [q.load(), up.load(), queryGrid.i.mul(bq)];
        const [log, sums] = [lse.load().expand(1), row_sums.load().expand(1)];
        const to = cdiv(minimum(s, first.add(bq)), bk);
        const sum = loop({ to, carry: zeros(f32, [bq, bd]) }, (j, sum) => {
          const part = ds(j.mul(bk), bk);
          const key = k.at(part, all).load();
          const score = dot(query, key.transpose()).mul(scale).sub(log);
          const p = select(seen(first, j.mul(bk)), score.exp(), 0);
          const gradient = p.mul(dot(upstream, v.at(part, all).load().transpose()).sub(sums));
          return sum.add(dot(gradient.to(dtype), key));
        });
        dq.store(sum.mul(scale).to(dtype));
      },
    );

    const keyGrid = grid({ b, h: hkv, j: cdiv(s, bk) });
    const keyRows = keys.block([squeezed, squeezed, bk, bd], [keyGrid.b, keyGrid.h, keyGrid.j, 0]);
    const group = queries.block([squeezed, heads, s, bd], [keyGrid.b, keyGrid.h, 0, 0]);
    const groupSums = perQuery.block([squeezed, heads, s], [keyGrid.b, keyGrid.h, 0]);
    const ofKeys = blockProgram(
      {
        grid: keyGrid,
        inputs: {
          q: group,
          k: keyRows,
          v: keyRows,
          scale: scalar(f32),
          do: group,
          lse: groupSums,
          row_sums: groupSums,
        },
        outputs: { dk: keyRows, dv: keyRows },
      },
      ({ q, k, v, scale, do: up, lse, row_sums, dk, dv }) => {
        const [key, value, first] = [k.load(), v.load(), keyGrid.j.mul(bk)];
        const from = first.div(bq);
        const start = { dk: zeros(f32, [bk, bd]), dv: zeros(f32, [bk, bd]) };
        const sums = loop({ to: heads, carry: start }, (head, carry) =>
          loop({ from, to: cdiv(s, bq), carry }, (i, { dk, dv }) => {
            const part = ds(i.mul(bq), bq);
            const [query, upstream] = [q.at(head, part, all).load(), up.at(head, part, all).load()];
            const score = dot(query, key.transpose()).mul(scale).sub(lse.at(head, part).load().expand(1));
            const p = select(seen(i.mul(bq), first), score.exp(), 0);
            const inner = dot(upstream, value.transpose()).sub(row_sums.at(head, part).load().expand(1));
            const gradient = p.mul(inner).to(dtype);
            return {
              dk: dk.add(dot(gradient.transpose(), query)),
              dv: dv.add(dot(p.to(dtype).transpose(), upstream)),
            };
          }),
        );
        dk.store(sums.dk.mul(scale).to(dtype));
        dv.store(sums.dv.to(dtype));
      },
    );
    return sequence({ temps: { row_sums: perQuery } }, [rowSums, ofQueries, ofKeys]);
  },
);

export const cases: OracleCases = { id: 26, settings: ({ dtype }) => ({ params: { dtype } }) };
