/** Gathers the contents of a recording's report. */
import { examine, type Verdict } from '../findings/index.ts';
import { type OpenRecording, openRecording, type Row, type Suspect } from '../query/index.ts';
import type { Chart } from './chart.ts';
import { chartsOf } from './charts.ts';
import { type Has, type ReportTable, tablesOf } from './tables.ts';

export interface RecordingReport {
  /** The row of table `recording`. */
  readonly facts: Row;
  /** Findings, and the rules that could not be examined. */
  readonly verdict: Verdict;
  readonly tables: readonly ReportTable[];
  /** None unless asked for. */
  readonly charts: readonly Chart[];
  readonly suspects: readonly Suspect[];
}

/** The tables and columns that a recording has. */
export async function hasOf(recording: OpenRecording): Promise<Has> {
  const columns = await recording.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column"
    FROM information_schema.columns WHERE table_schema = 'main'`,
  );
  const there = new Set(columns.flatMap(({ table, column }) => [table, `${table}.${column}`]));
  return (name) => there.has(name);
}

/** @throws InputError, QueryError, MissingPieceError */
export async function gather(
  path: string,
  { charts = false }: { readonly charts?: boolean } = {},
): Promise<RecordingReport> {
  const recording = await openRecording(path);
  try {
    const has = await hasOf(recording);
    const [facts] = await recording.query('SELECT * FROM recording');
    return {
      facts,
      verdict: await examine(recording, { path }),
      tables: await tablesOf(recording, has),
      charts: charts ? await chartsOf(recording, has) : [],
      suspects: recording.suspects,
    };
  } finally {
    await recording.close();
  }
}
