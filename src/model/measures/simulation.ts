/** Measures of PEs, KPs and LPs: rates, shares, and the time of a PE by activity. */
import { PER_CENT } from '../units.ts';
import type { Measure } from './measure.ts';

export const HANDLED_RATE: Measure = {
  key: 'handled_rate',
  label: 'events handled',
  unit: '{event}/s',
  good: null,
  of: { events_processed: 1 },
  per: 'seconds',
  factor: 1,
  help: 'events handled in a second, those rolled back later included',
};

export const COMMITTED_RATE: Measure = {
  key: 'committed_rate',
  label: 'committed events',
  unit: '{event}/s',
  good: 'more',
  of: { events_processed: 1, events_rolled_back: -1 },
  per: 'seconds',
  factor: 1,
  help: 'events handled less those rolled back, in a second',
};

export const ROLLED_BACK_RATE: Measure = {
  key: 'rolled_back_rate',
  label: 'events rolled back',
  unit: '{event}/s',
  good: 'less',
  of: { events_rolled_back: 1 },
  per: 'seconds',
  factor: 1,
  help: 'events undone in a second',
};

/** ROSS's definition, 100 (1 - rolled back / net) with net = handled - rolled back, in one division. */
export const EFFICIENCY: Measure = {
  key: 'efficiency',
  label: 'efficiency',
  unit: '%',
  good: 'more',
  of: { events_processed: 1, events_rolled_back: -2 },
  per: { events_processed: 1, events_rolled_back: -1 },
  factor: PER_CENT,
  help: '100 (1 - rolled back / net), net = handled - rolled back, as in ROSS; below 0 where more is undone than kept, and not defined where net is not positive',
};

export const ROLLED_BACK_SHARE: Measure = {
  key: 'rolled_back_share',
  label: 'rolled back',
  unit: '%',
  good: 'less',
  of: { events_rolled_back: 1 },
  per: { events_processed: 1 },
  factor: PER_CENT,
  help: 'events undone for each 100 handled; what is undone may have been handled in an earlier moment, so that a peak can exceed 100',
};

export const SECONDARY_SHARE: Measure = {
  key: 'secondary_share',
  label: 'secondary rollbacks',
  unit: '%',
  good: 'less',
  of: { secondary_rollbacks: 1 },
  per: { total_rollbacks: 1 },
  factor: PER_CENT,
  help: 'rollbacks by cancelled events for each 100 rollbacks',
};

const activity = (
  key: string,
  label: string,
  columns: readonly string[],
  help: string,
  { good = 'less' as Measure['good'], estimate = false } = {},
): Measure => ({
  key,
  label,
  unit: '%',
  good,
  of: Object.fromEntries(columns.map((column) => [column, 1])),
  per: 'seconds',
  factor: PER_CENT,
  ...(estimate && { estimate: true as const }),
  help: `share of the PE’s time ${help}`,
});

/** The activities of a PE, from useful to lost. They do not overlap; the rest of its time is waiting, or not timed. */
export const ACTIVITIES: readonly Measure[] = [
  activity(
    'handlers',
    'event handlers',
    ['events_processed_time'],
    'in the model’s event handlers',
    { good: 'more', estimate: true },
  ),
  activity('queue', 'event queue', ['priority_queue_time'], 'in the queue of pending events', {
    estimate: true,
  }),
  activity(
    'rollback',
    'rolling back',
    ['rollback_time', 'cancel_q_time', 'events_aborted_time'],
    'undoing events and cancelling what they sent',
    { estimate: true },
  ),
  activity('gvt', 'GVT', ['gvt_time'], 'computing GVT, without the rollbacks in it'),
  activity(
    'fossil',
    'fossil collection',
    ['fossil_collect_time'],
    'committing events and reclaiming their memory',
  ),
  activity('read', 'network read', ['network_read_time'], 'taking events from other PEs'),
  activity('other', 'network other', ['network_other_time'], 'handing events to other PEs'),
];

/** Converts nanoseconds per second to per cent. */
const PER_CENT_OF_NANOSECONDS = 1e-7;

const threadShare = (
  key: string,
  label: string,
  column: string,
  good: Measure['good'],
  help: string,
): Measure => ({
  key,
  label,
  unit: '%',
  good,
  of: { [column]: 1 },
  per: 'seconds',
  factor: PER_CENT_OF_NANOSECONDS,
  help: `share of time ${help}`,
});

export const THREAD_RUNNING = threadShare(
  'thread_running',
  'its thread ran',
  'cpu_time',
  null,
  'in which a PE’s thread had a CPU',
);
export const THREAD_WAITING = threadShare(
  'thread_waiting',
  'its thread waited for a CPU',
  'run_queue_wait',
  'less',
  'in which a PE’s thread was ready to run while its CPU ran something else; the kernel counts a wait when it ends, so a peak can exceed 100',
);
