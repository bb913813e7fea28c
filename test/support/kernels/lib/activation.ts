import { type F32, loop, maximum, type Rank, type Tile } from 'tilewright';

export function relu<R extends Rank>(x: Tile<F32, R>): Tile<F32, R> {
  return maximum(x, 0) as Tile<F32, R>;
}

const twice = <R extends Rank>(x: Tile<F32, R>): Tile<F32, R> => x.add(x) as Tile<F32, R>;

/** x · 2^times. */
export function doubled<R extends Rank>(x: Tile<F32, R>, times: number): Tile<F32, R> {
  return loop({ to: times, carry: x }, (_, y) => twice(y));
}
