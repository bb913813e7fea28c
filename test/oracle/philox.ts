/** Philox-4x32 with 10 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3), in big integers. */

const [multiplier0, multiplier1] = [0xd2511f53n, 0xcd9e8d57n];
const [weyl0, weyl1] = [0x9e3779b9n, 0xbb67ae85n];
const low = (x: bigint): bigint => x & 0xffffffffn;

/** The four words of a counter under a key. */
export function philox(counter: readonly number[], key: readonly number[]): number[] {
  let [a, b, c, d] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  for (let round = 0; round < 10; round++) {
    const [p, q] = [a * multiplier0, c * multiplier1];
    [a, b, c, d] = [(q >> 32n) ^ b ^ k0, low(q), (p >> 32n) ^ d ^ k1, low(p)];
    [k0, k1] = [low(k0 + weyl0), low(k1 + weyl1)];
  }
  return [a, b, c, d].map(Number);
}
