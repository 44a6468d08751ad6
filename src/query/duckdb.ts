/** DuckDB's API, by `require`: to import it, Node would first search all of it for what it exports, 0.1 s of a query's. */
import { createRequire } from 'node:module';
import type * as Api from '@duckdb/node-api';

/** Its calls become those of a linked script (bin/link.mjs). */
const api = createRequire(import.meta.url);

export const {
  DOUBLE,
  DuckDBDateValue,
  DuckDBInstance,
  DuckDBTableFunction,
  DuckDBTimestampTZValue,
  DuckDBTypeId,
  FLOAT,
  INTEGER,
  JSDuckDBValueConverter,
  StatementType,
  UBIGINT,
  UINTEGER,
  version,
} = api('@duckdb/node-api') as typeof Api;

/** By which its vectors read texts. */
export const accessors = api('@duckdb/node-api/lib/vectors/dataAccessors.js') as {
  textDecoder: unknown;
};

export type DuckDBInstance = Api.DuckDBInstance;
export type StatementType = Api.StatementType;
