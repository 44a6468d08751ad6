/** What the simulator records beside ROSS's samples. */
import type { Schema } from '../metric.ts';
import { column, counter, REAL, RUNNING_TOTAL, SCHEDSTAT } from './column.ts';

const PE = column('pe_id', 'u32', '', 'same', 'PE', { behaviour: 'constant' });

/** The kernel's view of a PE's thread. Source: /proc/self/task/TID/schedstat (Documentation/scheduler/sched-stats). */
export const SIM_THREAD = {
  name: 'sim_thread',
  domain: 'pe',
  help: 'what the kernel says of a PE’s thread',
  metrics: [REAL, PE, ...SCHEDSTAT],
} as const satisfies Schema;

/** All threads of a process that has PEs: beside these its compiler, its collector of garbage, what records it. */
export const SIM_PROCESS = {
  name: 'sim_process',
  domain: 'pe',
  help: 'processor time of a process that has PEs, all its threads together',
  metrics: [
    REAL,
    column('pe_id', 'u32', '', 'same', 'its first PE', { behaviour: 'constant' }),
    counter('cpu_time', 'ns', 'time on a CPU'),
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
  help: 'time of a PE in one of the phases that it marks, since the start; a GVT with the rollbacks in it, which ross_pe.gvt_time leaves out',
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

/** The run itself: its settings, and what it learned of the model. One row, at the end. */
export const SIM_RUN = {
  name: 'sim_run',
  domain: 'pe',
  help: 'the run: its settings, and what is known of it at its end',
  metrics: [
    REAL,
    column('model', 'label', '', 'same', 'model', { behaviour: 'label' }),
    column('synchroniser', 'label', '', 'same', 'synchroniser', { behaviour: 'label' }),
    column('pes', 'u32', '', 'last', 'PEs'),
    column('cpus', 'u32', '', 'last', 'CPUs that the process may run on'),
    column('lps', 'u32', '', 'last', 'LPs'),
    column('nkp', 'u32', '', 'last', 'KPs of a PE'),
    column('batch', 'u32', '{event}', 'last', 'events of a turn of the scheduler'),
    column('gvt_interval', 'u32', '', 'last', 'turns between GVTs; ms in optimistic-realtime'),
    column('end', 'f64', '', 'last', 'virtual time at which it ends'),
    column('lookahead', 'f64', '', 'last', 'least delay of an event to another LP, as declared'),
    column(
      'max_opt_lookahead',
      'f64',
      '',
      'last',
      'how far beyond GVT a PE may go; missing: left to the engine',
    ),
    column('max_memory', 'f64', 'B', 'last', 'most memory for events'),
    column('event_bytes', 'f64', 'B', 'last', 'memory of an event'),
    column('wall', 'f64', 's', 'last', 'time from the first event to the last'),
    column('gvts', 'u32', '', 'last', 'GVTs'),
    column(
      'least_delay',
      'f64',
      '',
      'last',
      'least delay of an event to another LP, as it was; missing but in conservative runs',
    ),
  ],
} as const satisfies Schema;

/** What a PE did, beyond what ROSS's samples hold. A row a PE, at the end. */
export const SIM_PE = {
  name: 'sim_pe',
  domain: 'pe',
  help: 'what a PE did in the whole run',
  metrics: [
    REAL,
    PE,
    column('lps', 'u32', '', 'last', 'its LPs'),
    column('committed', 'f64', '{event}', 'sum', 'events committed'),
    column('idle_turns', 'f64', '', 'sum', 'turns of the scheduler with nothing to do'),
    column('cancelbacks', 'f64', '{event}', 'sum', 'events undone to free memory'),
    column('forced_gvts', 'f64', '', 'sum', 'GVTs asked for before their time'),
    column('memory_time', 'f64', 's', 'sum', 'time for which event memory was short'),
    column(
      'gvt_time',
      'f64',
      's',
      'sum',
      'time in GVTs, with the rollbacks in them, which ross_pe.gvt_time leaves out',
    ),
    column('commit_time', 'f64', 's', 'sum', 'time in commits'),
    column('sampling_time', 'f64', 's', 'sum', 'time spent on samples of itself'),
    column(
      'steps',
      'f64',
      '',
      'sum',
      'times that it went on without a GVT, by what the other told',
    ),
  ],
} as const satisfies Schema;

/** Where an animation draws LPs. A row an LP, at the end. */
export const SIM_PLACE = {
  name: 'sim_place',
  domain: 'lp',
  help: 'where an animation draws each LP',
  metrics: [
    REAL,
    column('lp_id', 'u32', '', 'same', 'LP, numbered over the whole run', {
      behaviour: 'constant',
    }),
    column('x', 'f64', '', 'same', 'to the right, in the model’s own unit', {
      behaviour: 'constant',
    }),
    column('y', 'f64', '', 'same', 'downwards, in the same unit', { behaviour: 'constant' }),
  ],
} as const satisfies Schema;

/** Which LPs an animation joins by lines. A row a line, at the end. */
export const SIM_LINK = {
  name: 'sim_link',
  domain: 'lp',
  help: 'LPs that an animation joins by a line',
  metrics: [
    REAL,
    column('lp_id', 'u32', '', 'same', 'LP at one end', { behaviour: 'constant' }),
    column('to_lp', 'u32', '', 'same', 'LP at the other end', { behaviour: 'constant' }),
  ],
} as const satisfies Schema;

/** What handlers of a type of LP cost. A row a PE and type, at the end; of events that were timed one by one. */
export const SIM_HANDLER = {
  name: 'sim_handler',
  domain: 'pe',
  help: 'time of the handlers of a type of LP, of a sample of a PE’s events',
  metrics: [
    REAL,
    PE,
    column('type', 'label', '', 'same', 'type of LP', { behaviour: 'label' }),
    column('lps', 'u32', '', 'last', 'its LPs on the PE'),
    column('timed', 'f64', '{event}', 'sum', 'events timed'),
    column('time', 'f64', 's', 'sum', 'time of their handlers'),
  ],
} as const satisfies Schema;
