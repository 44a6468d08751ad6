/** SQL from the page: one statement that only reads, for a bounded time, with a bounded number of rows. */
import type { Context } from 'hono';
import type { OpenRecording, Value } from '../../query/index.ts';
import type { QueryAsked } from '../../view/facts/query.ts';
import { ApiError, type Route } from './route.ts';

const DEFAULT_ROWS = 1000;
const MOST_ROWS = 100_000;
/** Bytes of an answer, about. */
const MOST_TEXT_BYTES = 32 * 1024 * 1024;
/** Of a statement. */
const MOST_SQL = 20_000;

async function asked(c: Context): Promise<Required<QueryAsked>> {
  if (!(c.req.header('content-type') ?? '').startsWith('application/json')) {
    throw new ApiError(415, 'Content-Type must be application/json: {"sql": "SELECT …"}');
  }
  let body: unknown;
  try {
    body = JSON.parse(await c.req.text());
  } catch {
    throw new ApiError(400, 'the body is not JSON: {"sql": "SELECT …"}');
  }
  const given = typeof body === 'object' && body !== null ? body : {};
  const { sql, limit = DEFAULT_ROWS } = given as Readonly<Record<string, unknown>>;
  if (typeof sql !== 'string' || sql.trim() === '')
    throw new ApiError(400, 'the field sql is missing');
  if (sql.length > MOST_SQL) {
    throw new ApiError(413, `sql has more than ${MOST_SQL} characters`);
  }
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > MOST_ROWS) {
    throw new ApiError(400, `limit must be an integer of 1 to ${MOST_ROWS}`);
  }
  return { sql, limit: limit as number };
}

/** Integers beyond 2^53, and numbers that are none, as text. */
const jsonText = (row: readonly Value[]): string =>
  JSON.stringify(row, (_, one: unknown) => {
    if (typeof one === 'bigint') return String(one);
    return typeof one === 'number' && !Number.isFinite(one) ? String(one) : one;
  });

/** The answer as JSON. @throws QueryError, TimeLimitError */
async function answer(
  tables: OpenRecording,
  { sql, limit }: Required<QueryAsked>,
  signal: AbortSignal,
) {
  const { columns, blocks } = await tables.rows(sql, { signal });
  const rows: string[] = [];
  let size = 0;
  let more = false;
  for await (const block of blocks) {
    for (const row of block) {
      if (rows.length === limit || size > MOST_TEXT_BYTES) {
        more = true;
        break;
      }
      const text = jsonText(row);
      size += text.length;
      rows.push(text);
    }
    if (more) break;
  }
  return `{"columns":${JSON.stringify(columns)},"rows":[${rows.join(',\n')}],"more":${more}}`;
}

export const SQL: readonly Route[] = [
  {
    method: 'post',
    path: '/query',
    summary: 'Answers a SELECT over the recording’s tables',
    body: {
      type: 'object',
      properties: {
        sql: { type: 'string', description: 'one statement that only reads: docs/query.md' },
        limit: { type: 'integer', minimum: 1, maximum: MOST_ROWS, description: 'rows at most' },
      },
      required: ['sql'],
    },
    gives:
      'columns (name, type), rows as lists, and whether there are more; integers beyond 2^53 as text',
    answer: async (c, context) => {
      const what = await asked(c);
      const shown = await context.shown(c);
      const text = await answer(await shown.sql(), what, context.signal);
      return c.body(text, 200, { 'Content-Type': 'application/json' });
    },
  },
];
