/**
 * Flags: warnings from a job's metrics. The thresholds are those of tacc_stats' auditor (2.3) and of its portal's index page
 * (2.3, 2.3.5), where `<` also flags equal values.
 */
import type { Job } from './job.ts';
import type { MetricSet, MetricValue } from './metrics/metric.ts';

type Comparison = '>' | '>=' | '<=' | '<';

interface JobFlag {
  /** Kebab case, for `--flag`. */
  readonly name: string;
  readonly set: MetricSet;
  readonly metric: string;
  readonly when: readonly (readonly [Comparison, number])[];
  /** Only for jobs of these queues. */
  readonly queue?: RegExp;
  /** One sentence: what it means if the flag is raised. */
  readonly means: string;
}

export interface FlagResult {
  readonly flag: JobFlag;
  /** `not available`: the metric is missing, or the flag is for other queues. */
  readonly result: 'pass' | 'flagged' | 'not available';
  readonly value: number | null;
  /** Why it is not available; otherwise ''. */
  readonly why: string;
}

const exam = (
  name: string,
  metric: string,
  comparison: Comparison,
  threshold: number,
  means: string,
): JobFlag => ({ name, set: 'exam', metric, when: [[comparison, threshold]], means });

const page = (
  name: string,
  metric: string,
  comparison: Comparison,
  threshold: number,
  means: string,
): JobFlag => ({ name, set: 'summary', metric, when: [[comparison, threshold]], means });

/** First the auditor's flags, then those of the index page. */
export const JOB_FLAGS: readonly JobFlag[] = [
  exam('high-cpi', 'HighCPI', '>', 1.5, 'Processors wait: many cycles for each instruction.'),
  exam(
    'high-cpld',
    'HighCPLD',
    '>',
    1.5,
    'Many cycles for each line that the first-level cache loads.',
  ),
  exam('low-memory-bandwidth', 'MemBw', '<=', 1, 'Memory bandwidth is not at its peak.'),
  exam('catastrophe', 'Catastrophe', '<=', 0.01, 'A host stopped working during the job.'),
  exam('high-memory', 'MemUsage', '>', 31, 'A host nearly ran out of memory.'),
  exam('idle', 'Idle', '>', 0.99, 'A host did nothing while another worked.'),
  exam('low-flops', 'LowFLOPS', '<=', 10, 'Few floating-point operations.'),
  exam('low-vectors', 'VecPercent', '<=', 0.05, 'Floating-point operations are hardly vectorised.'),
  exam('ethernet', 'GigEBW', '>', 1e7, 'Much traffic over Ethernet.'),
  exam('low-cpu', 'CPU_Usage', '<=', 800, 'Fewer than eight cores of a host work.'),
  exam('low-loads', 'Load_All', '<=', 1e7, 'Few loads.'),
  exam('metadata', 'MetaDataRate', '>', 10_000, 'Many metadata operations of Lustre.'),
  exam('internode-average', 'InternodeIBAveBW', '>', 10_000, 'Traffic between hosts.'),
  exam('internode-peak', 'InternodeIBMaxBW', '>', 10_000, 'Traffic between hosts, at its peak.'),
  exam('lnet-average', 'LnetAveBW', '>', 10_000, 'Traffic of Lustre.'),
  exam('lnet-peak', 'LnetMaxBW', '>', 10_000, 'Traffic of Lustre, at its peak.'),
  exam('mdc-requests', 'MDCReqs', '>', 10_000, 'Many requests to metadata servers.'),
  exam('mdc-wait', 'MDCWait', '>', 10_000, 'Metadata servers answer slowly.'),
  exam('osc-requests', 'OSCReqs', '>', 10_000, 'Many requests to object servers.'),
  exam('osc-wait', 'OSCWait', '>', 10_000, 'Object servers answer slowly.'),
  exam('open-close', 'LLiteOpenClose', '>', 10_000, 'Files are opened and closed all the time.'),
  exam('load-l1', 'Load_L1Hits', '>', 1.5, 'Loads hit the first-level cache.'),
  exam('load-l2', 'Load_L2Hits', '>', 1.5, 'Loads hit the second-level cache.'),
  exam('load-llc', 'Load_LLCHits', '>', 1.5, 'Loads hit the last-level cache.'),
  exam('packets', 'PacketRate', '>', 0, 'Packets are sent over InfiniBand.'),
  exam('packet-size', 'PacketSize', '>', 0, 'The size of packets on InfiniBand.'),
  exam('mic', 'MIC_Usage', '>', 0, 'The coprocessor is used.'),
  {
    name: 'page-catastrophe',
    set: 'summary',
    metric: 'time_imbalance',
    when: [
      ['<=', 0.001],
      ['>=', 1000],
    ],
    means: 'Work began late or ended early on a host.',
  },
  page('page-idle', 'node_imbalance', '>=', 0.99, 'A host did nothing while another worked.'),
  page('page-low-cpu', 'avg_cpuusage', '<=', 10, 'Ten cores of a host work, or fewer.'),
  page('page-cpi', 'avg_cpi', '>=', 3, 'Processors wait: many cycles for each instruction.'),
  page('page-ethernet', 'avg_ethbw', '>=', 1, 'A MiB/s or more over Ethernet.'),
  {
    name: 'page-small-in-largemem',
    set: 'summary',
    metric: 'mem_hwm',
    when: [['<=', 30]],
    queue: /largemem/i,
    means: 'The job ran in a large-memory queue but did not need the memory.',
  },
];

/** The queues that metrics (memory in flat mode) and flags depend on. */
export const QUEUES_OF_RULES = /largemem|flat/i;

const holds = (value: number, [comparison, threshold]: readonly [Comparison, number]): boolean => {
  if (comparison === '>') return value > threshold;
  if (comparison === '>=') return value >= threshold;
  return comparison === '<=' ? value <= threshold : value < threshold;
};

/** `> 1.5`, `<= 0.001 or >= 1000`. */
export const conditionOf = ({ when }: JobFlag): string =>
  when.map(([comparison, threshold]) => `${comparison} ${threshold}`).join(' or ');

/** All flags of a job, from its metrics. */
export function flagsOf(job: Job, values: readonly MetricValue[]): readonly FlagResult[] {
  const byName = new Map(values.map((value) => [`${value.set} ${value.metric.name}`, value]));
  return JOB_FLAGS.map((flag) => {
    const found = byName.get(`${flag.set} ${flag.metric}`);
    const value = found?.value ?? null;
    const unavailable = (why: string) => ({ flag, result: 'not available' as const, value, why });
    if (flag.queue !== undefined && !flag.queue.test(job.accounted?.queue ?? '')) {
      return unavailable('about other queues');
    }
    if (value === null) return unavailable(`lacks ${found?.lacks ?? flag.metric}`);
    const up = flag.when.some((condition) => holds(value, condition));
    return { flag, result: up ? 'flagged' : 'pass', value, why: '' };
  });
}
