/** The examples in float64, straight from their formulas: what every back end is compared with. */

/** Row-major float64 array. */
export interface Reference {
  readonly shape: readonly number[];
  readonly values: Float64Array;
}

const make = (shape: readonly number[], at: (i: number) => number): Reference => ({
  shape,
  values: Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => at(i)),
});

export function vectorAdd(x: Float64Array, y: Float64Array): Reference {
  return make([x.length], (i) => x[i]! + y[i]!);
}

export function softmax(x: Float64Array, m: number, n: number): Reference {
  const values = new Float64Array(m * n);
  for (let row = 0; row < m; row++) {
    const line = x.subarray(row * n, (row + 1) * n);
    const top = line.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    const e = line.map((v) => Math.exp(v - top));
    const sum = e.reduce((a, b) => a + b, 0);
    values.set(
      e.map((v) => v / sum),
      row * n,
    );
  }
  return { shape: [m, n], values };
}

export function layerNorm(
  x: Float64Array,
  w: Float64Array,
  b: Float64Array,
  eps: number,
  m: number,
  n: number,
): Reference {
  const values = new Float64Array(m * n);
  for (let row = 0; row < m; row++) {
    const line = x.subarray(row * n, (row + 1) * n);
    const mean = line.reduce((a, v) => a + v, 0) / n;
    const variance = line.reduce((a, v) => a + (v - mean) ** 2, 0) / n;
    values.set(
      line.map((v, i) => ((v - mean) / Math.sqrt(variance + eps)) * w[i]! + b[i]!),
      row * n,
    );
  }
  return { shape: [m, n], values };
}

export function matmul(a: Float64Array, b: Float64Array, m: number, n: number, k: number): Reference {
  const values = new Float64Array(m * n);
  for (let i = 0; i < m; i++)
    for (let p = 0; p < k; p++) {
      const x = a[i * k + p]!;
      for (let j = 0; j < n; j++) values[i * n + j]! += x * b[p * n + j]!;
    }
  return { shape: [m, n], values };
}

export function attention(
  q: Float64Array,
  k: Float64Array,
  v: Float64Array,
  scale: number,
  { h, s, d, causal }: { h: number; s: number; d: number; causal: boolean },
): Reference {
  const values = new Float64Array(h * s * d);
  for (let head = 0; head < h; head++) {
    const at = head * s * d;
    for (let i = 0; i < s; i++) {
      const seen = causal ? i + 1 : s;
      const score = Float64Array.from({ length: seen }, (_, j) => {
        let sum = 0;
        for (let c = 0; c < d; c++) sum += q[at + i * d + c]! * k[at + j * d + c]!;
        return sum * scale;
      });
      const weights = softmax(score, 1, seen).values;
      for (let c = 0; c < d; c++) {
        let sum = 0;
        for (let j = 0; j < seen; j++) sum += weights[j]! * v[at + j * d + c]!;
        values[at + i * d + c] = sum;
      }
    }
  }
  return { shape: [h, s, d], values };
}

export function histogram(x: Float64Array, bins: number): Reference {
  const values = new Float64Array(bins);
  // The kernel multiplies in f32; a value just below an edge may round onto it.
  for (const v of x) values[Math.min(bins - 1, Math.max(0, Math.floor(Math.fround(Math.fround(v) * bins))))]! += 1;
  return { shape: [bins], values };
}
