/** `triscope export PATH… --to FORMAT -o OUT`: recordings in other tools' formats. */

import { counted, bytes as sizeText } from '../../model/measures/index.ts';
import { choice, flag, float, text } from '../../model/option.ts';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportOptions,
  type ExportResult,
  exportRecording,
  exportToStream,
} from '../../query/export/index.ts';
import { type Call, command, RECORDINGS } from '../command.ts';
import { QUOTE_FORMULAS } from '../csv.ts';
import { EXIT, UsageError } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { READER_NAMES } from '../reader-names.ts';

type Asked = ExportOptions & { readonly out: string; readonly json: boolean };

const seconds = (edge: string) =>
  float(0, `${edge} of the part of a trace that is written, s since the recording’s start`, {
    placeholder: 'S',
    fallback: '',
  });

const OPTIONS = {
  to: choice(
    EXPORT_FORMATS,
    '',
    'the format: json is one object a line, trace-event is for Perfetto and chrome://tracing',
    { placeholder: 'FORMAT', required: true },
  ),
  output: text(
    '',
    'a file; a folder with one file per table if several are exported; - is stdout',
    { placeholder: 'OUT', short: 'o', names: 'path', required: true },
  ),
  table: {
    ...text('', 'only these tables, as triscope query lists them', {
      placeholder: 'NAMES',
      names: 'table',
    }),
    many: true,
  },
  sql: text('', 'export the answer to a query instead of tables', { placeholder: 'SQL' }),
  partition: choice(['host'], '', 'folders host=NAME of Parquet, CSV or JSON files'),
  names: choice(
    ['triscope', 'reader', 'geopm'],
    'triscope',
    'for CSV: ross-binary-reader’s names of columns, or the form of GEOPM’s traces',
  ),
  'quote-formulas': QUOTE_FORMULAS,
  from: seconds('start'),
  until: seconds('end'),
  'no-flows': flag(false, 'leave out a trace’s arrows from sends to receives'),
  json: flag(false, 'print on stdout what was written'),
} as const;

/** Options that only some formats have. */
const ROWS = ['parquet', 'arrow', 'csv', 'json'] as const;
const ONLY = {
  table: [...ROWS, 'openmetrics'],
  sql: ROWS,
  partition: ['parquet', 'csv', 'json'],
  names: ['csv'],
  'quote-formulas': ['csv'],
  from: ['trace-event'],
  until: ['trace-event'],
  'no-flows': ['trace-event'],
} as const satisfies Partial<Record<keyof typeof OPTIONS, readonly ExportFormat[]>>;
const ONLY_ENTRIES = Object.entries(ONLY) as [keyof typeof ONLY, readonly ExportFormat[]][];

/** @throws UsageError */
function read({ words: paths, given }: Call<typeof OPTIONS, null>): Asked {
  const format = given.to as ExportFormat;
  const out = String(given.output);
  for (const [name, formats] of ONLY_ENTRIES) {
    if (given[name] === undefined || formats.includes(format)) continue;
    throw new UsageError(`--${name} is for ${formats.join(', ')}, not for ${format}`);
  }
  const tables = given.table?.flatMap((names) => names.split(',')).filter(Boolean);
  const sql = given.sql;
  if (tables !== undefined && sql !== undefined)
    throw new UsageError('--table and --sql exclude each other');
  if (tables?.length === 0) throw new UsageError('--table: name at least one table');
  if (format === 'openmetrics' && paths.length > 1) {
    throw new UsageError(
      'openmetrics takes one PATH: series of two recordings would have the same names',
    );
  }
  const partition = given.partition;
  if (partition !== undefined && out === '-') {
    throw new UsageError('--partition makes a folder, which cannot be written to stdout');
  }
  const [from, until] = [given.from, given.until];
  return {
    paths,
    format,
    out,
    json: given.json === true,
    ...(tables !== undefined && { tables }),
    ...(sql !== undefined && { sql }),
    ...(partition !== undefined && { partition }),
    ...(given.names === 'reader' && { rename: READER_NAMES }),
    ...(given.names === 'geopm' && { style: 'geopm' as const }),
    ...(given['quote-formulas'] && { quoteFormulas: true }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { to: until }),
    flows: given['no-flows'] !== true,
    gzip: out.endsWith('.gz'),
  };
}

/** Returns the exit code. @throws UsageError, QueryError, InputError, ExportError, MissingPieceError */
async function run(call: Call<typeof OPTIONS, null>): Promise<number> {
  const asked = read(call);
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
  const what = { 'trace-event': 'trace event', openmetrics: 'sample' }[format as string] ?? 'row';
  const of = files.length > 1 ? ` of ${files.length} tables` : '';
  const to = out === '-' ? '' : `${out}: `;
  process.stderr.write(`triscope: ${to}${counted(rows, what)}${of}, ${sizeText(bytes)}\n`);
  if (rows === 0) process.stderr.write('triscope: nothing to export: there are no rows\n');
}

export const exportCommand = command({
  about:
    'Writes a recording, or files of any format that triscope reads, for other tools. OUT appears only once it is complete.\n\nA trace whose OUT ends in .gz is compressed. Formats and what is drawn where: docs/export.md.',
  arguments: [RECORDINGS],
  options: OPTIONS,
  examples: [
    'export run.tri --to parquet -o tables',
    'export run.tri --to trace-event -o run.json.gz',
    'export run.tri --to csv --table ross_pe -o -',
  ],
  run,
});
