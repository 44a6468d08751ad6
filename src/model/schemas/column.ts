/** How schemas of ours are written down. */
import type { Cell, Metric } from '../metric.ts';

/** A metric; a gauge that varies unless `more` says otherwise. */
export const column = <K extends string, C extends Cell>(
  key: K,
  cell: C,
  unit: string,
  over: Metric['over'],
  help: string,
  more: Partial<Metric> = {},
): Metric & { readonly key: K; readonly cell: C } => ({
  kind: 'gauge',
  behaviour: 'variable',
  form: 'total',
  unit,
  over,
  help,
  ...more,
  key,
  cell,
});

export const REAL = column('real_time', 'f64', 's', 'last', 'seconds since the run’s zero');

/** Of counters of 64 bits that only grow. */
export const RUNNING_TOTAL = { kind: 'event', behaviour: 'monotone', bits: 64 } as const;

/** A counter of 64 bits that only grows. */
export const counter = <K extends string>(key: K, unit: string, help: string) =>
  column(key, 'u64', unit, 'sum', help, RUNNING_TOTAL);

/** What the kernel says of a thread. Source: /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats). */
export const SCHEDSTAT = [
  counter('cpu_time', 'ns', 'time on a CPU'),
  counter('run_queue_wait', 'ns', 'time ready to run, waiting for a CPU'),
  counter('timeslices', '{timeslice}', 'times that it was given a CPU'),
] as const;
