/** Hosts by day: turns the answer about an archive's hosts into a picture. Pure. */
import { DAY_SECONDS } from '../../../src/model/units.ts';
import type { HostDaysFacts } from '../../../src/view/facts/jobs.ts';

export const MEASURES = ['busy', 'flagged', 'efficiency'] as const;
export type DayMeasure = (typeof MEASURES)[number];

export const MEASURE_NAMES: Readonly<Record<DayMeasure, string>> = {
  busy: 'Time with jobs',
  flagged: 'Time of flagged jobs',
  efficiency: 'CPU efficiency of jobs',
};

type Column = readonly (number | null)[];

export interface HostRow {
  readonly host: string;
  /** By day: seconds with a job; of jobs; of flagged jobs; their efficiency. */
  readonly busy: Column;
  readonly seconds: Column;
  readonly flagged: Column;
  readonly efficiency: Column;
}

/** All days from the first to the last, those without any job among them. */
export interface HostDays {
  readonly days: readonly string[];
  /** Seconds since 1970 at which the first begins, and the last ends. */
  readonly from: number;
  readonly to: number;
  /** Seconds of each day that the archive's records span. */
  readonly lengths: readonly number[];
  readonly hosts: readonly HostRow[];
}

const second = (day: string): number => Date.parse(day) / 1000;

/** Including the hosts without such jobs, if the answer has these. Null if there are no days. */
export function hostDays({ days, lengths, hosts, idle }: HostDaysFacts): HostDays | null {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined || hosts === null) return null;
  const count = Math.round((second(last) - second(first)) / DAY_SECONDS) + 1;
  const place = new Map(days.map((day, k) => [day, k]));
  const all = Array.from({ length: count }, (_, k) =>
    new Date((second(first) + k * DAY_SECONDS) * 1000).toISOString().slice(0, 10),
  );
  const spread = (column: Column): Column => all.map((day) => column[place.get(day) ?? -1] ?? null);
  const none = all.map(() => null);
  return {
    days: all,
    from: second(first),
    to: second(first) + count * DAY_SECONDS,
    // A day in the middle is whole, whether there are jobs or not.
    lengths: all.map((day) => lengths[place.get(day) ?? -1] ?? DAY_SECONDS),
    hosts: [
      ...hosts.map(({ host, busy, seconds, flagged, efficiency }) => ({
        ...{ host, busy: spread(busy), seconds: spread(seconds) },
        ...{ flagged: spread(flagged), efficiency: spread(efficiency) },
      })),
      ...(idle ?? []).map((host) => ({
        ...{ host, busy: none, seconds: none, flagged: none, efficiency: none },
      })),
    ],
  };
}

const percentOf = (part: number, whole: number) => (whole > 0 ? (100 * part) / whole : Number.NaN);

/** A host's days in percent; NaN without a value. A host without jobs is 0 % busy, and its other values are unknown. */
export function valuesOf(
  row: HostRow,
  measure: DayMeasure,
  lengths: readonly number[],
): Float32Array {
  return Float32Array.from(lengths, (length, k) => {
    const jobs = row.seconds[k] ?? 0;
    if (measure === 'busy') return percentOf(row.busy[k] ?? 0, length);
    if (measure === 'flagged') return percentOf(row.flagged[k] ?? 0, jobs);
    return 100 * (row.efficiency[k] ?? Number.NaN);
  });
}

export interface Utilisation {
  /** By day, in percent of all hosts' time: with jobs that have flags, and with others. */
  readonly flagged: Float32Array;
  readonly others: Float32Array;
  /** Over all days, 0 to 1. */
  readonly busyShare: number;
  /** Of the time of jobs. */
  readonly flaggedShare: number;
}

/** Where several jobs are on a host at a time, its time is that of flagged ones by their seconds. */
export function utilisationOf({ hosts, lengths }: HostDays): Utilisation {
  let [busyAll, flaggedAll, there] = [0, 0, 0];
  const [flagged, others] = [new Float32Array(lengths.length), new Float32Array(lengths.length)];
  lengths.forEach((length, k) => {
    let [busy, doubted] = [0, 0];
    for (const host of hosts) {
      const [own, jobs] = [host.busy[k] ?? 0, host.seconds[k] ?? 0];
      busy += own;
      if (jobs > 0) doubted += own * ((host.flagged[k] ?? 0) / jobs);
    }
    flagged[k] = percentOf(doubted, hosts.length * length);
    others[k] = percentOf(busy - doubted, hosts.length * length);
    busyAll += busy;
    flaggedAll += doubted;
    there += hosts.length * length;
  });
  return {
    ...{ flagged, others, busyShare: there > 0 ? busyAll / there : Number.NaN },
    flaggedShare: busyAll > 0 ? flaggedAll / busyAll : Number.NaN,
  };
}

export type HostDayOrder = 'name' | 'most' | 'least';

/** Rows by their mean over all days; those of which nothing is known last. */
export function ordered<R extends { readonly label: string; readonly mean: number }>(
  rows: readonly R[],
  order: HostDayOrder,
): readonly R[] {
  const byName = (a: R, b: R) => a.label.localeCompare(b.label, 'en', { numeric: true });
  const way = order === 'most' ? -1 : 1;
  return rows.toSorted((a, b) => {
    if (order === 'name') return byName(a, b);
    const [x, y] = [Number.isNaN(a.mean), Number.isNaN(b.mean)];
    if (x || y) return Number(x) - Number(y) || byName(a, b);
    return way * (a.mean - b.mean) || byName(a, b);
  });
}
