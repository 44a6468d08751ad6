/** A recording whose queries end with an abort signal, for work of many queries that may be cancelled. */
import type { OpenRecording } from './open.ts';

/** The same recording; its queries are rejected with the signal's reason once it is aborted. */
export function endedBy(recording: OpenRecording, signal: AbortSignal): OpenRecording {
  return {
    ...{ name: recording.name, names: recording.names },
    ...{ suspects: recording.suspects, notes: recording.notes },
    query: (sql, options) => recording.query(sql, { signal, ...options }),
    rows: (sql, options) => recording.rows(sql, { signal, ...options }),
    columns: (sql, options) => recording.columns(sql, { signal, ...options }),
    table: (name) => recording.table(name),
    close: () => recording.close(),
  };
}
