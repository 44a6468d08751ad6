/** A recording, or native files, as series: reads whatever `triscope query` reads. */
import { basename } from 'node:path';
import type { Part, RawColumn, RawRows, TakeRows } from '../formats/part.ts';
import type { Batch, Column, Schema } from '../model/metric.ts';
import { beganOf } from '../model/recording.ts';
import { breath } from '../os/breath.ts';
import { loadTables } from '../query/load.ts';
import type { Suspect } from '../query/part.ts';
import { type Sources, sourcesOf } from '../query/sources.ts';
import type { Table, TablePiece } from '../query/table.ts';
import type { Flag } from '../view/facts/flag.ts';
import { type PageFacts, pageFactsOf } from '../view/facts/run.ts';
import { NOT_DRAWN } from '../view/series/live-store.ts';
import { SeriesStore } from '../view/series/store.ts';
import { type SeriesClock, SeriesTable } from '../view/series/table.ts';
import { flagsOf } from './flags.ts';

export interface OpenSeries {
  readonly facts: PageFacts;
  readonly store: SeriesStore;
  /** Takes in what was appended to loose files. False where that is not all that happened: it has to be opened anew. */
  grow(): boolean;
  close(): void;
}

/** Suspects that are told each; more are counted. */
const MOST_NOTES = 8;
/** Rows that are taken before others get their turn. */
const TURN = 50_000;

/** The table's columns as a schema: files of one table may differ in theirs. */
const schemaOf = ({ name, help, columns, pieces }: Table): Schema => ({
  name,
  domain: pieces[0].part.schema.domain,
  help,
  metrics: columns.map(({ metric }) => metric),
});

const texts = (codes: ArrayLike<number | bigint>, labels: readonly string[]): string[] =>
  Array.from(codes, (code) => labels[Number(code)] ?? '');

/** Columns that are not asked for are not looked at. */
const NOTHING = new Float64Array(0);

/** Rows of one file as a batch of `schema`, `wanted` columns filled. @param cellsOf gives a column of the file */
function batchFrom(
  { part, from }: TablePiece,
  schema: Schema,
  wanted: readonly number[],
  rows: number,
  cellsOf: (source: number) => RawColumn,
): Batch {
  const columns = new Array<Column>(schema.metrics.length).fill(NOTHING);
  for (const column of wanted) {
    const source = from[column];
    if (source < 0) {
      const isLabel = schema.metrics[column].cell === 'label';
      columns[column] = isLabel
        ? new Array<string>(rows).fill('')
        : new Float64Array(rows).fill(Number.NaN);
      continue;
    }
    const labels = part.labels[source];
    const cells = cellsOf(source);
    columns[column] = labels === null ? cells : texts(cells, labels);
  }
  return { schema, rows, columns };
}

/** By part: what takes its rows, all columns of them. */
type Takers = Map<Part, (rows: RawRows) => void>;

async function fill(store: SeriesStore, table: Table, takers: Takers): Promise<void> {
  for (const { part } of table.pieces) takers.set(part, () => {});
  const schema = schemaOf(table);
  const wanted = SeriesTable.columnsOf(schema, store.clock);
  if (wanted === null || NOT_DRAWN.includes(table.name)) return;
  if (store.clock === 'real' ? !table.timed : !table.name.startsWith('ross_')) return;
  let taken = 0;
  for (const piece of table.pieces) {
    const { part, from } = piece;
    const read = [...new Set(wanted.map((column) => from[column]).filter((source) => source >= 0))];
    const add = (rows: number, cellsOf: (source: number) => RawColumn) =>
      store.add(
        batchFrom(piece, schema, wanted, rows, cellsOf),
        store.clock === 'real' ? -piece.shift : 0,
      );
    takers.set(part, ({ rows, columns }) => add(rows, (source) => columns[source]));
    for (const { rows, columns } of part.read(read)) {
      add(rows, (source) => columns[read.indexOf(source)]);
      taken += rows;
      if (taken < TURN) continue;
      taken = 0;
      await breath();
    }
  }
}

function notesOf(suspects: readonly Suspect[]): string[] {
  const told = suspects.slice(0, MOST_NOTES).map(({ file, what }) => `${file}: ${what}`);
  const more = suspects.length - told.length;
  return more > 0 ? [...told, `${more} more places are doubtful: table suspect`] : told;
}

function loose({ name }: Sources, start: bigint | null, notes: readonly string[]): PageFacts {
  const zero = String(start ?? 0n);
  return { title: name, command: '', state: 'finished', hosts: [], pes: [], zero, notes };
}

/**
 * Reads a recording's folder, a folder of native files, or a file. What cannot be read becomes a note among its facts;
 * the rest is there.
 * @throws InputError where it is none
 * @example
 * ```ts
 * import { openSeries } from 'triscope/live';
 *
 * const recording = await openSeries('run.tri');
 * console.log(recording.facts.title, recording.facts.state);
 * recording.close();
 * ```
 */
export async function openSeries(path: string): Promise<OpenSeries> {
  const sources = sourcesOf(path);
  const { recording } = sources;
  const { tables, suspects, start, follow, close } = await loadTables(sources);
  const followed = follow();
  const notes = notesOf(suspects);
  const takers: Takers = new Map();
  const filled = async (clock: SeriesClock) => {
    const store = new SeriesStore(Infinity, clock);
    store.estimates = recording !== null;
    // Virtual time begins at 0.
    if (recording === null) store.since = null;
    else if (clock === 'real') store.since = beganOf(recording) ?? 0;
    for (const table of tables) {
      try {
        await fill(store, table, takers);
      } catch (error) {
        notes.push(`table ${table.name}: ${(error as Error).message}`);
      }
    }
    return store;
  };
  let store: SeriesStore;
  let flags: readonly Flag[];
  try {
    flags = flagsOf(sources.notes.notes, tables);
    store = await filled('real');
    if (!store.moves) {
      const virtual = await filled('virtual');
      if (virtual.moves) store = virtual;
    }
  } catch (error) {
    close();
    throw error;
  }
  for (const part of takers.keys()) part.release?.();
  if (recording !== null) close();
  const grow = (): boolean => {
    let all = true;
    const take: TakeRows = (part, rows) => {
      const taker = takers.get(part);
      all &&= taker !== undefined;
      taker?.(rows);
    };
    try {
      return recording === null && followed(take) && all;
    } catch {
      // Being written at this moment, perhaps.
      return false;
    }
  };
  const title = sources.name || basename(path);
  const facts =
    recording === null ? loose(sources, start, notes) : pageFactsOf(recording, title, notes);
  const { clock } = store;
  const names = tables.map(({ name }) => name);
  const told = {
    ...{ ...facts, tables: names },
    ...(flags.length > 0 && { flags }),
    ...(clock !== 'real' && { clock }),
  };
  return { facts: told, store, grow, close };
}
