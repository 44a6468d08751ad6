/** Rules about what hosts, or their devices, tell in one table of raw stats: a value of each against thresholds. */
import { asRows, type FindingRule, graded, type Threshold } from './finding.ts';

/** A host, or a device of it, and its value. */
export interface HostValue {
  readonly host: string;
  /** Of rules about devices. */
  readonly device: string;
  readonly value: number;
}

interface HostRule extends Omit<FindingRule, 'needs' | 'run'> {
  /** Gives host, device and value, the highest first. */
  readonly sql: string;
  readonly needs: readonly string[];
  readonly some: Threshold;
  readonly much: Threshold;
  /** The sentence, without its full stop. */
  says(one: HostValue): string;
}

/** Devices with a finding of their own; the others are in the evidence. */
const MOST = 8;

export const hostRule = ({ sql, some, much, says, ...rule }: HostRule): FindingRule => ({
  ...rule,
  async run({ recording }) {
    const rows = await recording.query<HostValue>(sql);
    const found = rows.flatMap((one) => {
      const severity = one.value === null ? null : graded(one.value, some, much);
      if (severity === null) return [];
      const evidence = { sql, rows: asRows(rows.filter(({ host }) => host === one.host)) };
      return [{ severity, sentence: `${says(one)}.`, evidence, advice: rule.knob }];
    });
    return found.slice(0, MOST);
  },
});

/** SQL of a share of time from a counter of microseconds, of each host and device. */
export const shareOfTime = (table: string, column: string): string =>
  `SELECT host, device, sum(${column} * (t - t0)) / 1e6 / sum(t - t0) AS value
FROM ${table} WHERE ${column} IS NOT NULL GROUP BY host, device ORDER BY value DESC, host, device`;
