/** Finds who holds virtual time back, from the surface of the KPs' clocks. Runs in the server and in the page. */
import type { Heat } from './heat.ts';

interface Laggard {
  readonly row: string;
  /** Share of the bins in which no KP was less far ahead of GVT. */
  readonly share: number;
  /** Its mean distance from GVT, and the median KP's. */
  readonly ahead: number;
  readonly median: number;
  /** The KP that runs farthest ahead, and how far; null where it is the same: most often nearest, yet far ahead else. */
  readonly leader: string | null;
  readonly farthest: number;
}

/** Null if fewer than two rows were measured. Bins in which all are equal tell nothing. */
export function laggardOf({ rows, bins, values, totals }: Heat): Laggard | null {
  const there = [...rows.keys()].filter((row) => !Number.isNaN(totals[row]));
  if (there.length < 2) return null;
  const wins = new Uint32Array(rows.length);
  let counted = 0;
  for (let bin = 0; bin < bins; bin++) {
    let least = -1;
    let most = -1;
    for (const row of there) {
      const value = values[row * bins + bin];
      if (Number.isNaN(value)) continue;
      if (least < 0 || value < values[least * bins + bin]) least = row;
      if (most < 0 || value > values[most * bins + bin]) most = row;
    }
    if (least < 0 || values[least * bins + bin] === values[most * bins + bin]) continue;
    wins[least]++;
    counted++;
  }
  const byAhead = [...there].sort((a, b) => totals[a] - totals[b]);
  const worst = [...there].sort((a, b) => wins[b] - wins[a] || totals[a] - totals[b])[0];
  const leader = byAhead[byAhead.length - 1];
  return {
    row: rows[worst],
    share: counted === 0 ? 0 : wins[worst] / counted,
    ahead: totals[worst],
    median: totals[byAhead[byAhead.length >> 1]],
    leader: leader === worst ? null : rows[leader],
    farthest: totals[leader],
  };
}
