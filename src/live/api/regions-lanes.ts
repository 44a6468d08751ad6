/** Lanes: which region a CPU or a process was in, as spans, or as bins where there are more spans than pixels. */
import type { LaneSpan } from '../../view/facts/regions.ts';
import { STEP, type Steps } from '../../view/steps.ts';

/** Stretches of time, one after the other; `hashes[k]` from `times[k]` to `times[k + 1]`, the last to `end`. */
export interface LaneStretches {
  readonly times: Float64Array;
  readonly hashes: Uint32Array;
  readonly end: number;
}

/** The last index whose time is not after `at`; 0 where all are. */
function lastUpTo(times: Float64Array, at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Spans of equal hashes in [from, to); null where there are more than `most`. */
function* runs(
  lane: LaneStretches,
  from: number,
  to: number,
  most: number,
): Steps<LaneSpan[] | null> {
  const { times, hashes, end } = lane;
  const found: LaneSpan[] = [];
  let open = { from: 0, to: 0, hash: 0, share: 1 };
  for (let k = lastUpTo(times, from); k < times.length && times[k] < to; k++) {
    if (k % STEP === 0) yield STEP;
    const begin = Math.max(from, times[k]);
    const stop = Math.min(to, k + 1 < times.length ? times[k + 1] : end);
    if (!(stop > begin)) continue;
    if (found.length > 0 && open.hash === hashes[k] && open.to === begin) {
      open.to = stop;
      continue;
    }
    open = { from: begin, to: stop, hash: hashes[k], share: 1 };
    found.push(open);
    if (found.length > most) return null;
  }
  return found;
}

/** The region with the most time of each bin; bins with the same one are joined where it had all. */
function* binned(lane: LaneStretches, from: number, to: number, bins: number): Steps<LaneSpan[]> {
  const { times, hashes, end } = lane;
  const width = (to - from) / bins;
  const found: { from: number; to: number; hash: number; share: number }[] = [];
  const times_ = new Map<number, number>();
  let k = lastUpTo(times, from);
  for (let bin = 0; bin < bins; bin++) {
    const begin = from + bin * width;
    const stop = begin + width;
    times_.clear();
    for (let j = k; j < times.length && times[j] < stop; j++) {
      if (j % STEP === 0) yield STEP;
      const until = j + 1 < times.length ? times[j + 1] : end;
      const inside = Math.min(stop, until) - Math.max(begin, times[j]);
      if (inside > 0) times_.set(hashes[j], (times_.get(hashes[j]) ?? 0) + inside);
      if (until <= stop) k = j + 1;
      else k = j;
    }
    let [best, most, all] = [0, 0, 0];
    for (const [hash, time] of times_) {
      all += time;
      if (time > most) [best, most] = [hash, time];
    }
    if (all === 0) continue;
    const share = most / all;
    const before = found.at(-1);
    if (before !== undefined && before.hash === best && before.share === 1 && share === 1) {
      before.to = stop;
      continue;
    }
    found.push({ from: begin, to: stop, hash: best, share });
  }
  return found;
}

/** Spans of [from, to): exact where there are at most `bins` of them. */
export function* laneSpans(
  lane: LaneStretches,
  from: number,
  to: number,
  bins: number,
): Steps<LaneSpan[]> {
  if (lane.times.length === 0) return [];
  return (yield* runs(lane, from, to, bins)) ?? (yield* binned(lane, from, to, bins));
}
