/** Which hosts differ from the others. Pure. */
import { median } from '../../../src/model/numbers.ts';

export interface HostValues {
  readonly host: string;
  /** By bin; NaN where nothing was measured. */
  readonly values: ArrayLike<number>;
}

export interface Distance {
  readonly host: string;
  readonly mean: number;
  /** Mean distance between the host and the median host over the window, in the metric's unit. */
  readonly distance: number;
  /** The same with its sign: above or below the median host. */
  readonly signed: number;
  readonly isOutlier: boolean;
}

/** The rule in words. */
export const RULE =
  'Distance: mean over the window of |host - median of all hosts at that moment|. An outlier is further away than four times the median distance, and than 5 % of the median host';

const TIMES = 4;
const LEAST_SHARE = 0.05;
/** With fewer hosts nobody can tell which one is the outlier. */
export const LEAST_HOSTS = 3;

/** The median host: for each bin, the median of the hosts measured there. */
export function medianHost(hosts: readonly HostValues[]): Float64Array {
  const bins = hosts[0]?.values.length ?? 0;
  const middle = new Float64Array(bins);
  const there: number[] = [];
  for (let bin = 0; bin < bins; bin++) {
    there.length = 0;
    for (const { values } of hosts) if (!Number.isNaN(values[bin])) there.push(values[bin]);
    middle[bin] = median(there);
  }
  return middle;
}

/** Of each host, in the given order. */
export function distancesOf(hosts: readonly HostValues[]): readonly Distance[] {
  const middle = medianHost(hosts);
  const plain = hosts.map(({ host, values }) => {
    let [sum, far, signed, count] = [0, 0, 0, 0];
    for (let bin = 0; bin < middle.length; bin++) {
      const value = values[bin];
      if (Number.isNaN(value)) continue;
      sum += value;
      far += Math.abs(value - middle[bin]);
      signed += value - middle[bin];
      count++;
    }
    const over = (total: number) => (count === 0 ? Number.NaN : total / count);
    return { host, mean: over(sum), distance: over(far), signed: over(signed) };
  });
  const known = plain.filter(({ distance }) => !Number.isNaN(distance));
  const usual = median(known.map(({ distance }) => distance));
  const level = median([...middle].filter((value) => !Number.isNaN(value)).map(Math.abs));
  const most = Math.max(TIMES * usual, LEAST_SHARE * level);
  return plain.map((one) => ({
    ...one,
    isOutlier: known.length >= LEAST_HOSTS && one.distance > most,
  }));
}

export type HostOrder = 'distance' | 'name' | 'high' | 'low';

/** Hosts about which nothing is known come last. */
export function ordered(distances: readonly Distance[], order: HostOrder): readonly Distance[] {
  const last = (value: number) => (Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value);
  const byName = (a: Distance, b: Distance) =>
    a.host.localeCompare(b.host, 'en', { numeric: true });
  const key: Readonly<Record<HostOrder, (one: Distance) => number>> = {
    distance: ({ distance }) => last(distance),
    high: ({ mean }) => last(mean),
    low: ({ mean }) => last(-mean),
    name: () => 0,
  };
  return [...distances].sort((a, b) => key[order](b) - key[order](a) || byName(a, b));
}
