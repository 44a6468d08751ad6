/**
 * OpenMetrics 1.0, the text format that Prometheus reads: from a scrape, or of a past run as blocks
 * (`promtool tsdb create-blocks-from openmetrics`).
 *
 * ```
 * # TYPE triscope_node_cpu_user_seconds counter
 * # UNIT triscope_node_cpu_user_seconds seconds
 * # HELP triscope_node_cpu_user_seconds time in user mode
 * triscope_node_cpu_user_seconds_total{host="h1",device="0"} 0.12 1772366400.250
 * # EOF
 * ```
 */
import type { Metric } from '../../model/metric.ts';

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  /** '' where there is none. */
  readonly unit: string;
  /** Factor that converts values to it. */
  readonly factor: number;
  readonly help: string;
}

/** Base units of units: the ending of the name, and the factor. Counts, in braces, have none. */
const UNITS: Readonly<Record<string, readonly [name: string, factor: number]>> = {
  s: ['seconds', 1],
  cs: ['seconds', 0.01],
  ms: ['seconds', 1e-3],
  us: ['seconds', 1e-6],
  ns: ['seconds', 1e-9],
  B: ['bytes', 1],
  KB: ['bytes', 1024],
  KiB: ['bytes', 1024],
  kB: ['bytes', 1024],
  '4B': ['bytes', 4],
  '512B': ['bytes', 512],
  MB: ['bytes', 1e6],
  J: ['joules', 1],
  mJ: ['joules', 1e-3],
  uJ: ['joules', 1e-6],
  W: ['watts', 1],
  mW: ['watts', 1e-3],
  uW: ['watts', 1e-6],
  Hz: ['hertz', 1],
  MHz: ['hertz', 1e6],
  Cel: ['celsius', 1],
  mCel: ['celsius', 1e-3],
  '%': ['ratio', 0.01],
  'B/s': ['bytes_per_second', 1],
};
/** Keys whose values are hundredths of their unit. */
const HUNDREDTHS = /^(node_)?ps load_\d+$/;

/** Name of the base unit, '' if there is none, and the factor that converts values to it. `table`: or a type of the collector. */
export function baseUnit(table: string, column: string, unit: string): readonly [string, number] {
  return UNITS[unit] ?? ['', HUNDREDTHS.test(`${table} ${column}`) ? 0.01 : 1];
}

/** A name with only the letters that are allowed. */
const nameOf = (text: string): string =>
  text.replace(/[^a-zA-Z0-9_]+/g, '_').replace(/^(?=\d)/, '_');

/** The family of a table's column. */
export function familyOf(
  table: string,
  column: string,
  { kind, unit, help }: Pick<Metric, 'kind' | 'unit' | 'help'>,
): Family {
  const type = kind === 'event' ? 'counter' : 'gauge';
  const [known, factor] = baseUnit(table, column, unit);
  // `_total` and the like are endings of samples; a family must not end so.
  const plain = nameOf(`triscope_${table}_${column}`).replace(
    /_(total|created|bucket|count|sum|info)$/,
    '',
  );
  const name = known === '' || plain.endsWith(`_${known}`) ? plain : `${plain}_${known}`;
  return { name, type, unit: known, factor, help };
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

/** The lines before a family's samples. */
export function headText({ name, type, unit, help }: Family): string {
  const lines = [`# TYPE ${name} ${type}`];
  if (unit !== '') lines.push(`# UNIT ${name} ${unit}`);
  if (help !== '') lines.push(`# HELP ${name} ${escaped(help)}`);
  return `${lines.join('\n')}\n`;
}

/** `{a="1",b="2"}`; labels without a value are left out. */
export function labelsText(labels: readonly (readonly [name: string, value: string])[]): string {
  const there = labels.filter(([, value]) => value !== '');
  if (there.length === 0) return '';
  return `{${there.map(([name, value]) => `${nameOf(name)}="${escaped(value)}"`).join(',')}}`;
}

/** @param value digits, or a float @param time seconds since 1970 as digits; '' where unknown */
export function sampleText(
  { name, type }: Family,
  labels: string,
  value: string | number,
  time: string,
): string {
  const ending = type === 'counter' ? '_total' : '';
  return `${name}${ending}${labels} ${numberText(value)}${time === '' ? '' : ` ${time}`}\n`;
}

function numberText(value: string | number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return String(value);
}

export const END = '# EOF\n';
