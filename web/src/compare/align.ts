/** Matches moments of two runs, and puts B's samples on A's time axis. */
import type { EntityBins } from '../../../src/view/series/table.ts';
import { axisFor, type Clock } from '../axis.ts';

/** The quantity that is equal in A and B at one place of the axis. */
export type Match = 'share' | 'seconds' | 'virtual' | 'gvt' | 'regions';

export const MATCHES: Readonly<Record<Match, string>> = {
  share: 'share of each run',
  seconds: 'seconds since each run began',
  virtual: 'virtual time',
  gvt: 'GVT index',
  regions: 'regions entered so far',
};

/** What is known about a run's time. */
export interface Timing {
  /** First and last second of its samples. */
  readonly extent: readonly [number, number];
  /** How its clocks relate; null if it has only one. */
  readonly clock: Clock | null;
  /** By `virtual`: number of regions entered so far; null if that was not recorded. */
  readonly regions: Clock | null;
}

const clockOf = (match: Match, { clock, regions }: Timing) =>
  match === 'regions' ? regions : clock;

/** Ways of matching that both runs allow. */
export function matchesOf(a: Timing, b: Timing): Match[] {
  return (Object.keys(MATCHES) as Match[]).filter(
    (match) =>
      isLinear(match) || [a, b].every((one) => (clockOf(match, one)?.real.length ?? 0) > 1),
  );
}

const isLinear = (match: Match): boolean => match === 'share' || match === 'seconds';

/** Seconds of B that correspond to seconds of A. */
export function aligned(match: Match, a: Timing, b: Timing): (seconds: number) => number {
  const [first, last] = a.extent;
  const [begin, end] = b.extent;
  if (isLinear(match)) {
    const pace = match === 'share' ? (end - begin) / (last - first) : 1;
    return (seconds) => begin + (seconds - first) * pace;
  }
  const [inA, inB] = [a, b].map((one) =>
    axisFor(match === 'gvt' ? 'gvt' : 'virtual', clockOf(match, one)),
  );
  return (seconds) => inB.seconds(inA.of(seconds));
}

/** Bins of B that are requested for each bin of A where B's pace changes. */
const FINER = 4;

/** The stretch of B to request, in `count` bins, so that it covers [from, to) of A in `bins` bins. */
export interface Wanted {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** B's bins on A's axis. */
  place(values: Pick<EntityBins, 'mean'>): Float32Array;
}

export function wanted(
  match: Match,
  toB: (seconds: number) => number,
  [from, to]: readonly [number, number],
  bins: number,
): Wanted {
  const edges = Array.from({ length: bins + 1 }, (_, k) => toB(from + (k * (to - from)) / bins));
  const [begin, end] = [edges[0], edges[bins]];
  if (isLinear(match)) {
    return { from: begin, to: end, count: bins, place: ({ mean }) => Float32Array.from(mean) };
  }
  const count = FINER * bins;
  const wide = (end - begin) / count;
  const place = ({ mean }: Pick<EntityBins, 'mean'>) =>
    Float32Array.from({ length: bins }, (_, k) =>
      meanOver(mean, (edges[k] - begin) / wide, (edges[k + 1] - begin) / wide),
    );
  return { from: begin, to: end, count, place };
}

/** Mean of the measured values between two places, the outermost weighted by the part that is covered. */
function meanOver(values: ArrayLike<number>, from: number, to: number): number {
  const last = values.length - 1;
  let [sum, weight] = [0, 0];
  for (let k = Math.max(0, Math.floor(from)); k <= Math.min(last, Math.floor(to)); k++) {
    const part = Math.min(k + 1, to) - Math.max(k, from);
    if (Number.isNaN(values[k]) || !(part > 0)) continue;
    sum += part * values[k];
    weight += part;
  }
  return weight > 0
    ? sum / weight
    : (values[Math.min(last, Math.max(0, Math.floor(from)))] ?? Number.NaN);
}
