/** A recording for work that asks the same again: each statement is run once, and its rows are shared. */
import type { OpenRecording } from './open.ts';

/** Rows of an answer that is kept: longer ones would take memory until the last question. */
const MOST_ROWS = 100;

/** The same recording; what a statement without options answered, it answers again. */
export function askedOnce(recording: OpenRecording): OpenRecording {
  const asked = new Map<string, Promise<object[]>>();
  return {
    ...{ name: recording.name, names: recording.names },
    ...{ suspects: recording.suspects, notes: recording.notes },
    query: <T extends object>(sql: string, options?: Parameters<OpenRecording['query']>[1]) => {
      if (options !== undefined) return recording.query<T>(sql, options);
      let answer = asked.get(sql);
      if (answer === undefined) {
        answer = recording.query(sql);
        asked.set(sql, answer);
        const forget = () => void asked.delete(sql);
        answer.then((rows) => rows.length > MOST_ROWS && forget(), forget);
      }
      return answer as Promise<T[]>;
    },
    rows: (sql, options) => recording.rows(sql, options),
    columns: (sql, options) => recording.columns(sql, options),
    table: (name) => recording.table(name),
    close: () => recording.close(),
  };
}
