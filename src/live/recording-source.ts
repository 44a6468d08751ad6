/** A recording, or native files, as series: reads whatever `triscope query` reads. */
import { basename } from 'node:path';
import type { Batch, Column, Schema } from '../model/metric.ts';
import { loadTables } from '../query/load.ts';
import type { Suspect } from '../query/part.ts';
import { type Sources, sourcesOf } from '../query/sources.ts';
import type { Table, TablePiece } from '../query/table.ts';
import { type Facts, factsOf } from '../view/facts/run.ts';
import { NOT_DRAWN } from '../view/series/live-store.ts';
import { SeriesStore } from '../view/series/store.ts';
import { type SeriesClock, SeriesTable } from '../view/series/table.ts';

export interface OpenRecording {
  readonly facts: Facts;
  readonly store: SeriesStore;
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

/** Rows of one file as batches of `schema`, `wanted` columns filled. */
function* batchesOf(
  piece: TablePiece,
  schema: Schema,
  wanted: readonly number[],
): Generator<Batch, void, undefined> {
  const { part, from } = piece;
  const read = [...new Set(wanted.map((column) => from[column]).filter((source) => source >= 0))];
  for (const { rows, columns: got } of part.read(read)) {
    const columns = new Array<Column>(schema.metrics.length).fill(NOTHING);
    for (const column of wanted) {
      const labels = from[column] < 0 ? null : part.labels[from[column]];
      const cells = got[read.indexOf(from[column])];
      if (cells === undefined) {
        const isLabel = schema.metrics[column].cell === 'label';
        columns[column] = isLabel
          ? new Array<string>(rows).fill('')
          : new Float64Array(rows).fill(Number.NaN);
      } else columns[column] = labels === null ? cells : texts(cells, labels);
    }
    yield { schema, length: rows, columns };
  }
}

const breath = () => new Promise<void>((resolve) => setImmediate(resolve));

async function fill(store: SeriesStore, table: Table): Promise<void> {
  const schema = schemaOf(table);
  const wanted = SeriesTable.columnsOf(schema, store.clock);
  if (wanted === null || NOT_DRAWN.includes(table.name)) return;
  if (store.clock === 'real' ? !table.timed : !table.name.startsWith('ross_')) return;
  let taken = 0;
  for (const piece of table.pieces) {
    for (const batch of batchesOf(piece, schema, wanted)) {
      store.add(batch, store.clock === 'real' ? -piece.shift : 0);
      taken += batch.length;
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

function loose({ name }: Sources, start: bigint | null, notes: readonly string[]): Facts {
  const zero = String(start ?? 0n);
  return { title: name, command: '', state: 'finished', hosts: [], pes: [], zero, notes };
}

/**
 * Reads a recording's folder, a folder of native files, or a file. What cannot be read becomes a note among its facts;
 * the rest is there.
 * @throws InputError where it is none
 */
export async function openRecording(path: string): Promise<OpenRecording> {
  const sources = sourcesOf(path);
  const { tables, suspects, start, close } = await loadTables(sources);
  const notes = notesOf(suspects);
  const filled = async (clock: SeriesClock) => {
    const store = new SeriesStore(Infinity, clock);
    store.anchored = sources.recording !== null;
    for (const table of tables) {
      try {
        await fill(store, table);
      } catch (error) {
        notes.push(`table ${table.name}: ${(error as Error).message}`);
      }
    }
    return store;
  };
  let store: SeriesStore;
  try {
    store = await filled('real');
    if (!store.moves) {
      const virtual = await filled('virtual');
      if (virtual.moves) store = virtual;
    }
  } finally {
    close();
  }
  const { recording } = sources;
  const title = sources.name || basename(path);
  const facts =
    recording === null ? loose(sources, start, notes) : factsOf(recording, title, notes);
  const { clock } = store;
  const names = tables.map(({ name }) => name);
  return { facts: { ...facts, tables: names, ...(clock !== 'real' && { clock }) }, store };
}
