/** `triscope export PATH… --to FORMAT -o OUT`: recordings in other tools' formats. */
import { parseArgs } from 'node:util';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportOptions,
  type ExportResult,
  exportRecording,
  exportToStream,
} from '../../query/export/index.ts';
import { QUOTE_FORMULAS } from '../csv.ts';
import { EXIT, UsageError } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { didYouMean } from '../nearest.ts';
import { READER_NAMES } from '../reader-names.ts';
import { short } from '../table.ts';

const USAGE = `usage: triscope export PATH… --to FORMAT -o OUT [options]

Writes a recording, or files of any format that triscope reads, for other tools. OUT appears when it is whole.

  --to FORMAT      parquet, arrow, csv, json (one object a line), trace-event (Perfetto, chrome://tracing), openmetrics
  -o OUT           a file; a folder of one file a table where several tables are exported; - is stdout
  --table NAMES    only these tables, as triscope query lists them
  --sql SQL        the answer to a query instead of tables
  --partition host folders host=NAME of Parquet, CSV or JSON files
  --names NAMES    of CSV: reader, as ross-binary-reader calls columns; geopm, the form of GEOPM's traces
  --quote-formulas   in CSV, a text that a spreadsheet would run (= + - @) gets a ' before it
  --from S --until S   only this stretch of a trace, s since the recording's start
  --no-flows       a trace without the arrows from sends to receives
  --json           say on stdout what was written

A trace whose OUT ends in .gz is compressed. Formats and what is drawn where: docs/export.md.`;

type Asked = ExportOptions & { readonly out: string; readonly json: boolean };

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  help: { ...flag, short: 'h' },
  to: text,
  output: { ...text, short: 'o' },
  table: { ...text, multiple: true },
  sql: text,
  partition: text,
  names: text,
  [QUOTE_FORMULAS]: flag,
  from: text,
  until: text,
  'no-flows': flag,
  json: flag,
} as const;

function parse(args: readonly string[]) {
  for (const word of args) {
    const name = /^--([^=]+)/.exec(word)?.[1];
    if (name === undefined || Object.hasOwn(OPTIONS, name)) continue;
    const near = didYouMean(name, Object.keys(OPTIONS), '--');
    throw new UsageError(`unknown option --${name}${near}`);
  }
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

/** @throws UsageError; null for --help */
function read(args: readonly string[]): Asked | null {
  const { values, positionals: paths } = parse(args);
  if (values.help) return null;
  if (paths.length === 0) throw new UsageError(`which recording? ${USAGE.split('\n')[0]}`);
  const format = formatOf(values.to);
  const out = values.output;
  if (out === undefined || out === '') throw new UsageError('-o OUT is missing: where to write to');
  const only = (name: string, given: unknown, formats: readonly ExportFormat[]) => {
    if (given === undefined || formats.includes(format)) return;
    throw new UsageError(`--${name} is for ${formats.join(', ')}, not for ${format}`);
  };
  const tables = values.table?.flatMap((names) => names.split(',')).filter(Boolean);
  const rows = ['parquet', 'arrow', 'csv', 'json'] as const;
  only('table', values.table, [...rows, 'openmetrics']);
  only('sql', values.sql, rows);
  only('partition', values.partition, ['parquet', 'csv', 'json']);
  only('names', values.names, ['csv']);
  only(QUOTE_FORMULAS, values[QUOTE_FORMULAS], ['csv']);
  for (const name of ['from', 'until', 'no-flows'] as const)
    only(name, values[name], ['trace-event']);
  if (tables !== undefined && values.sql !== undefined)
    throw new UsageError('--table or --sql, not both');
  if (tables?.length === 0) throw new UsageError('--table: no table is named');
  if (format === 'openmetrics' && paths.length > 1) {
    throw new UsageError('openmetrics takes one PATH: series of two recordings would be the same');
  }
  return {
    paths,
    format,
    out,
    json: values.json === true,
    ...(tables !== undefined && { tables }),
    ...(values.sql !== undefined && { sql: values.sql }),
    ...partitionOf(values.partition, out),
    ...namesOf(values.names),
    ...(values[QUOTE_FORMULAS] === true && { quoteFormulas: true }),
    ...(values.from !== undefined && { from: secondsOf('from', values.from) }),
    ...(values.until !== undefined && { to: secondsOf('until', values.until) }),
    flows: values['no-flows'] !== true,
    gzip: out.endsWith('.gz'),
  };
}

function formatOf(given: string | undefined): ExportFormat {
  const format = EXPORT_FORMATS.find((one) => one === given);
  if (format !== undefined) return format;
  const near = given === undefined ? '' : didYouMean(given, EXPORT_FORMATS);
  throw new UsageError(`--to ${given ?? ''}: must be one of ${EXPORT_FORMATS.join(', ')}${near}`);
}

function partitionOf(given: string | undefined, out: string): Pick<ExportOptions, 'partition'> {
  if (given === undefined) return {};
  if (given !== 'host') throw new UsageError(`--partition ${given}: must be host`);
  if (out === '-') throw new UsageError('--partition makes a folder: it cannot go to stdout');
  return { partition: 'host' };
}

function namesOf(given: string | undefined): Pick<ExportOptions, 'rename' | 'style'> {
  if (given === undefined || given === 'triscope') return {};
  if (given === 'reader') return { rename: READER_NAMES };
  if (given === 'geopm') return { style: 'geopm' };
  throw new UsageError(`--names ${given}: must be triscope, reader or geopm`);
}

function secondsOf(name: string, given: string): number {
  const value = Number(given);
  if (given.trim() !== '' && Number.isFinite(value)) return value;
  throw new UsageError(`--${name} ${given}: must be seconds since the recording's start`);
}

/** Returns the exit code. @throws UsageError, QueryError, InputError, ExportError, MissingPieceError */
export async function exportCommand(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (asked === null) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const { out, json, ...options } = asked;
  if (out === '-' && json) throw new UsageError('--json and -o - both write to stdout');
  const interrupt = onInterrupt();
  try {
    const result =
      out === '-'
        ? await exportToStream(options, process.stdout, interrupt.signal)
        : await exportRecording(options, out, interrupt.signal);
    tell(result, asked);
    return 0;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    process.stderr.write('triscope: interrupted; nothing was written\n');
    return EXIT.interrupted;
  } finally {
    interrupt.release();
  }
}

function tell({ files, bytes, notes }: ExportResult, { out, json, format }: Asked): void {
  for (const note of notes) process.stderr.write(`triscope: ${note}\n`);
  if (json) {
    process.stdout.write(`${JSON.stringify({ format, output: out, bytes, files }, null, 2)}\n`);
    return;
  }
  const rows = files.reduce((sum, one) => sum + one.rows, 0);
  const what =
    { 'trace-event': 'trace events', openmetrics: 'samples' }[format as string] ?? 'rows';
  const of = files.length > 1 ? ` of ${files.length} tables` : '';
  process.stderr.write(`triscope: ${out}: ${short(rows)} ${what}${of}, ${short(bytes)}B\n`);
  if (rows === 0) process.stderr.write('triscope: there was nothing to export: it is empty\n');
}
