/**
 * The final statistics of a run: ROSS's fields, under ROSS's names, in ROSS's order. One table for the text
 * and for `ross.csv`. What has no counterpart here is null: “n/a” in text, empty in the file.
 */
import { ACTIVITIES, type Activity, COUNTERS } from '../sim/counters.ts';
import { KP_SHIFT } from '../sim/kp-layout.ts';
import type { RunResult } from '../sim/statistics.ts';

export interface StatisticsField {
  /** Name in the text; without one, the field is for the file only. */
  readonly label?: string;
  /** Column of `ross.csv`; without one, the field is for the text only. */
  readonly column?: string;
  /** How the text shows it; `int` by default. */
  readonly as?: 'int' | 'percent' | 'rate' | 'seconds' | 'text';
  /** Whether the text shows it for this run; always, by default. */
  readonly when?: (r: RunResult) => boolean;
  readonly value: (r: RunResult) => number | string | null;
}

interface StatisticsSection {
  readonly title: string | null;
  readonly fields: readonly StatisticsField[];
}

/** Whether events of other PEs come in messages: of all of them, where only some ranks share memory. */
export const overNetwork = (r: RunResult) => r.transport === 'mpi' && r.sharedMemory !== 'all';

/** Bytes of a PE's counters and times; of a KP's state, beside what undoing its events needs. */
const PE_TABLES_BYTES = 8 * (COUNTERS.length + ACTIVITIES.length);
const KP_STATE_BYTES = 4 << KP_SHIFT;
/** Bytes of an LP's two random streams; of its entries in the tables of ids, KPs and path lengths. */
const LP_STREAMS_BYTES = 64;
const LP_TABLES_BYTES = 12;
/** Bytes of an event record before its message. */
const EVENT_HEAD_BYTES = 56;

/** ROSS's rule: percentages of nothing are 0. */
const percent = (part: number, whole: number) => (whole > 0 ? (100 * part) / whole : 0);

/** The slowest PE's seconds, as ROSS prints; null where times were not kept. */
const slowest = (activity: Activity) => (r: RunResult) =>
  r.config.timing ? Math.max(0, ...r.perPe.map((p) => p.seconds[activity])) : null;

const seconds = (label: string, column: string, activity: Activity): StatisticsField => ({
  label,
  column,
  as: 'seconds',
  value: slowest(activity),
});

const several = (r: RunResult) => r.pes > 1;
const realTime = (r: RunResult) => r.config.synch === 'optimistic-realtime';

/** Title of what follows the times: where PEs agree on GVT. */
export const GVT_TITLE = 'TW GVT Statistics: shared memory';
/** The same over MPI, as ROSS has it. */
export const MPI_GVT_TITLE = 'TW GVT Statistics: MPI AllReduce';

export const STATISTICS: readonly StatisticsSection[] = [
  {
    title: 'ROSS Core Configuration',
    fields: [
      { label: 'Total PEs', column: 'total_pe', value: (r) => r.pes },
      { label: 'Total KPs', column: 'total_kp', value: (r) => r.kps },
      { label: 'Total LPs', column: 'total_lp', value: (r) => r.lps },
      { label: 'Simulation End Time', column: 'end_ts', as: 'text', value: (r) => r.end },
      { label: 'LP-to-PE Mapping', column: 'mapping', as: 'text', value: (r) => r.mapping },
      { column: 'model_events', value: () => null },
      { column: 'network_events', value: () => null },
      {
        column: 'total_events',
        value: (r) => Math.floor(r.config.maxMemory / Math.max(1, r.eventBytes)),
      },
      { column: 'runtime', as: 'seconds', value: (r) => r.wallSeconds },
    ],
  },
  {
    title: 'TW Library Statistics',
    fields: [
      {
        label: 'Total Events Processed',
        column: 'events_processed',
        value: (r) => r.eventsProcessed,
      },
      {
        label: 'Events Aborted (part of RBs)',
        column: 'events_aborted',
        value: (r) => r.eventsAborted,
      },
      { label: 'Events Rolled Back', column: 'events_rb', value: (r) => r.eventsRolledBack },
      {
        label: 'Event Ties Detected in PE Queues',
        column: 'pe_event_ties',
        value: (r) => r.eventTies,
      },
      {
        label: 'Minimum TS Offset Detected in Conservative Mode',
        as: 'seconds',
        when: (r) => r.config.synch === 'conservative',
        value: (r) => r.leastOffset,
      },
      { label: 'Efficiency', column: 'eff', as: 'percent', value: (r) => r.efficiency },
      {
        label: 'Total Remote (shared mem) Events Processed',
        column: 'send_loc_remote',
        value: (r) => (overNetwork(r) ? 0 : r.remoteEvents),
      },
      {
        label: 'Percent Remote Events',
        column: 'percent_loc',
        as: 'percent',
        value: (r) => (overNetwork(r) ? 0 : percent(r.remoteEvents, r.netEvents)),
      },
      {
        label: 'Total Remote (network) Events Processed',
        column: 'send_net_remote',
        value: (r) => (overNetwork(r) ? r.remoteEvents : 0),
      },
      {
        label: 'Percent Remote Events',
        column: 'percent_net',
        as: 'percent',
        value: (r) => (overNetwork(r) ? percent(r.remoteEvents, r.netEvents) : 0),
      },
    ],
  },
  {
    title: null,
    fields: [
      { label: 'Total Roll Backs', column: 'rb_total', value: (r) => r.totalRollbacks },
      { label: 'Primary Roll Backs', column: 'rb_primary', value: (r) => r.primaryRollbacks },
      { label: 'Secondary Roll Backs', column: 'rb_secondary', value: (r) => r.secondaryRollbacks },
      { label: 'Fossil Collect Attempts', column: 'fc_attempts', value: (r) => r.fossilCollects },
      { label: 'Total GVT Computations', column: 'num_gvt', value: (r) => r.gvtComputations },
    ],
  },
  {
    title: null,
    fields: [
      { label: 'Net Events Processed', column: 'net_events', value: (r) => r.netEvents },
      {
        label: 'Event Rate (events/sec)',
        column: 'event_rate',
        as: 'rate',
        value: (r) => r.eventRate,
      },
      {
        label: 'Total Events Scheduled Past End Time',
        column: 'events_past_end',
        value: (r) => r.eventsPastEnd,
      },
    ],
  },
  {
    title: 'TW Memory Statistics',
    fields: [
      { label: 'Events Allocated', column: 'event_alloc', value: (r) => r.peakEvents },
      {
        label: 'Memory Allocated (KB)',
        column: 'memory_alloc',
        value: (r) => Math.ceil((r.peakEvents * r.eventBytes + r.lps * r.lpBytes) / 1024),
      },
      { label: 'Memory Wasted (KB)', column: 'memory_wasted', value: () => null },
    ],
  },
  {
    title: 'TW Network Statistics',
    fields: [
      {
        label: 'Remote sends',
        column: 'remote_sends',
        when: several,
        value: (r) => r.remoteSends,
      },
      {
        label: 'Remote recvs',
        column: 'remote_recvs',
        when: several,
        value: (r) => r.remoteReceives,
      },
    ],
  },
  {
    title: 'TW Data Structure sizes in bytes (sizeof)',
    fields: [
      { label: 'PE struct', column: 'pe_struct', value: () => PE_TABLES_BYTES },
      { label: 'KP struct', column: 'kp_struct', value: () => KP_STATE_BYTES },
      { label: 'LP struct', column: 'lp_struct', value: () => LP_TABLES_BYTES },
      {
        label: 'LP Model struct',
        column: 'lp_model_struct',
        value: (r) => Math.max(0, r.lpBytes - LP_STREAMS_BYTES),
      },
      { label: 'LP RNGs', column: 'lp_rngs', value: () => LP_STREAMS_BYTES },
      { label: 'Total LP', column: 'total_lp_size', value: (r) => LP_TABLES_BYTES + r.lpBytes },
      { label: 'Event struct', column: 'event_struct', value: () => EVENT_HEAD_BYTES },
      {
        label: 'Event struct with Model',
        column: 'event_struct_model',
        value: (r) => r.eventBytes,
      },
    ],
  },
  {
    title: 'TW Clock Cycle Statistics (MAX values in secs; estimates: sampled)',
    fields: [
      seconds('Initialization', 'init_time', 'initialization'),
      seconds('Priority Queue (enq/deq)', 'pq_time', 'priorityQueue'),
      seconds('AVL Tree (insert/delete)', 'avl_time', 'avl'),
      seconds('LZ4 (de)compression', 'lz4_time', 'lz4'),
      seconds('Buddy system', 'buddy_time', 'buddy'),
      seconds('Event Processing', 'event_proc_time', 'eventProcess'),
      seconds('Event Cancel', 'event_cancel_time', 'cancelQueue'),
      seconds('Event Abort', 'event_abort_time', 'eventAbort'),
    ],
  },
  {
    title: null,
    fields: [
      seconds('GVT', 'gvt_time', 'gvt'),
      seconds('Fossil Collect', 'fc_time', 'fossilCollect'),
      seconds('Primary Rollbacks', 'primary_rb_time', 'rollback'),
      seconds('Network Read', 'net_read_time', 'networkRead'),
      seconds('Other Network', 'net_other_time', 'networkOther'),
      seconds('Instrumentation (computation)', 'inst_comp_time', 'instrumentation'),
      seconds('Instrumentation (write)', 'inst_write_time', 'instrumentationWait'),
      {
        label: 'Total Time (Note: Using Running Time above for Speedup)',
        column: 'total_time',
        as: 'seconds',
        value: (r) => r.totalSeconds,
      },
    ],
  },
  {
    title: GVT_TITLE,
    fields: [
      {
        label: 'GVT Interval',
        column: 'gvt_interval',
        value: (r) => (realTime(r) ? null : r.config.gvtInterval),
      },
      { label: 'GVT Real Time Interval (cycles)', value: () => null },
      {
        label: 'GVT Real Time Interval (sec)',
        column: 'gvt_realtime_interval',
        as: 'seconds',
        value: (r) => (realTime(r) ? r.config.gvtInterval / 1000 : null),
      },
      { label: 'Batch Size', column: 'batch', value: (r) => r.config.batch },
    ],
  },
  {
    title: null,
    fields: [
      { label: 'Forced GVT', column: 'forced_gvt', value: (r) => r.forcedGvts },
      { label: 'Total GVT Computations', value: (r) => r.gvtComputations },
      { label: 'Total All Reduce Calls', column: 'all_reduces', value: (r) => r.allReduces },
      {
        label: 'Average Reduction / GVT',
        as: 'rate',
        value: (r) => (r.gvtComputations > 0 ? r.allReduces / r.gvtComputations : null),
      },
    ],
  },
];

/** Columns of `ross.csv` past ROSS's own. */
export const MORE_COLUMNS: readonly StatisticsField[] = [
  { column: 'model', value: (r) => r.model },
  { column: 'synch', value: (r) => r.synch },
  { column: 'seed1', value: (r) => r.seed[0] },
  { column: 'seed2', value: (r) => r.seed[1] },
  { column: 'seed3', value: (r) => r.seed[2] },
  { column: 'seed4', value: (r) => r.seed[3] },
  { column: 'lookahead', value: (r) => r.config.lookahead },
  { column: 'cancelbacks', value: (r) => r.cancelbacks },
  { column: 'critical_path', value: (r) => r.criticalPath },
  { column: 'finished', value: (r) => (r.finished ? 1 : 0) },
  { column: 'gvt', value: (r) => r.gvt },
  { column: 'state_digest', value: (r) => r.stateDigest },
  { column: 'event_digest', value: (r) => r.eventDigest },
];
