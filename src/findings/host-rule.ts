/** Rules that compare one value of each host, or of its devices, from one table of raw stats, with thresholds. */
import { asRows, type FindingRule, graded, type Lacks, type Threshold } from './finding.ts';

/** A host, or a device of it, and its value. */
export interface HostValue {
  readonly host: string;
  /** For rules about devices. */
  readonly device: string;
  readonly value: number;
}

interface Source {
  /** Returns host, device and value, the highest value first. */
  readonly sql: string;
  /** Tables, or columns as `table.column`. */
  readonly needs: readonly string[];
  /** The sentence, without its full stop, if it differs from the rule's. */
  readonly says?: (one: HostValue) => string;
}

interface HostRule extends Omit<FindingRule, 'needs' | 'run'>, Source {
  /** Other tables with the same information, such as those of another vendor. */
  readonly also?: readonly Source[];
  readonly some: Threshold;
  readonly much: Threshold;
  /** The sentence, without its full stop. */
  says(one: HostValue): string;
}

/** The number of devices with a finding of their own; the others are in the evidence only. */
const MOST = 8;

export const hostRule = ({
  sql,
  needs,
  also = [],
  some,
  much,
  says,
  ...rule
}: HostRule): FindingRule => ({
  ...rule,
  // If there are several sources, one is enough.
  needs: also.length === 0 ? needs : [],
  async run({ recording, has }) {
    const there = [{ sql, needs }, ...also].filter((one) => one.needs.every(has));
    if (there.length === 0) return lacking([needs, ...also.map((one) => one.needs)]);
    const tables = await Promise.all(there.map((one) => recording.query<HostValue>(one.sql)));
    const found = tables.flatMap((rows, k) =>
      rows.flatMap((one) => {
        const severity = one.value === null ? null : graded(one.value, some, much);
        if (severity === null) return [];
        const own = asRows(rows.filter(({ host }) => host === one.host));
        const evidence = { sql: there[k].sql, rows: own };
        return [
          {
            value: one.value,
            says: {
              severity,
              sentence: `${(there[k].says ?? says)(one)}.`,
              evidence,
              advice: rule.knob,
            },
          },
        ];
      }),
    );
    return found
      .toSorted((a, b) => b.value - a.value)
      .slice(0, MOST)
      .map((one) => one.says);
  },
});

/** What a rule returns if none of its sources is there. */
export const lacking = (needs: readonly (readonly string[])[]): Lacks => ({
  lacks: needs.map((each) => each.join(' and ')).join(', or '),
});

/** SQL for the share of time of each host and device, from a counter of microseconds. */
export const shareOfTime = (table: string, column: string): string =>
  `SELECT host, device, sum(${column} * (t - t0)) / 1e6 / sum(t - t0) AS value
FROM ${table} WHERE ${column} IS NOT NULL GROUP BY host, device ORDER BY value DESC, host, device`;
