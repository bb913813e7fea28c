/** How the elements of an axis are taken: whole chunks in a loop, then what is left in pieces of powers of two. */

export interface Piece {
  readonly start: number;
  readonly width: number;
  readonly trips: number;
}

export const largestPower = (n: number): number => 2 ** Math.floor(Math.log2(Math.max(1, n)));

export function pieces(n: number, chunk: number): Piece[] {
  const list = [];
  let start = 0;
  for (let width = Math.min(chunk, largestPower(n)); start < n; width = Math.min(width, largestPower(n - start))) {
    const trips = Math.floor((n - start) / width);
    list.push({ start, width, trips });
    start += trips * width;
  }
  return list;
}
