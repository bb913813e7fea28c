/** Tables of benchmarks: both sides in one interleaved run, ratios pair by pair. */

import { writeFileSync } from 'node:fs';

export const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

export const geometricMean = (list) => Math.exp(list.reduce((sum, x) => sum + Math.log(x), 0) / list.length);

/**
 * One row: our time against the better peer's, both medians, and the spread of the ratio over the rounds.
 * `samples` maps each side to its times in nanoseconds, one per round.
 */
export function row(name, ours, peers) {
  const best = Object.entries(peers).sort(([, a], [, b]) => median(a) - median(b))[0];
  const ratios = ours.map((t, i) => best[1][i] / t);
  return {
    name,
    metric: 'time',
    ours: median(ours),
    peer: median(best[1]),
    peerName: best[0],
    unit: 'ns',
    ratio: median(best[1]) / median(ours),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}

export function print(rows, rate) {
  const lines = [
    '| case | ours | peer | ratio (peer time / ours) | over the rounds |',
    '|---|---|---|---|---|',
    ...rows.map(
      (r) =>
        `| ${r.name} | ${rate(r.name, r.ours)} | ${rate(r.name, r.peer)} (${r.peerName}) | ${r.ratio.toFixed(2)} | ${r.spread.map((x) => x.toFixed(2)).join(' … ')} |`,
    ),
  ];
  const text = `${lines.join('\n')}\n`;
  process.stdout.write(text);
  return text;
}

/** `--json FILE`: the rows for other programs. */
export function writeJson(rows) {
  const at = process.argv.indexOf('--json');
  if (at < 0) return;
  const plain = rows.map(({ name, metric, ours, peer, peerName, unit, spread }) => ({
    name,
    metric,
    ours,
    peer,
    peerName,
    unit,
    spread,
  }));
  writeFileSync(process.argv[at + 1], `${JSON.stringify({ rows: plain }, null, 2)}\n`);
}
