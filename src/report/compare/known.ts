/** What is compared of PEs, KPs and LPs: ratios of sums of their columns. */
import {
  ACTIVITIES,
  COMMITTED_RATE,
  type Measure as Declared,
  EFFICIENCY,
  ROLLED_BACK_SHARE,
  SECONDARY_SHARE,
  type Weights,
} from '../../model/measures/index.ts';
import type { ComparedMeasure } from './measures.ts';

export const WORK = ['events_processed', 'events_rolled_back'];
export const COMMITTED: Weights = { events_processed: 1, events_rolled_back: -1 };

export interface Known {
  readonly good: Declared['good'];
  readonly key: string;
  readonly unit: string;
  readonly isSampled?: true;
  /** Factor of the numerator, a weighted sum of columns. */
  readonly factor: number;
  readonly of: Weights;
  /** The denominator: columns, the time, or samples that have the column; a total has none. */
  readonly per: Weights | 'second' | 'sample' | 'total';
}

const known = ({ label, unit, good, of, per, factor }: Declared): Known => ({
  ...{ key: label, good },
  unit: unit.replace(/^\{(\w+)\}/, '$1s'),
  ...{ factor, of, per: per === null ? 'total' : per === 'seconds' ? 'second' : per },
});

const mean = (key: string, unit: string, column: string): Known => ({
  ...{ key, unit, good: null, factor: 1, of: { [column]: 1 }, per: 'sample' },
});

const total = (key: string, of: Weights, good: Known['good'] = null): Known => ({
  ...{ key, unit: 'in all', good, factor: 1, of, per: 'total' },
});

export const KNOWN: readonly Known[] = [
  ...[COMMITTED_RATE, EFFICIENCY, ROLLED_BACK_SHARE, SECONDARY_SHARE].map(known),
  ...ACTIVITIES.map((activity) => ({ ...known(activity), isSampled: true as const })),
  mean('pending events', 'events', 'priority_queue_size'),
  mean('ahead of GVT', 'virtual time', 'time_ahead_gvt'),
  total('committed events', COMMITTED),
  total('events handled', { events_processed: 1 }),
  total('events rolled back', { events_rolled_back: 1 }, 'less'),
  total('rollbacks', { total_rollbacks: 1 }, 'less'),
  total('events sent to other PEs', { network_sends: 1 }),
];

const rate = known(COMMITTED_RATE);
/** The number by whose course the end of a run's ramp is found. */
export const RAMP_KEY = `${rate.key} ${rate.unit}`;

/** Columns that a number is made of. */
export const needsOf = ({ of, per }: Known): readonly string[] => [
  ...new Set([...Object.keys(of), ...(typeof per === 'string' ? [] : Object.keys(per))]),
];

/** A weighed sum of columns, as SQL. */
export const weighedSql = (weights: Weights): string =>
  Object.entries(weights)
    .map(([key, weight]) => `${weight} * ${key}::DOUBLE`)
    .join(' + ');

/** A sample's parts of the two sums, as SQL. */
export function sqlOf(one: Known): ComparedMeasure {
  const { key, unit, good, isSampled, factor, of, per } = one;
  const count = factor === 1 ? weighedSql(of) : `${factor} * (${weighedSql(of)})`;
  const below =
    per === 'sample'
      ? `(${needsOf(one)[0]} IS NOT NULL)::INTEGER`
      : typeof per === 'string'
        ? per
        : weighedSql(per);
  return { key, unit, good, count, per: below, ...(isSampled && { isSampled }) };
}
