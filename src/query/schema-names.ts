/** Names that statements may use: schemas, and the first recording's tables without a schema. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../model/sql.ts';
import { GVT_MACROS } from './gvt.ts';
import { MEASURES } from './measure-macros.ts';
import { EVERY } from './runs.ts';
import type { Sources } from './sources.ts';

/** Tables of a schema. */
export async function tableNames(connection: DuckDBConnection, schema: string): Promise<string[]> {
  const rows = await connection.runAndReadAll(
    `SELECT table_name FROM information_schema.tables
      WHERE table_catalog = 'memory' AND table_schema = ${quoteText(schema)} ORDER BY ALL`,
  );
  return rows.getRowsJS().map(([name]) => String(name));
}

/** Makes the tables and macros of `schema` known without it. */
export async function shortNames(connection: DuckDBConnection, schema: string): Promise<void> {
  const names = await tableNames(connection, schema);
  const from = quoteName(schema);
  for (const name of names) {
    const view = quoteName(name);
    await connection.run(`CREATE VIEW main.${view} AS SELECT * FROM ${from}.${view}`);
  }
  if (!names.includes('gvt')) return;
  for (const macro of GVT_MACROS) {
    await connection.run(`CREATE MACRO main.${macro} AS ${from}.${macro}`);
  }
}

const RESERVED = [
  MEASURES,
  'main',
  'temp',
  'system',
  'memory',
  'information_schema',
  'pg_catalog',
  EVERY,
];

/** A schema's name for each recording: its folder's as an identifier, numbered where taken. */
export function schemaNames(all: readonly Sources[]): string[] {
  const taken = new Set(RESERVED);
  return all.map(({ name }) => {
    const plain = name.replace(/\W+/g, '_').replace(/^(?=\d|$)/, '_');
    let schema = plain;
    for (let k = 2; taken.has(schema.toLowerCase()); k++) schema = `${plain}_${k}`;
    taken.add(schema.toLowerCase());
    return schema;
  });
}
