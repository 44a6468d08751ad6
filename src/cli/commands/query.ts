/** `triscope query PATH… "SQL"`: a recording as SQL tables. */
import { parseArgs } from 'node:util';
import { type OpenOptions, type OpenRecording, openRecording } from '../../query/index.ts';
import { UsageError } from '../errors.ts';
import { csvLine, jsonText, printTable, say } from '../result-rows.ts';

const USAGE = `usage: triscope query PATH… "SQL" [--json | --csv] [options]
       triscope query PATH…

Answers a query over a recording's folder, a folder of native files, or a file; without one, lists
the tables. Of several paths each is a schema named as its folder, and the first is meant where no
schema is named. Column t is always seconds since the recording's start. Read-only.

  --json       an array of objects, one a line; integers beyond 2^53 as text
  --csv        with a header; missing values are empty
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
  readonly limit: number;
  readonly options: OpenOptions;
}

/** A timer takes no more. */
const MOST_SECONDS = 2_000_000;

const SQL_WORD =
  /^[\s(]*(select|with|from|describe|desc|show|summarize|explain|values|pivot|unpivot|table)\b/i;

/** @throws UsageError; null for --help */
function read(args: readonly string[]): Asked | null {
  const boolean = { type: 'boolean' } as const;
  let parsed: ReturnType<typeof parse>;
  const parse = () =>
    parseArgs({
      args: [...args],
      options: {
        help: { ...boolean, short: 'h' },
        json: boolean,
        csv: boolean,
        limit: { type: 'string' },
        cache: boolean,
        'cache-dir': { type: 'string' },
        memory: { type: 'string' },
        'time-limit': { type: 'string' },
      },
      allowPositionals: true,
    });
  try {
    parsed = parse();
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
  const { values, positionals } = parsed;
  if (values.help) return null;
  if (values.json && values.csv) throw new UsageError('--json or --csv, not both');
  const limit = Number(values.limit ?? 1000);
  if (!Number.isInteger(limit) || limit < 1) {
    throw new UsageError(`--limit ${values.limit}: it is an integer of at least 1`);
  }
  const last = positionals[positionals.length - 1];
  const hasSql = positionals.length > 1 && (SQL_WORD.test(last) || /\s/.test(last));
  const paths = hasSql ? positionals.slice(0, -1) : positionals;
  if (paths.length === 0) throw new UsageError(`which recording? ${USAGE.split('\n')[0]}`);
  const form = values.json ? 'json' : values.csv ? 'csv' : 'text';
  return { paths, sql: hasSql ? last : null, form, limit, options: optionsOf(values) };
}

const SIZE = /^\d+(\.\d+)?\s*[KMGT]i?B$/i;

function optionsOf(values: {
  readonly cache?: boolean;
  readonly 'cache-dir'?: string;
  readonly memory?: string;
  readonly 'time-limit'?: string;
}): OpenOptions {
  const { cache = false, 'cache-dir': folder, memory, 'time-limit': limit } = values;
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
    ...(limit !== undefined && { timeLimit }),
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
  if (asked === null) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
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

async function answer(recording: OpenRecording, { sql, form, limit }: Asked): Promise<void> {
  const { columns, blocks } = await recording.rows(sql ?? TABLES);
  const names = columns.map(({ name }) => name);
  if (form === 'text') return printTable(columns, blocks, limit);
  if (form === 'csv') {
    await say(csvLine(names));
    for await (const block of blocks) await say(block.map(csvLine).join(''));
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
