/** Recordings without a thread of their own. */
import type { OpenRecording } from 'triscope/query';
import { Database } from '../../../dist/query/database.js';
import { sourcesOf } from '../../../dist/query/sources.js';
import { objectsOf } from '../../../src/query/batch-rows.ts';

/**
 * A recording as `openRecording` gives it, but in this thread: to start a thread and load DuckDB there takes several times
 * as long as a rule.
 */
export async function openHere(path: string, cache?: string): Promise<OpenRecording> {
  const database = await Database.open([sourcesOf(path)], { cacheFolder: cache ?? null });
  const [{ name, suspects }] = database.recordings;
  const query = async (sql: string) => {
    const { header, columns, close } = await database.start(sql);
    const types = header.map(({ type }) => type);
    const names = header.map((column) => column.name);
    const all: object[] = [];
    try {
      for (let batch = await columns(); batch !== null; batch = await columns()) {
        all.push(...objectsOf(batch, types, names));
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
    notes: database.notes,
    query,
    close: async () => database.close(),
  } as unknown as OpenRecording;
}
