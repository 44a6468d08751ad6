// A cost model of runs over MPI, fitted to measured ones, and what it predicts for more PEs.
//
//   wall time of a rank = a · events + b · remote events + m · batches + c · GVTs + w
//
// w is what a run takes to get going (its code is compiled meanwhile): runs of several lengths tell it from the rest.
//
// Past two ranks: events for other PEs spread over more of them, so that a batch holds fewer; a reduction has log2(P)
// steps instead of one. What it leaves out: rollbacks, which depend on the model, and ranks that wait for the slowest.

/** Solves the square system A x = y; null where it has no single solution. */
function solve(A, y) {
  const n = y.length;
  const rows = A.map((row, k) => [...row, y[k]]);
  for (let c = 0; c < n; c++) {
    const pivot = rows
      .slice(c)
      .reduce((best, row, k) => (Math.abs(row[c]) > Math.abs(rows[best][c]) ? c + k : best), c);
    if (Math.abs(rows[pivot][c]) < 1e-30) return null;
    [rows[c], rows[pivot]] = [rows[pivot], rows[c]];
    for (let r = 0; r < n; r++) {
      if (r === c) continue;
      const factor = rows[r][c] / rows[c][c];
      for (let k = c; k <= n; k++) rows[r][k] -= factor * rows[c][k];
    }
  }
  return rows.map((row, k) => row[n] / row[k]);
}

const NAMES = ['event', 'remote', 'batch', 'gvt', 'start'];

/** Least squares of relative errors, with no cost below 0: the best of all subsets of costs. */
export function fitCosts(runs) {
  const all = NAMES.map((_, k) => k);
  const features = runs.map(({ events, remote, batches, gvts, seconds }) =>
    [events, remote, batches, gvts, 1].map((v) => v / seconds),
  );
  let best = null;
  for (let subset = 1; subset < 1 << all.length; subset++) {
    const used = all.filter((k) => subset & (1 << k));
    const A = used.map((i) => used.map((k) => features.reduce((sum, f) => sum + f[i] * f[k], 0)));
    const x = solve(
      A,
      used.map((i) => features.reduce((sum, f) => sum + f[i], 0)),
    );
    if (x === null || x.some((v) => !(v >= 0))) continue;
    const cost = all.map((k) => (used.includes(k) ? x[used.indexOf(k)] : 0));
    const errors = features.map((f) => Math.abs(f.reduce((sum, v, k) => sum + v * cost[k], 0) - 1));
    const total = errors.reduce((sum, e) => sum + e * e, 0);
    if (best === null || total < best.total) best = { total, cost, errors };
  }
  const errors = [...best.errors].sort((p, q) => p - q);
  return {
    ...Object.fromEntries(NAMES.map((name, k) => [name, best.cost[k]])),
    medianError: errors[errors.length >> 1],
    worstError: errors.at(-1),
  };
}

/** Different PEs among `k` events for `others` PEs, drawn evenly. */
const distinct = (k, others) => (others < 1 ? 0 : others * (1 - (1 - 1 / others) ** k));

/** As the transport: milliseconds' worth of turns that events may be held back, and turns at most. */
const HOLD = 40e-6;
const MOST_HELD = 8;

/**
 * Seconds per event on `pes` PEs.
 * @param load remote: share of events for an LP drawn from all; batch: events per turn; gvtInterval: turns per GVT;
 *   reductions: per GVT; hop: seconds that a step of a reduction takes between machines
 */
export function predict(costs, load, pes) {
  const share = (load.remote * (pes - 1)) / pes;
  const held = Math.max(1, Math.min(MOST_HELD, Math.floor(HOLD / (load.batch * costs.event))));
  const perSend = load.batch * held * share;
  const batches = distinct(perSend, pes - 1);
  const steps = Math.ceil(Math.log2(pes));
  const parts = {
    event: costs.event,
    remote: costs.remote * share,
    batch: (costs.batch * batches) / (load.batch * held),
    gvt:
      (costs.gvt + load.reductions * load.hop * Math.max(0, steps - 1)) /
      (load.batch * load.gvtInterval),
  };
  const seconds = parts.event + parts.remote + parts.batch + parts.gvt;
  return { pes, seconds, parts, perBatch: batches === 0 ? 0 : perSend / batches };
}
