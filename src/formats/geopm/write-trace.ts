/**
 * Writes traces and profile traces as GEOPM does: header lines that begin with `#`, names, then one row per sample,
 * all with `|` between.
 *
 * ```
 * # geopm_version: 3.1.0
 * # start_time: 2026-11-21T01:56:58.346487912+0000
 * # profile_name: "tiny"
 * # node_name: vm
 * # agent: monitor
 * TIME|EPOCH_COUNT|REGION_HASH|…            or  TIME|PROCESS|EVENT|SIGNAL|THREAD
 * 0.010256257|1|0xcce45a1e|…
 * ```
 */
import { generalText } from './number-text.ts';
import { hashText, rawText } from './values.ts';
import { quoted } from './yaml-text.ts';

/** How a column's values are printed: `%.16g`, `%g`, `%lld`, `0x%08x`, `0x%016lx`. */
type TraceFormat = 'double' | 'float' | 'integer' | 'hex' | 'raw64';

export interface TraceColumn {
  /** As `SIGNAL`, or `SIGNAL-domain-N` below the board. */
  readonly name: string;
  readonly format: TraceFormat;
}

export interface TraceHeader {
  readonly version: string;
  readonly startTime: string;
  readonly profile: string;
  readonly host: string;
  readonly agent: string;
}

/** The header lines and the line of names. */
export function traceHeaderText(header: TraceHeader, columns: readonly string[]): string {
  return [
    `# geopm_version: ${header.version}`,
    `# start_time: ${header.startTime}`,
    `# profile_name: ${quoted(header.profile)}`,
    `# node_name: ${header.host}`,
    `# agent: ${header.agent}`,
    columns.join('|'),
    '',
  ].join('\n');
}

function cellText(value: number, format: TraceFormat): string {
  if (format === 'hex') return Number.isNaN(value) ? 'NAN' : hashText(value);
  if (Number.isNaN(value)) return format === 'raw64' ? 'NAN' : 'nan';
  if (format === 'raw64') return rawText(value);
  if (format === 'integer') return String(Math.trunc(value));
  return generalText(value, format === 'double' ? 16 : 6);
}

/** One row; `values[k]` belongs to `columns[k]`, NaN is missing. */
export function traceRowText(columns: readonly TraceColumn[], values: Float64Array): string {
  let text = '';
  for (let k = 0; k < columns.length; k++) {
    text += `${k === 0 ? '' : '|'}${cellText(values[k], columns[k].format)}`;
  }
  return `${text}\n`;
}

/** Columns of a profile trace; the last is ours. */
export const PROFILE_COLUMNS = ['TIME', 'PROCESS', 'EVENT', 'SIGNAL', 'THREAD'] as const;

/** GEOPM's own: threads of a process are not told apart. */
export const COMPATIBLE_PROFILE_COLUMNS = PROFILE_COLUMNS.slice(0, 4);

/** Events of a profile trace, and whether their signal is a hash. */
const EVENT_HAS_HASH = {
  REGION_ENTRY: true,
  REGION_EXIT: true,
  EPOCH_COUNT: false,
  EVENT_SHORT_REGION: true,
  EVENT_AFFINITY: false,
  EVENT_START_PROFILE: true,
  EVENT_STOP_PROFILE: true,
  EVENT_OVERHEAD: false,
} as const;

/** What a thread, or its process, told. */
export interface ProfileRow {
  /** s since time zero. */
  readonly time: number;
  readonly process: number;
  readonly event: keyof typeof EVENT_HAS_HASH;
  /** A hash, or a number. */
  readonly signal: number;
  /** Null: there is no column of it. */
  readonly thread: number | null;
}

/** One row of a profile trace. */
export function profileRowText({ time, process, event, signal, thread }: ProfileRow): string {
  const what = EVENT_HAS_HASH[event] ? hashText(signal) : generalText(signal, 16);
  const by = thread === null ? '' : `|${thread}`;
  return `${generalText(time, 16)}|${process}|${event}|${what}${by}\n`;
}
