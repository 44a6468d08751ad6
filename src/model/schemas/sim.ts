/** What the simulator records beside ROSS's samples. */
import type { Schema } from '../metric.ts';
import { column, REAL, RUNNING_TOTAL } from './column.ts';

const PE = column('pe_id', 'u32', '', 'same', 'PE', { behaviour: 'constant' });

/** The kernel's view of a PE's thread. Source: /proc/self/task/TID/schedstat (Documentation/scheduler/sched-stats). */
export const SIM_THREAD = {
  name: 'sim_thread',
  domain: 'pe',
  help: 'what the kernel says of a PE’s thread',
  metrics: [
    REAL,
    PE,
    column('cpu_time', 'u64', 'ns', 'sum', 'time on a CPU', RUNNING_TOTAL),
    column(
      'run_queue_wait',
      'u64',
      'ns',
      'sum',
      'time ready to run, waiting for a CPU',
      RUNNING_TOTAL,
    ),
    column(
      'timeslices',
      'u64',
      '{timeslice}',
      'sum',
      'times that it was given a CPU',
      RUNNING_TOTAL,
    ),
  ],
} as const satisfies Schema;

/** Phases that a PE marks on its region page, in the order of their numbers there. */
export const PHASES = ['gvt', 'commit'] as const;
export const PHASE_GVT = 0;
export const PHASE_COMMIT = 1;

/** Time in the phases that PEs mark. */
export const REGION_PHASE = {
  name: 'region_phase',
  domain: 'region',
  help: 'time of a PE in one of the phases that it marks, since the start',
  metrics: [
    REAL,
    PE,
    column('region', 'label', '', 'same', 'gvt or commit', { behaviour: 'label' }),
    column('count', 'u32', '{visit}', 'sum', 'times entered', { ...RUNNING_TOTAL, bits: 32 }),
    column('time', 'f64', 's', 'sum', 'time inside, completed visits', {
      kind: 'event',
      behaviour: 'monotone',
    }),
  ],
} as const satisfies Schema;

/** What became of what a PE recorded. One row per PE and stream, at the end. */
export const SIM_STREAM = {
  name: 'sim_stream',
  domain: 'pe',
  help: 'what became of one stream of a PE’s records',
  metrics: [
    REAL,
    PE,
    column('stream', 'label', '', 'same', 'gvt, rt, vt, model, evtrace or rollback', {
      behaviour: 'label',
    }),
    column('bytes', 'f64', 'B', 'sum', 'bytes taken from the PE’s buffers'),
    column('waited', 'f64', 'ms', 'sum', 'time that the PE waited for a free buffer'),
    column('dropped_records', 'u32', '{record}', 'sum', 'records not written'),
    column('dropped', 'f64', 'B', 'sum', 'bytes not written'),
  ],
} as const satisfies Schema;
