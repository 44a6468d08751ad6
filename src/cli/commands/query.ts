/** `triscope query PATH… "SQL"`: a recording as SQL tables. */
import {
  type OpenOptions,
  type OpenRecording,
  openRecording,
  type Value,
} from '../../query/index.ts';
import { QUOTE_FORMULAS } from '../csv.ts';
import { UsageError } from '../errors.ts';
import { type PathOptions, readPathOptions } from '../path-options.ts';
import { csvLine, jsonText, printTable, say } from '../result-rows.ts';

const USAGE = `usage: triscope query PATH… "SQL" [--json | --csv] [options]
       triscope query PATH…

Answers a query over a recording's folder, a folder of native files, or a file; without one, lists
the tables. Of several paths each is a schema named as its folder, and the first is meant where no
schema is named. Column t is always seconds since the recording's start. Read-only.

  --json       an array of objects, one a line; integers beyond 2^53 as text
  --csv        with a header; missing values are empty
  --quote-formulas  in CSV, a text that a spreadsheet would run as a formula (= + - @) gets a ' before it
  --limit N    rows of the text table at most (1000); the other forms give all
  --cache      keep the tables as a DuckDB file in the user's cache folder: read again when files change
  --cache-dir DIR  keep them there
  --memory SIZE    memory of intermediate results (512MiB); more goes to a temporary folder
  --time-limit S   end the query after so many seconds (exit code 1)

The text table is as wide as the terminal at most (COLUMNS tells otherwise); lists of 8 numbers and more are drawn.

Tables: docs/query.md. DESCRIBE ross_pe and SELECT * FROM metrics tell columns.`;

interface Asked {
  readonly paths: readonly string[];
  readonly sql: string | null;
  readonly form: 'text' | 'json' | 'csv';
  readonly formulas: 'keep' | 'quote';
  readonly limit: number;
  readonly options: OpenOptions;
}

/** A timer takes no more. */
const MOST_SECONDS = 2_000_000;

const SQL_WORD =
  /^[\s(]*(select|with|from|describe|desc|show|summarize|explain|values|pivot|unpivot|table)\b/i;

const OPTIONS = {
  json: 'switch',
  csv: 'switch',
  [QUOTE_FORMULAS]: 'switch',
  limit: 'text',
  cache: 'switch',
  'cache-dir': 'text',
  memory: 'text',
  'time-limit': 'text',
} as const;

/** @throws UsageError; null for --help */
function read(args: readonly string[]): Asked | null {
  const asked = readPathOptions(args, OPTIONS, USAGE, 'recording');
  if (asked === null) return null;
  if (asked.on('json') && asked.on('csv')) throw new UsageError('--json or --csv, not both');
  const limit = Number(asked.text('limit') ?? 1000);
  if (!Number.isInteger(limit) || limit < 1) {
    throw new UsageError(`--limit ${asked.text('limit')}: it is an integer of at least 1`);
  }
  const words = asked.paths;
  const last = words[words.length - 1];
  if (words.some((word) => word.trim() === '')) {
    throw new UsageError('an empty path or query; without a query, the tables are listed');
  }
  const hasSql = words.length > 1 && (SQL_WORD.test(last) || /\s/.test(last));
  const paths = hasSql ? words.slice(0, -1) : words;
  const form = asked.on('json') ? 'json' : asked.on('csv') ? 'csv' : 'text';
  const formulas = asked.on(QUOTE_FORMULAS) ? 'quote' : 'keep';
  return { paths, sql: hasSql ? last : null, form, formulas, limit, options: optionsOf(asked) };
}

const SIZE = /^\d+(\.\d+)?\s*[KMGT]i?B$/i;

function optionsOf(asked: PathOptions): OpenOptions {
  const [folder, memory, limit] = ['cache-dir', 'memory', 'time-limit'].map(asked.text);
  const cache = asked.on('cache');
  if (folder === '') throw new UsageError('--cache-dir: which folder?');
  if (memory !== undefined && !SIZE.test(memory)) {
    throw new UsageError(`--memory ${memory}: it is a size such as 2GB`);
  }
  const timeLimit = Number(limit);
  if (limit !== undefined && !(timeLimit > 0 && timeLimit <= MOST_SECONDS)) {
    throw new UsageError(`--time-limit ${limit}: it is a number of seconds above 0`);
  }
  return {
    cache: folder ?? cache,
    ...(memory !== undefined && { memory }),
    ...(limit !== undefined && { timeLimit, isolated: true }),
  };
}

const TABLES = `SELECT CASE WHEN t.table_schema = 'main' THEN '' ELSE t.table_schema || '.' END || t.table_name AS "table",
  (SELECT count(*) FROM information_schema.columns c
    WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name) AS columns,
  coalesce(v.comment, '') AS help
FROM information_schema.tables t
LEFT JOIN duckdb_views() v ON v.schema_name = t.table_schema AND v.view_name = t.table_name
WHERE t.table_catalog = 'memory' ORDER BY ALL`;

/** Prints the answer. Returns the exit code. @throws UsageError, QueryError, InputError, MissingPieceError */
export async function query(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (asked === null) return 0;
  const recording = await openRecording(asked.paths, asked.options);
  try {
    for (const { file, what } of recording.suspects) {
      process.stderr.write(`triscope: ${file}: ${what}\n`);
    }
    for (const note of recording.notes) process.stderr.write(`triscope: ${note}\n`);
    await answer(recording, asked);
    return 0;
  } finally {
    await recording.close();
  }
}

async function answer(
  recording: OpenRecording,
  { sql, form, formulas, limit }: Asked,
): Promise<void> {
  const { columns, blocks } = await recording.rows(sql ?? TABLES);
  const names = columns.map(({ name }) => name);
  if (form === 'text') return printTable(columns, blocks, limit);
  if (form === 'csv') {
    const line = (row: readonly Value[]) => csvLine(row, formulas);
    await say(line(names));
    for await (const block of blocks) await say(block.map(line).join(''));
    return;
  }
  let before = '[\n';
  for await (const block of blocks) {
    const lines = block.map((row) =>
      jsonText(Object.fromEntries(names.map((name, k) => [name, row[k]]))),
    );
    if (lines.length === 0) continue;
    await say(before + lines.join(',\n'));
    before = ',\n';
  }
  await say(before === '[\n' ? '[]\n' : '\n]\n');
}
