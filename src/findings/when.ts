/** When time was lost: the stretch of a run that has most of the loss. */

export interface LossWindow {
  readonly t0: number;
  readonly t: number;
  /** Share of the time, or any quantity per time; null if not measured. */
  readonly lost: number | null;
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Shares of a run: a longer stretch counts as the whole run; a stretch with a smaller share of the loss is ignored. */
const WHOLE = 0.8;
const MOST_OF_IT = 0.7;

/** The part of the run with the loss; null if that is the whole run, or if there is no such part. */
export function stretchOf(windows: readonly LossWindow[]): Stretch | null {
  const seconds = (one: LossWindow) => one.t - one.t0;
  const amount = (some: readonly LossWindow[]) =>
    some.reduce((total, one) => total + (one.lost ?? 0) * seconds(one), 0);
  const sorted = windows.map((one) => one.lost ?? 0).sort((a, b) => a - b);
  const half = (sorted[Math.floor(0.9 * sorted.length)] ?? 0) / 2;
  // The stretch with the largest sum of what exceeds half of the worst window's loss.
  const ordered = [...windows].sort((a, b) => a.t0 - b.t0);
  let [best, sum, from] = [0, 0, 0];
  let stretch: readonly LossWindow[] = [];
  ordered.forEach((one, k) => {
    if (sum <= 0) [sum, from] = [0, k];
    sum += ((one.lost ?? 0) - half) * seconds(one);
    if (sum > best) {
      best = sum;
      stretch = ordered.slice(from, k + 1);
    }
  });
  if (stretch.length === 0) return null;
  const [begin, end] = [stretch[0].t0, stretch[stretch.length - 1].t];
  const whole = windows.reduce((last, { t }) => Math.max(last, t), 0) - ordered[0].t0;
  if (end - begin > WHOLE * whole || amount(stretch) < MOST_OF_IT * amount(windows)) return null;
  return { from: begin, to: end };
}

/** “, from 1.20 to 2.35 s”; '' for the whole run. */
export const when = (stretch: Stretch | null): string =>
  stretch === null ? '' : `, from ${stretch.from.toFixed(2)} to ${stretch.to.toFixed(2)} s`;
