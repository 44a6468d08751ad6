/** DuckDB's API, by `require`: to import it, Node would first search all of it for what it exports, 0.1 s of a query's. */
import { createRequire } from 'node:module';
import type * as Api from '@duckdb/node-api';

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
} = createRequire(import.meta.url)('@duckdb/node-api') as typeof Api;

export type DuckDBInstance = Api.DuckDBInstance;
export type StatementType = Api.StatementType;
