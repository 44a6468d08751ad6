/** How evenly a job uses its hosts, and its time. */
import { type JobView, MissingInput } from '../view.ts';
import type { JobMetric, MetricFamily } from './metric.ts';

/** For each host, the mean share by which it is behind the busiest host of each interval. */
export function behindByHost(view: JobView): ReadonlyMap<string, number> {
  const rates = view.rates('cpu', 'user');
  const busiest: number[] = [];
  for (const values of rates.values()) {
    for (let k = 0; k < values.length; k++) busiest[k] = Math.max(busiest[k] ?? 0, values[k]);
  }
  const behind = new Map<string, number>();
  for (const [host, values] of rates) {
    let sum = 0;
    let count = 0;
    for (let k = 0; k < values.length; k++) {
      // An interval without any work is left out.
      if (!(busiest[k] > 0)) continue;
      sum += (busiest[k] - values[k]) / busiest[k];
      count++;
    }
    if (count === 0) throw new MissingInput('an interval in which a host worked in user mode');
    behind.set(host, sum / count);
  }
  return behind;
}

/** The trapezoid rule over `values[from, to)` at `at`. */
function integral(values: Float64Array, at: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let k = from; k + 1 < to; k++) {
    sum += ((values[k] + values[k + 1]) / 2) * (at[k + 1] - at[k]);
  }
  return sum;
}

/** Intervals at either end at which no cut is made: the start and the end of a job are not catastrophes. */
const ENDS = 2;

/** The least ratio of a host's mean rate after a cut to that before it, over all cuts and hosts. */
export function leastAfterBefore(view: JobView): number {
  const { times } = view;
  const rates = view.rates('cpu', 'user');
  const middles = new Float64Array(times.length - 1);
  for (let k = 0; k < middles.length; k++) middles[k] = (times[k] + times[k + 1]) / 2;
  const last = middles.length - 1;
  if (times.length <= 2 * ENDS) {
    throw new MissingInput(
      `record groups: it needs ${2 * ENDS + 1}, but there are ${times.length}`,
    );
  }
  let least = Number.POSITIVE_INFINITY;
  for (const values of rates.values()) {
    for (let cut = ENDS; cut < times.length - ENDS; cut++) {
      const before = integral(values, middles, 0, cut) / (middles[cut] - middles[0]);
      const after = integral(values, middles, cut, values.length) / (middles[last] - middles[cut]);
      const ratio = after / before;
      if (ratio < least) least = ratio;
    }
  }
  if (least === Number.POSITIVE_INFINITY) throw new MissingInput('user time before any cut');
  return least;
}

export const NODE_IMBALANCE: JobMetric = {
  name: 'node_imbalance',
  unit: '',
  formula:
    'max over hosts of the mean over intervals of (busiest host’s rate - rate) / busiest host’s rate, of user',
  inputs: ['cpu.user'],
  noQuotient: 'sets each host against the busiest one of each interval',
  compute: (view) => Math.max(...behindByHost(view).values()),
};

export const TIME_IMBALANCE: JobMetric = {
  name: 'time_imbalance',
  unit: '',
  formula:
    'min over hosts and cuts of mean rate of user after the cut / mean rate before it; cuts are at intervals, except two at either end; means by the trapezoid rule over the middles of intervals',
  inputs: ['cpu.user'],
  note: 'As in the original, the integral before the cut ends one interval earlier than the time it is divided by: an even job has a little more than 1.',
  noQuotient: 'looks for the cut in time at which a host’s rate falls most',
  compute: leastAfterBefore,
};

export const BALANCE: MetricFamily = {
  title: 'Balance',
  set: 'summary',
  metrics: [NODE_IMBALANCE, TIME_IMBALANCE],
};
