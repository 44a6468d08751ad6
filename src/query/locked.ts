/** A DuckDB that is locked before any file is opened, and before any statement runs that data contributed to. */
import { resolve } from 'node:path';
import type { DuckDBInstance as Instance } from '@duckdb/node-api';
import { quoteText } from '../model/sql.ts';
import { DuckDBInstance, DuckDBTimestampTZValue } from './duckdb.ts';

/**
 * In memory, without extensions and network. Of the file system it may use `folders` and `files`, and its own
 * `temp_directory` if that is set; from here on no statement can change that.
 * @param settings see `SETTINGS`
 */
export async function openLocked(
  settings: Readonly<Record<string, string>>,
  folders: readonly string[] = [],
  files: readonly string[] = [],
): Promise<Instance> {
  const instance = await DuckDBInstance.create(':memory:', { ...settings });
  const connection = await instance.connect();
  try {
    const list = (paths: readonly string[]) =>
      paths.map((path) => quoteText(resolve(path))).join(', ');
    // Times with a zone are told in UTC, the same wherever a recording is read.
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
    DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0;
    await connection.run(`SET allowed_directories = [${list(folders)}]`);
    await connection.run(`SET allowed_paths = [${list(files)}]`);
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
    return instance;
  } catch (error) {
    instance.closeSync();
    throw error;
  } finally {
    connection.closeSync();
  }
}
