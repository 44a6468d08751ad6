/**
 * Findings that live metrics can show, as alerting rules of Prometheus, with the same thresholds and words. A new alert
 * is an entry here.
 */

import type { FindingRule, Severity, Threshold } from '../findings/finding.ts';
import { GPU_ERRORS, GPU_THROTTLED, MI300_HEAT } from '../findings/gpu-health.ts';
import { METADATA } from '../findings/job/metrics/types.ts';
import { JOB_QUOTA, OUT_OF_MEMORY } from '../findings/job-limits.ts';
import { METADATA_STORM } from '../findings/metadata-storm.ts';
import { NODE_MEMORY } from '../findings/node-memory.ts';
import { LOWERED, POWER_LIMIT } from '../findings/power-limit.ts';
import { HOST_IO_PRESSURE, HOST_MEMORY_PRESSURE } from '../findings/pressure.ts';
import { FEW, NFS_WAITS, SLOW_NFS } from '../findings/slow-nfs.ts';
import { STOLEN_CPU } from '../findings/stolen-cpu.ts';
import { SUSPECT_DATA } from '../findings/suspect-data.ts';
import { SWAP } from '../findings/swap.ts';
import { TEMPERATURE } from '../findings/temperature.ts';
import { MEMORY_IN_USE } from '../model/measures/index.ts';
import { NODE_TYPES } from '../node/types/index.ts';
import { seriesFor } from './node-text.ts';

/** An alerting rule of Prometheus. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: Severity; readonly finding: string };
  readonly annotations: {
    readonly summary: string;
    readonly description: string;
    readonly advice: string;
  };
}

/** The series of a type's key, as `node daemon --metrics` names it. */
function series(type: string, key: string): string {
  const metric = NODE_TYPES.find(({ name }) => name === type)?.metrics.find(
    (one) => one.key === key,
  );
  if (metric === undefined) throw new Error(`there is no ${type}.${key}`);
  const { kind, unit, bits = 64 } = metric;
  return seriesFor(type, { name: key, kind, unit, bits }).name;
}

/** Counts per second of keys of a type on each host, over a time such as `30m`. */
const rates = (type: string, keys: readonly string[], window: string): string =>
  `sum by (host) (${keys.map((key) => `rate(${series(type, key)}[${window}])`).join(' + ')})`;

/** Counts of a key by each device of a host: a `rate` per second, or an `increase` over a time. */
const ofDevices = (how: 'rate' | 'increase', type: string, key: string, window: string): string =>
  `sum by (host, device) (${how}(${series(type, key)}[${window}]))`;

/** A host's sum of a measure's gauges, each with its sign. */
const sums = (terms: Readonly<Record<string, number>>): string =>
  Object.entries(terms)
    .map(
      ([key, sign], k) =>
        `${sign < 0 ? '- ' : k > 0 ? '+ ' : ''}sum by (host) (${series('mem', key)})`,
    )
    .join(' ');

interface Shown {
  readonly rule: FindingRule;
  /** The threshold for each severity. */
  readonly levels: Readonly<Record<string, Severity>>;
  readonly value: (window: string) => string;
  readonly says: string;
}

const HOST = '{{ $labels.host }}';
const DEVICE = '{{ $labels.device }}';
const GRADES = { SOME: 'notice', MUCH: 'problem' } as const;

const SHOWN: readonly Shown[] = [
  {
    rule: SWAP,
    levels: GRADES,
    value: (window) => rates('vm', ['pswpin', 'pswpout'], window),
    says: `${HOST} swaps {{ $value | humanize }} pages a second: its memory is too small for what runs there.`,
  },
  {
    rule: NODE_MEMORY,
    levels: GRADES,
    value: () => `(${sums(MEMORY_IN_USE.of)}) / (${sums({ MemTotal: 1 })})`,
    says: `Programs on ${HOST} have {{ $value | humanizePercentage }} of its memory in use.`,
  },
  {
    rule: STOLEN_CPU,
    levels: { LOST: 'notice', MUCH_LOST: 'problem' },
    value: (window) =>
      `${rates('cpu_steal', ['steal'], window)} / count by (host) (${series('cpu', 'user')})`,
    says: `{{ $value | humanizePercentage }} of the time of ${HOST}’s CPUs is stolen by the hypervisor.`,
  },
  {
    rule: METADATA_STORM,
    levels: GRADES,
    value: (window) => `sum(${rates('llite', METADATA, window)})`,
    says: '{{ $value | humanize }} Lustre metadata operations per second, from all hosts.',
  },
  ...(['memory', 'io'] as const).map((resource) => ({
    rule: resource === 'io' ? HOST_IO_PRESSURE : HOST_MEMORY_PRESSURE,
    levels: GRADES,
    value: (window: string) => rates('psi', [`${resource}_full`], window),
    says: `Nothing ran on ${HOST} for {{ $value | humanizePercentage }} of the time: all waited for ${resource === 'io' ? 'I/O' : 'memory'}.`,
  })),
  {
    rule: OUT_OF_MEMORY,
    levels: { KILLED: 'problem' },
    value: (window) => ofDevices('increase', 'cgroup_memory', 'oom_kill', window),
    says: `The kernel killed {{ $value | humanize }} processes of job ${DEVICE} on ${HOST} because memory was short.`,
  },
  {
    rule: JOB_QUOTA,
    levels: { SOME: 'notice', OFTEN: 'problem' },
    value: (window) =>
      `${ofDevices('rate', 'cgroup_cpu', 'nr_throttled', window)} / ${ofDevices('rate', 'cgroup_cpu', 'nr_periods', window)}`,
    says: `Job ${DEVICE} had used up its CPU quota on ${HOST} in {{ $value | humanizePercentage }} of its periods.`,
  },
  {
    rule: SLOW_NFS,
    levels: GRADES,
    value: (window) => {
      const all = (what: string) =>
        `(${NFS_WAITS.map((key) => ofDevices('increase', 'nfs4', `${key}_${what}`, window)).join(' + ')})`;
      // The threshold is in milliseconds; the series are in seconds.
      return `1000 * ${all('rtt')} / (${all('ops')} >= ${FEW.value})`;
    },
    says: `The server of ${DEVICE} answered ${HOST} after {{ $value | humanize }} ms on average.`,
  },
  {
    rule: GPU_THROTTLED,
    levels: GRADES,
    // The largest of all: names of series are gone after avg_over_time and sums.
    value: (window) => {
      const turns = (key: string) => ofDevices('increase', 'amd_gpu_throttle', key, window);
      const times = MI300_HEAT.map((key) => `${turns(key)} / (${turns('ticks')} > 0)`);
      const held = ['nvidia_gpu_state', 'intel_gpu_state', 'amd_gpu_state'].map((type) => {
        const [heat, hardware] = ['held_by_heat', 'held_by_hardware'].map(
          (key) => `avg_over_time(${series(type, key)}[${window}])`,
        );
        return `${heat} > ${hardware} or ${hardware}`;
      });
      return `(${[...held, times.reduce((a, b) => `(${a} > ${b} or ${b})`)].join(' or ')})`;
    },
    says: `Heat or hardware held the clock of GPU ${DEVICE} of ${HOST} down for {{ $value | humanizePercentage }} of the time.`,
  },
  {
    rule: GPU_ERRORS,
    levels: { ERROR: 'problem' },
    value: (window) =>
      `(${['nvidia_gpu_ecc', 'amd_gpu_ecc'].map((type) => ofDevices('increase', type, 'uncorrected', window)).join(' or ')})`,
    says: `GPU ${DEVICE} of ${HOST} had {{ $value | humanize }} memory errors that could not be corrected.`,
  },
  {
    rule: TEMPERATURE,
    levels: GRADES,
    value: (window) => `max_over_time(${series('hwmon_temp', 'temp')}[${window}])`,
    says: `Sensor ${DEVICE} of ${HOST} reached {{ $value | humanize }} °C.`,
  },
  {
    rule: POWER_LIMIT,
    levels: GRADES,
    value: (window) => {
      const [limit, nominal] = ['limit', 'nominal'].map((key) => series('powercap_limit', key));
      return `${ofDevices('rate', 'powercap_limit', 'energy', window)} / sum by (host, device) (${limit} <= ${LOWERED.value} * ${nominal})`;
    },
    says: `Package ${DEVICE} of ${HOST} drew {{ $value | humanizePercentage }} of a power limit below what it is made for.`,
  },
];

const named = (rule: string): string =>
  rule.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

function alertOf(shown: Shown, key: string, severity: Severity, window: string): Alert {
  const { rule, value, says } = shown;
  const threshold: Threshold | undefined = rule.thresholds[key];
  if (threshold === undefined) throw new Error(`${rule.name} has no threshold ${key}`);
  return {
    alert: `Triscope${named(rule.name)}`,
    expr: `${value(window)} >= ${threshold.value}`,
    labels: { severity, finding: rule.name },
    annotations: { summary: rule.title, description: says, advice: rule.knob },
  };
}

/** Alerts about the data themselves: samples that were lost, and hosts that no longer sample. */
function doubts(window: string, silence: number): Alert[] {
  const { name, title, knob } = SUSPECT_DATA;
  const doubt = (alert: string, expr: string, description: string): Alert => ({
    ...{ alert, expr, labels: { severity: 'problem', finding: name } },
    annotations: { summary: title, description, advice: knob },
  });
  return [
    doubt(
      'TriscopeSamplesLost',
      `sum by (host) (increase(triscope_node_samples_lost_total[${window}])) > 0`,
      `${HOST} lost {{ $value | humanize }} samples: neither its disk nor its memory had room.`,
    ),
    doubt(
      'TriscopeNoSamples',
      `time() - max by (host) (triscope_node_sample_time_seconds) > ${silence}`,
      `${HOST} took its last sample {{ $value | humanizeDuration }} ago.`,
    ),
  ];
}

/**
 * The alerts.
 * @param window over which rates are taken: three samples at least
 * @param silence seconds without a sample after which a host is reported
 */
export const alertsOf = (window: string, silence: number): readonly Alert[] => [
  ...SHOWN.flatMap((shown) =>
    Object.entries(shown.levels).map(([key, severity]) => alertOf(shown, key, severity, window)),
  ),
  ...doubts(window, silence),
];

/** As a file of Prometheus' rules. */
export function alertsText(alerts: readonly Alert[]): string {
  // A text quoted as in JSON is also a scalar of YAML.
  const lines = alerts.flatMap(({ alert, expr, labels, annotations }) => [
    `      - alert: ${alert}`,
    `        expr: ${JSON.stringify(expr)}`,
    '        labels:',
    ...Object.entries(labels).map(([key, value]) => `          ${key}: ${JSON.stringify(value)}`),
    '        annotations:',
    ...Object.entries(annotations).map(
      ([key, value]) => `          ${key}: ${JSON.stringify(value)}`,
    ),
  ]);
  return ['groups:', '  - name: triscope-node', '    rules:', ...lines, ''].join('\n');
}
