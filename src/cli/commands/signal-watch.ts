/** `triscope signal watch`: samples of signals over time, as rows, a report, and OpenMetrics. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import type { SignalMetrics } from '../../live/metrics.ts';
import type { MetricSeries } from '../../live/signal-metrics.ts';
import {
  headerText,
  parseRequest,
  requestedColumns,
  rowJson,
  rowText,
  Session,
  SessionReport,
  SignalError,
  type SignalRequest,
  type WatchColumn,
} from '../../region/signals/index.ts';
import { type Call, command } from '../command.ts';
import { EXIT, UsageError } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { Output } from '../output.ts';
import { platformOptions, withPlatform } from '../signal-options.ts';
import { readWatch, WATCH_OPTIONS } from '../watch-options.ts';

/** Reads requests up to an empty line. @throws UsageError */
async function requestsFrom(input: NodeJS.ReadableStream): Promise<SignalRequest[]> {
  const requests: SignalRequest[] = [];
  const lines = createInterface({ input });
  let number = 0;
  for await (const line of lines) {
    number++;
    if (line.trim() === '') break;
    try {
      const request = parseRequest(line);
      if (request !== null) requests.push(request);
    } catch (error) {
      throw new UsageError(`requests, line ${number}: ${(error as Error).message}`);
    }
  }
  lines.close();
  process.stdin.unref?.();
  if (requests.length === 0) {
    throw new UsageError('there are no requests: give lines SIGNAL DOMAIN INDEX on standard input');
  }
  return requests;
}

/** Where text goes: a file, or standard output. */
interface Target {
  write(text: string): void;
  close(): void;
}

function target(path: string | undefined): Target {
  if (path === undefined || path === '/dev/null') return { write: () => {}, close: () => {} };
  if (path === '-') {
    const output = new Output();
    const write = (text: string) => {
      output.write(text);
      output.flush();
    };
    return { write, close: () => output.flush() };
  }
  let file: number;
  try {
    file = openSync(path, 'w');
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${(error as Error).message}`);
  }
  return { write: (text) => void writeSync(file, text), close: () => closeSync(file) };
}

const UNIT_NAMES: Readonly<Record<string, string>> = {
  s: '_seconds',
  Hz: '_hertz',
  W: '_watts',
  J: '_joules',
  Celsius: '_celsius',
  A: '_amperes',
  V: '_volts',
  B: '_bytes',
};

function seriesOf({ signal, domain, index, info }: WatchColumn): MetricSeries {
  const base = signal.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const unit = UNIT_NAMES[info.unit] ?? '';
  return {
    name: `triscope_${base}${base.endsWith(unit) ? '' : unit}`,
    help: info.description,
    kind: info.behaviour === 'monotone' ? 'counter' : 'gauge',
    labels: { domain, index: String(index) },
  };
}

async function exporter(columns: readonly WatchColumn[], port: number): Promise<SignalMetrics> {
  const { serveMetrics } = await import('../../live/metrics.ts');
  const token = process.env.TRISCOPE_METRICS_TOKEN;
  const server = await serveMetrics(columns.map(seriesOf), {
    port,
    ...(token && { token }),
  });
  process.stderr.write(`triscope: metrics at ${server.url}\n`);
  return server;
}

/** Watches. Returns the exit code. @throws UsageError, AbsentSignalError, SessionError, ServeError */
async function run({ given }: Call<typeof WATCH_OPTIONS, null>): Promise<number> {
  const options = readWatch(given);
  const platform = platformOptions(given, given.synthetic);
  const trace = target(options.trace);
  const reports = target(options.report);
  const requests = await requestsFrom(process.stdin);
  const columns = withPlatform(platform, (opened) => {
    try {
      return requestedColumns(opened, requests);
    } catch (error) {
      if (error instanceof SignalError && error.given === '') throw new UsageError(error.message);
      throw error;
    }
  });
  const metrics = options.metrics === undefined ? null : await exporter(columns, options.metrics);
  const report = new SessionReport(hostname(), columns);
  if (options.header && !options.json) trace.write(headerText(columns, options.delimiter));
  const { period, duration, pid, every, format, delimiter, json } = options;
  let due = every + 1;
  const session = new Session({
    platform,
    columns,
    period,
    duration,
    ...(pid !== undefined && { pid }),
    onRow: ({ values, time, wall }) => {
      trace.write(json ? rowJson(columns, values) : rowText(columns, values, delimiter));
      report.add(values, time, wall);
      metrics?.set(values);
      if (every > 0 && report.samples >= due) {
        reports.write(report.take(format));
        due = every;
      }
    },
  });
  const interrupt = onInterrupt();
  interrupt.signal.addEventListener('abort', () => session.stop());
  try {
    const { late, missed } = await session.done;
    if (report.samples > 0) reports.write(report.take(format));
    if (late + missed > 0) {
      process.stderr.write(
        `triscope: ${late} samples came more than a period late, ${missed} were skipped\n`,
      );
    }
  } finally {
    interrupt.release();
    trace.close();
    reports.close();
    await metrics?.close();
  }
  return interrupt.signal.aborted ? EXIT.interrupted : 0;
}

export const signalWatch = command({
  about:
    'Samples signals. A request is a line of standard input: SIGNAL DOMAIN INDEX, index * for all; lines that begin with # are skipped, an empty line ends the requests. Prints a row per sample.',
  options: WATCH_OPTIONS,
  examples: ['signal watch --time 10 --period 1 --report-out - < requests'],
  run,
});
