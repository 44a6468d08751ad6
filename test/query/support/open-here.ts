/** Recordings without a thread of their own. */
import type { OpenRecording } from 'triscope/query';
import { Database } from '../../../dist/query/database.js';
import { plain } from '../../../dist/query/open.js';
import { sourcesOf } from '../../../dist/query/sources.js';

/**
 * A recording as `openRecording` gives it, but in this thread: to start a thread and load DuckDB there takes several times
 * as long as a rule.
 */
export async function openHere(path: string): Promise<OpenRecording> {
  const database = await Database.open([sourcesOf(path)]);
  const [{ name, suspects }] = database.recordings;
  const query = async (sql: string) => {
    const { header, next, close } = await database.start(sql);
    const all: object[] = [];
    try {
      for (let rows = await next(); rows !== null; rows = await next()) {
        for (const row of rows) {
          all.push(Object.fromEntries(header.map((column, k) => [column.name, plain(row[k])])));
        }
      }
    } finally {
      close();
    }
    return all;
  };
  return {
    name,
    names: [name],
    suspects,
    query,
    close: async () => database.close(),
  } as unknown as OpenRecording;
}
