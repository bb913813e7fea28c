/** A number of bytes for people: `723 B`, `14.3 kB`, `2.1 MB`. */
export const sizeText = (n: number): string =>
  n < 10_000
    ? `${n} B`
    : n < 10_000_000
      ? `${(n / 1000).toFixed(1)} kB`
      : n < 10_000_000_000
        ? `${(n / 1e6).toFixed(1)} MB`
        : `${(n / 1e9).toFixed(1)} GB`;
