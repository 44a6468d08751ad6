/** `triscope query PATH… "SQL"`: a recording as SQL tables. */
import { readFileSync } from 'node:fs';

import { flag, float, int, text } from '../../model/option.ts';
import { readPlain, readReason } from '../../os/plain-file.ts';
import { asksForMeanings } from '../../query/comments.ts';
import {
  InputError,
  type OpenOptions,
  type OpenRecording,
  openRecording,
  QueryError,
  type Rows,
  statementsOf,
  type Value,
} from '../../query/index.ts';
import { type Call, command, type Given, RECORDINGS } from '../command.ts';
import { QUOTE_FORMULAS } from '../csv.ts';
import { UsageError } from '../errors.ts';
import { MEMORY, memoryOf } from '../memory-option.ts';
import { checkPath } from '../missing-path.ts';
import { pathsOf } from '../path-pattern.ts';
import { csvLine, jsonText, printTable, say } from '../result-rows.ts';

interface Asked {
  readonly paths: readonly string[];
  /** The statements with their origin, for error messages; none: the tables are listed. */
  readonly scripts: readonly Script[];
  readonly form: 'text' | 'json' | 'csv';
  readonly formulas: 'keep' | 'quote';
  readonly limit: number;
  readonly options: OpenOptions;
}

interface Script {
  readonly text: string;
  /** File that the text comes from; '' for the command line. */
  readonly from: string;
}

/** Longest delay of a timer. */
const MOST_SECONDS = 2_000_000;

const SQL_WORD =
  /^[\s(]*(select|with|from|describe|desc|show|summarize|explain|values|pivot|unpivot|table|create)\b/i;
/** Statements come on standard input. */
const STDIN = '-';

const OPTIONS = {
  with: {
    ...text('', 'a CSV or Parquet file of your own as a table; no other file can be read', {
      placeholder: 'NAME=FILE',
    }),
    many: true as const,
  },
  file: text('', 'statements from a file, views and macros among them', {
    placeholder: 'FILE.sql',
    short: 'f',
    names: 'input',
  }),
  json: flag(false, 'an array of objects, one per line; integers beyond 2^53 as text'),
  csv: flag(false, 'with a header; missing values are empty'),
  'quote-formulas': QUOTE_FORMULAS,
  limit: int(1000, 'maximum rows of the text table; other formats have all', { min: 1 }),
  cache: flag(
    false,
    'keep the tables as a DuckDB file in the user’s cache folder; changed files are read again',
  ),
  'cache-dir': text('', 'the same as --cache, in this folder', {
    placeholder: 'DIR',
    names: 'folder',
  }),
  memory: MEMORY,
  'time-limit': float(0, 'stop the query after this many seconds (exit code 1)', {
    min: Number.MIN_VALUE,
    max: MOST_SECONDS,
    placeholder: 'S',
    fallback: '',
  }),
};
type QueryOptions = Given<typeof OPTIONS>;

/** @throws UsageError */
function read({ words, given }: Call<typeof OPTIONS, null>): Asked {
  const [json, csv] = [given.json, given.csv];
  if (json && csv) throw new UsageError('--json or --csv, not both');
  const last = words[words.length - 1];
  if (words.some((word) => word.trim() === '')) {
    throw new UsageError('a path or query is empty; leave the query out to list the tables');
  }
  const hasSql = words.length > 1 && (last === STDIN || SQL_WORD.test(last) || /\s/.test(last));
  const { file } = given;
  if (file === '') throw new UsageError('-f needs a file');
  return {
    paths: (hasSql ? words.slice(0, -1) : words).flatMap(pathsOf),
    scripts: [
      ...(file === undefined ? [] : [{ text: readText(file), from: file }]),
      ...(hasSql ? [scriptOf(last)] : []),
    ],
    form: json ? 'json' : csv ? 'csv' : 'text',
    formulas: given['quote-formulas'] ? 'quote' : 'keep',
    limit: given.limit ?? OPTIONS.limit.default,
    options: optionsOf(given),
  };
}

const scriptOf = (word: string): Script =>
  word === STDIN
    ? { text: readFileSync(0, 'utf8'), from: 'standard input' }
    : { text: word, from: '' };

/** @throws InputError */
function readText(path: string): string {
  try {
    return readPlain(path);
  } catch (error) {
    throw new InputError(`${path}: ${readReason(error)}`);
  }
}

/** By name, the path. @throws UsageError */
function filesOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((one) => {
      const [, name, path] = /^([A-Za-z_]\w*)=(.+)$/s.exec(one) ?? [];
      if (name === undefined) {
        throw new UsageError(
          `--with ${one}: must be NAME=FILE, where NAME consists of letters, digits and _`,
        );
      }
      checkPath(path);
      return [name, path];
    }),
  );
}

function optionsOf(given: QueryOptions): OpenOptions {
  const folder = given['cache-dir'];
  const memory = memoryOf(given.memory);
  const timeLimit = given['time-limit'];
  if (folder === '') throw new UsageError('--cache-dir needs a folder');
  return {
    cache: folder ?? given.cache === true,
    files: filesOf(given.with ?? []),
    // A process of its own enforces the limit: DuckDB alone does not keep to it within a function.
    ...(memory !== undefined && { memory, isolated: true }),
    ...(timeLimit !== undefined && { timeLimit, isolated: true }),
  };
}

/** The tables that a recording has, as `query` lists them without a query. */
export const TABLES = `SELECT CASE WHEN t.table_schema = 'main' THEN '' ELSE t.table_schema || '.' END || t.table_name AS "table",
  (SELECT count(*) FROM information_schema.columns c
    WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name) AS columns,
  coalesce(v.comment, '') AS help
FROM information_schema.tables t
LEFT JOIN duckdb_views() v ON v.schema_name = t.table_schema AND v.view_name = t.table_name
WHERE t.table_catalog = 'memory' ORDER BY ALL`;

/** Prints the answer. Returns the exit code. @throws UsageError, QueryError, InputError, MissingPieceError */
async function run(call: Call<typeof OPTIONS, null>): Promise<number> {
  const asked = read(call);
  const statements = asked.scripts.map(({ text }) => text);
  // 70 types of raw stats are loaded only where somebody asks.
  const help = statements.some((sql) => statementsOf(sql).some((one) => asksForMeanings(one.sql)))
    ? (await import('../../node/types/index.ts')).keyHelp()
    : {};
  const recording = await openRecording(asked.paths, { ...asked.options, help });
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

/** Runs the statements in turn; later ones can use the views and macros of earlier ones. */
async function answer(recording: OpenRecording, asked: Asked): Promise<void> {
  const { scripts } = asked;
  if (scripts.length === 0) return print(await recording.rows(TABLES), asked);
  const define: string[] = [];
  let answers = 0;
  for (const { text, from } of scripts) {
    const statements = statementsOf(text);
    if (statements.length === 0) throw new QueryError(told('the query is empty', from));
    for (const { sql, defines } of statements) {
      if (defines) {
        define.push(sql);
        continue;
      }
      try {
        const rows = await recording.rows(sql, { define });
        if (answers++ > 0 && asked.form !== 'json') await say('\n');
        await print(rows, asked);
      } catch (error) {
        throw error instanceof QueryError ? new QueryError(told(error.message, from)) : error;
      }
    }
  }
  if (answers > 0) return;
  throw new UsageError('views and macros alone give no result: add a query');
}

const told = (message: string, from: string): string =>
  from === '' ? message : `${from}: ${message}`;

async function print({ columns, blocks }: Rows, { form, formulas, limit }: Asked): Promise<void> {
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

export const query = command({
  about:
    'Answers a query over a recording’s folder, a folder of native files, or a file; without one, lists the tables. With several paths, each is a schema named after its folder; a name without a schema means the first, every.NAME those of all together, and table runs has a row of settings for each. PATH may be a pattern: runs/*.tri. Column t is always seconds since the recording’s start. Read-only.\n\nThe text table is at most as wide as the terminal (COLUMNS overrides it); lists of 8 or more numbers are drawn as a sparkline. Tables: docs/query.md. DESCRIBE ross_pe lists a table’s columns; SELECT * FROM metrics says what they mean.',
  arguments: [
    RECORDINGS,
    {
      name: 'SQL',
      help: 'the query, as one word; several with ; between; - takes them from standard input',
      optional: true,
      names: 'table',
    },
  ],
  options: OPTIONS,
  examples: [
    'query run.tri',
    'query run.tri "SELECT * FROM pe_on_node LIMIT 5"',
    'query run.tri --with hosts=hosts.csv "SELECT * FROM pes JOIN hosts USING (host)"',
    'query run.tri -f views.sql "FROM busiest"',
  ],
  run,
});
