/** Statistics of the signals that were watched, like GEOPM's session report, in YAML or CSV. */
import { generalText } from '../../formats/geopm/number-text.ts';
import { quoted } from '../../formats/geopm/yaml-text.ts';
import { quotedText } from '../../model/csv.ts';
import type { WatchColumn } from './requests.ts';
import { SignalStatistics } from './statistics.ts';

const FIELDS = ['count', 'first', 'last', 'min', 'max', 'mean', 'std'] as const;

/** Milliseconds since 1970 in the form `2026-11-21T01:58:20.028379751+0000`. */
export function isoTime(milliseconds: number): string {
  const date = new Date(Math.floor(milliseconds));
  const pad = (number: number, width: number) => String(number).padStart(width, '0');
  const nanoseconds = Math.floor((milliseconds % 1000) * 1e6);
  const offset = -date.getTimezoneOffset();
  const zone = `${pad(Math.floor(Math.abs(offset) / 60), 2)}${pad(Math.abs(offset) % 60, 2)}`;
  const day = [pad(date.getFullYear(), 4), pad(date.getMonth() + 1, 2), pad(date.getDate(), 2)];
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => pad(n, 2));
  return `${day.join('-')}T${clock.join(':')}.${pad(nanoseconds, 9)}${offset < 0 ? '-' : '+'}${zone}`;
}

/** How a session's report is written. */
export type ReportFormat = 'yaml' | 'csv' | 'json';

/**
 * Statistics of a session's signals, updated with each sample: count, first, last, least, most, mean and standard deviation of each.
 * @example
 * ```ts
 * import { Platform, parseRequest, requestedColumns, SessionReport } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * const request = parseRequest('TIME board 0');
 * const columns = requestedColumns(platform, request === null ? [] : [request]);
 * const report = new SessionReport('host', columns);
 * report.add([0], 0, Date.now()); // seconds since time zero, ms since 1970
 * report.add([1], 1, Date.now());
 * process.stdout.write(report.take('yaml'));
 * platform.close();
 * ```
 */
export class SessionReport {
  private readonly host: string;
  private readonly columns: readonly WatchColumn[];
  private signals: SignalStatistics[] = [];
  private periods = new SignalStatistics();
  private _samples = 0;
  private firstTime = 0;
  private lastTime = 0;
  private firstWall = 0;
  private documents = 0;

  /** @param columns the signals, in the order in which their values are passed */
  constructor(host: string, columns: readonly WatchColumn[]) {
    this.host = host;
    this.columns = columns;
    this.begin();
  }

  private begin(): void {
    this.signals = this.columns.map(() => new SignalStatistics());
    this.periods = new SignalStatistics();
    this._samples = 0;
  }

  /** Samples since the last report. */
  get samples(): number {
    return this._samples;
  }

  /**
   * @param time seconds since time zero
   * @param wall milliseconds since 1970
   */
  add(values: ArrayLike<number>, time: number, wall: number): void {
    if (this._samples === 0) {
      this.firstTime = time;
      this.firstWall = wall;
    } else this.periods.add(time - this.lastTime);
    this.lastTime = time;
    this._samples++;
    for (let k = 0; k < this.signals.length; k++) this.signals[k].add(values[k]);
  }

  /** The report of the samples since the last report, which it follows in the same file; then begins anew. */
  take(format: ReportFormat): string {
    const text = format === 'yaml' ? this.yaml() : format === 'csv' ? this.csv() : this.json();
    this.documents++;
    this.begin();
    return text;
  }

  private head(): readonly (readonly [string, number])[] {
    const { count, mean, std } = this.periods;
    return [
      ['sample-time-total', this._samples === 0 ? 0 : this.lastTime - this.firstTime],
      ['sample-count', this._samples],
      ['sample-period-mean', count === 0 ? 0 : mean],
      ['sample-period-std', count < 2 ? 0 : std],
    ];
  }

  private yaml(): string {
    const lines = [
      `host: ${quoted(this.host)}`,
      `sample-time-first: ${quoted(isoTime(this.firstWall))}`,
      ...this.head().map(([key, value]) => `${key}: ${generalText(value)}`),
      'metrics:',
    ];
    for (const [k, { name }] of this.columns.entries()) {
      lines.push(`  ${/^[A-Z][\w:.#@-]*\w$/.test(name) ? name : quoted(name)}:`);
      for (const field of FIELDS) {
        lines.push(`    ${field}: ${generalText(this.signals[k][field])}`);
      }
    }
    return `${this.documents > 0 ? '\n---\n\n' : ''}${lines.join('\n')}\n`;
  }

  /** One line; values that are not numbers become null. */
  private json(): string {
    const metrics = this.columns.map(({ name }, k) => {
      return [name, Object.fromEntries(FIELDS.map((field) => [field, this.signals[k][field]]))];
    });
    return `${JSON.stringify({
      host: this.host,
      'sample-time-first': isoTime(this.firstWall),
      ...Object.fromEntries(this.head()),
      metrics: Object.fromEntries(metrics),
    })}\n`;
  }

  private csv(): string {
    const order = this.columns
      .map(({ name }, k) => ({ name, statistics: this.signals[k] }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const number = (value: number) => (Number.isNaN(value) ? 'nan' : String(value));
    const values = [
      quotedText(this.host),
      quotedText(isoTime(this.firstWall)),
      ...this.head().map(([, value]) => number(value)),
      ...order.flatMap(({ statistics }) => FIELDS.map((field) => number(statistics[field]))),
    ];
    const row = `${values.join()}\n`;
    if (this.documents > 0) return row;
    const names = [
      'host',
      'sample-time-first',
      ...this.head().map(([key]) => key),
      ...order.flatMap(({ name }) => FIELDS.map((field) => `${name}-${field}`)),
    ];
    return `${names.map(quotedText).join()}\n${row}`;
  }
}
