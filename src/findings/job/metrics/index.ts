/** All metrics of a job. A new one is a declaration in its family's file. */
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

/** The values of all metrics, in the order of their families. */
export function metricsOf(job: Job): readonly MetricValue[] {
  const rows = new JobRows(job);
  return METRIC_FAMILIES.flatMap(({ set, metrics }) =>
    metrics.map((metric) => evaluate(rows, set, metric)),
  );
}
