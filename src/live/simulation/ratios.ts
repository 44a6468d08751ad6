/** Shares that are worked out from two counters, at each level and in each window. */

export interface Ratio {
  readonly key: string;
  readonly unit: string;
  readonly help: string;
  /** Keys of the two counters. */
  readonly parts: readonly [string, string];
  of(one: number, other: number): number;
}

const PER_CENT = 100;

export const RATIOS: readonly Ratio[] = [
  {
    key: 'efficiency',
    unit: '%',
    help: '100 (1 - rolled back / net), net = handled - rolled back; 0 where net is not positive, below 0 where more is undone than kept',
    parts: ['events_processed', 'events_rolled_back'],
    of: (handled, undone) => {
      const net = handled - undone;
      // Nothing was done: neither well nor badly.
      if (Number.isNaN(net) || (handled === 0 && undone === 0)) return Number.NaN;
      return net > 0 ? PER_CENT * (1 - undone / net) : 0;
    },
  },
  {
    key: 'rolled_back_share',
    unit: '%',
    help: 'events undone for each 100 handled; what is undone may have been handled in an earlier moment, so that a peak can exceed 100',
    parts: ['events_processed', 'events_rolled_back'],
    of: (handled, undone) => (handled > 0 ? (PER_CENT * undone) / handled : Number.NaN),
  },
  {
    key: 'secondary_share',
    unit: '%',
    help: 'rollbacks by cancelled events for each 100 rollbacks',
    parts: ['total_rollbacks', 'secondary_rollbacks'],
    of: (all, secondary) => (all > 0 ? (PER_CENT * secondary) / all : Number.NaN),
  },
];
