/** Options of `triscope signal watch`: geopmsession's, and the exporter's port. */
import { choice, flag, float, int, text } from '../model/option.ts';
import { DAY_SECONDS } from '../model/units.ts';
import { isAlive } from '../os/alive.ts';
import type { ReportFormat } from '../region/signals/index.ts';
import type { Given } from './command.ts';
import { UsageError } from './errors.ts';
import { ROOT } from './root-option.ts';
import { SYNTHETIC } from './signal-options.ts';

const MOST_PORT = 65535;

interface WatchOptions {
  /** Seconds; 0: without end. */
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

const path = (help: string, short: string) =>
  text('', help, { placeholder: 'FILE', short, names: 'path' });

export const WATCH_OPTIONS = {
  time: float(0, 'seconds to watch; 0: one sample', { min: 0, placeholder: 'S', short: 't' }),
  period: float(0, 'seconds between samples; ⌈time / period⌉ + 1 rows', {
    min: 0,
    max: DAY_SECONDS,
    placeholder: 'S',
    short: 'p',
  }),
  pid: int(0, 'end when this process ends', {
    min: 0,
    max: 2 ** 31 - 1,
    placeholder: 'PID',
    fallback: '',
  }),
  'no-header': flag(false, 'no header line', { short: 'n' }),
  'print-header': flag(false, 'geopmsession’s, which has no header otherwise', { hidden: true }),
  delimiter: text(',', 'separator of values', { short: 'd' }),
  'trace-out': {
    ...path('file for the rows; /dev/null discards them', 'o'),
    fallback: '-, standard output',
  },
  'report-out': path('statistics at the end; -: standard output', 'r'),
  'report-format': choice(['yaml', 'csv', 'json'], '', 'format of the statistics', {
    short: 'f',
    fallback: 'yaml; json with --json',
  }),
  'report-samples': int(0, 'also a report every N samples; 0 turns it off', { min: 0, short: 's' }),
  metrics: int(
    0,
    'serve the last sample as OpenMetrics at http://127.0.0.1:PORT/metrics; 0: any free port, printed on standard error',
    { min: 0, max: MOST_PORT, placeholder: 'PORT', fallback: '' },
  ),
  json: flag(
    false,
    'rows as objects, one per line, without a header; reports too, unless -f is given',
  ),
  root: ROOT,
  synthetic: SYNTHETIC,
} as const;

/** @throws UsageError */
export function readWatch(given: Given<typeof WATCH_OPTIONS>): WatchOptions {
  const duration = given.time ?? WATCH_OPTIONS.time.default;
  const period = given.period ?? WATCH_OPTIONS.period.default;
  const pid = given.pid;
  const metrics = given.metrics;
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
    throw new UsageError('a session with --pid or --metrics needs --period');
  }
  const json = given.json === true;
  return {
    ...{ duration, period, pid, metrics, json },
    every: given['report-samples'] ?? WATCH_OPTIONS['report-samples'].default,
    header: given['no-header'] !== true,
    delimiter: given.delimiter ?? WATCH_OPTIONS.delimiter.default,
    report: given['report-out'],
    trace: given['trace-out'] ?? '-',
    format: given['report-format'] ?? (json ? 'json' : 'yaml'),
  };
}
