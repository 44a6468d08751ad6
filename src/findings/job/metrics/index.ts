/** All metrics of a job. To add one, declare it in its family's file. */
import type { Job } from '../job.ts';
import { JobRows } from '../view.ts';
import { BALANCE } from './balance.ts';
import { CACHE } from './cache.ts';
import { CPU } from './cpu.ts';
import { ENERGY } from './energy.ts';
import { EXAMS } from './exams.ts';
import { FILES } from './files.ts';
import { FLOPS } from './flops.ts';
import { GPU } from './gpu.ts';
import { HPCPERFSTATS } from './hpcperfstats.ts';
import { LUSTRE } from './lustre.ts';
import { MEMORY } from './memory.ts';
import { evaluate, type MetricFamily, type MetricValue } from './metric.ts';
import { NETWORK } from './network.ts';

export const METRIC_FAMILIES: readonly MetricFamily[] = [
  ...[CPU, FLOPS, CACHE, MEMORY, NETWORK, FILES, BALANCE, GPU, LUSTRE, ENERGY],
  ...[EXAMS, HPCPERFSTATS],
];

/** Yields while it computes all metrics, in the order of their families; each step yields how many record groups it has read. */
export function* metricsInSteps(job: Job): Generator<number, readonly MetricValue[], void> {
  const rows = new JobRows(job);
  const groups = job.hosts.reduce((sum, { times }) => sum + times.length, 0);
  const values: MetricValue[] = [];
  for (const { set, metrics } of METRIC_FAMILIES) {
    for (const metric of metrics) {
      values.push(evaluate(rows, set, metric));
      yield groups;
    }
  }
  return values;
}

/** The same without steps. */
export function metricsOf(job: Job): readonly MetricValue[] {
  const steps = metricsInSteps(job);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
