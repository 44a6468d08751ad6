/**
 * Findings that live metrics can show, as alerting rules of Prometheus: the same thresholds, and the same words. A new alert
 * is an entry here.
 */

import type { FindingRule, Severity, Threshold } from '../findings/finding.ts';
import { METADATA } from '../findings/job/metrics/types.ts';
import { METADATA_STORM } from '../findings/metadata-storm.ts';
import { NODE_MEMORY } from '../findings/node-memory.ts';
import { STOLEN_CPU } from '../findings/stolen-cpu.ts';
import { SUSPECT_DATA } from '../findings/suspect-data.ts';
import { SWAP } from '../findings/swap.ts';
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

/** What each host counts of keys of a type in a second, over a time such as `30m`. */
const rates = (type: string, keys: readonly string[], window: string): string =>
  `sum by (host) (${keys.map((key) => `rate(${series(type, key)}[${window}])`).join(' + ')})`;

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
  /** Of its thresholds, which stands for which severity. */
  readonly levels: Readonly<Record<string, Severity>>;
  readonly value: (window: string) => string;
  readonly says: string;
}

const HOST = '{{ $labels.host }}';
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
    says: '{{ $value | humanize }} metadata operations a second of Lustre, from all hosts.',
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

/** What is doubtful of the data themselves: samples that were lost, and hosts that sample no more. */
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
 * @param silence seconds without a sample from which on a host is missed
 */
export const alertsOf = (window: string, silence: number): readonly Alert[] => [
  ...SHOWN.flatMap((shown) =>
    Object.entries(shown.levels).map(([key, severity]) => alertOf(shown, key, severity, window)),
  ),
  ...doubts(window, silence),
];

/** As a file of Prometheus' rules. */
export function alertsText(alerts: readonly Alert[]): string {
  // What is quoted as in JSON is a scalar of YAML, too.
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
