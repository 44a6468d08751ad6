/** Options of `triscope signal watch`: geopmsession's, and the exporter's port. */
import type { ReportFormat } from '../region/signals/index.ts';
import { UsageError } from './errors.ts';
import { COMMON, readWords, type Words } from './signal-options.ts';

const MOST_PERIOD = 86400;
const MOST_PORT = 65535;

export interface WatchOptions {
  /** Seconds; 0: no end. */
  readonly duration: number;
  /** Seconds; 0: one sample. */
  readonly period: number;
  readonly pid: number | undefined;
  readonly header: boolean;
  readonly delimiter: string;
  readonly report: string | undefined;
  readonly trace: string;
  readonly format: ReportFormat;
  /** Rows as JSON. */
  readonly json: boolean;
  /** Samples between two reports; 0: one at the end. */
  readonly every: number;
  readonly metrics: number | undefined;
}

const text = (short?: string) => ({ type: 'string', ...(short && { short }) }) as const;

const OPTIONS = {
  ...COMMON,
  time: text('t'),
  period: text('p'),
  pid: text(),
  'no-header': { type: 'boolean', short: 'n' },
  'print-header': { type: 'boolean' },
  delimiter: text('d'),
  'report-out': text('r'),
  'trace-out': text('o'),
  'report-format': text('f'),
  'report-samples': text('s'),
  metrics: text(),
} as const;

function number(words: Words, name: string, most: number, whole = false): number | undefined {
  const given = words.values[name];
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given === '' || !(value >= 0 && value <= most) || (whole && !Number.isInteger(value))) {
    const range = most === Number.MAX_VALUE ? 'at least 0' : `0 to ${most}`;
    throw new UsageError(`--${name} ${given}: it is a ${whole ? 'whole ' : ''}number, ${range}`);
  }
  return value;
}

function format(given: string | boolean | undefined, json: boolean): ReportFormat {
  if (given === undefined) return json ? 'json' : 'yaml';
  if (given === 'yaml' || given === 'csv' || given === 'json') return given;
  throw new UsageError(`--report-format ${given}: it is yaml, csv or json`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** @throws UsageError */
export function readWatch(args: readonly string[]): { words: Words; options: WatchOptions } {
  const words = readWords(args, OPTIONS);
  const { values, positionals } = words;
  if (positionals.length > 0) {
    throw new UsageError(`unexpected ${positionals[0]}; requests are lines of standard input`);
  }
  const duration = number(words, 'time', Number.MAX_VALUE) ?? 0;
  const period = number(words, 'period', MOST_PERIOD) ?? 0;
  const pid = number(words, 'pid', 2 ** 31 - 1, true);
  const metrics = number(words, 'metrics', MOST_PORT, true);
  if (pid !== undefined && (pid === 0 || !isAlive(pid))) {
    throw new UsageError(`--pid ${pid}: there is no such process`);
  }
  const endless = pid !== undefined || metrics !== undefined;
  if (period > duration && !(duration === 0 && endless)) {
    throw new UsageError(
      `--period ${period} is longer than --time ${duration}; a session without --time needs --pid or --metrics`,
    );
  }
  if (endless && duration === 0 && period === 0) {
    throw new UsageError('how often? a session with --pid or --metrics needs --period');
  }
  const every = number(words, 'report-samples', Number.MAX_SAFE_INTEGER, true) ?? 0;
  const options: WatchOptions = {
    duration,
    period,
    pid,
    metrics,
    every,
    header: values['no-header'] !== true,
    delimiter: (values.delimiter as string | undefined) ?? ',',
    report: values['report-out'] as string | undefined,
    trace: (values['trace-out'] as string | undefined) ?? '-',
    json: values.json === true,
    format: format(values['report-format'], values.json === true),
  };
  return { words, options };
}
