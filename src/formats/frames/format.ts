/** Stream frames, such as `extra.frames` of a recording, as a format: each schema's rows are a table of that name. */
import type { Schema } from '../../model/metric.ts';
import type { Damage, FileInfo, FileSource, Format, Instant, PassOptions } from '../format.ts';
import type { OpenFile, TakeRows } from '../part.ts';
import { FrameDecoder, type FramePlace } from './decode.ts';
import { type FrameError, MAGIC } from './layout.ts';
import { FrameTable } from './table.ts';

const BLOCK = 1 << 20;

const isFrames = (head: Uint8Array): boolean =>
  head.length >= 4 && new DataView(head.buffer, head.byteOffset).getUint32(0, true) === MAGIC;

/** The file's bytes from `from` on, in blocks that are valid until the next; for holes their lengths. */
function* blocksFrom(source: FileSource, from: number): Generator<Uint8Array | number, void> {
  const block = new Uint8Array(BLOCK);
  for (let at = from; ; ) {
    const hole = source.hole?.(at) ?? null;
    if (hole !== null && hole.from <= at) {
      yield hole.to - at;
      at = hole.to;
      continue;
    }
    const got = source.read(at, block.subarray(0, (hole?.from ?? Infinity) - at));
    if (got === 0) return;
    at += got;
    yield block.subarray(0, got);
  }
}

const damageOf = ({ path }: FileSource, { offset, what }: FrameError): Damage => ({
  path,
  offset,
  what,
  skipped: 0,
});

/** The columns whose least and greatest values are the file's span. */
const TIMES = ['real_time', 'virtual_time'] as const;

/** Finds and checks all frames; their columns are read when they are asked for. */
function open(source: FileSource, options: PassOptions = {}): OpenFile {
  // Labels are in the dictionaries of the schema's definition, which the decoder keeps by identity.
  const tables = new Map<Schema, FrameTable>();
  const tableOf = (place: Pick<FramePlace, 'schema' | 'dictionaries'>): FrameTable => {
    const known = tables.get(place.schema);
    if (known !== undefined) return known;
    const table = new FrameTable(place, source);
    tables.set(place.schema, table);
    return table;
  };
  const damages: FrameError[] = [];
  let take = options.take;
  const decoder = new FrameDecoder({
    file: source.path,
    onDamage: (error) => {
      damages.push(error);
      options.damage?.(damageOf(source, error));
    },
    onSchema: (schema, dictionaries) => tableOf({ schema, dictionaries }),
    wanted: () => false,
    onData: (place, columns) => {
      const table = tableOf(place);
      table.add(place.offset, place.rows);
      take?.(table, { rows: place.rows, columns: columns() });
      return take !== undefined;
    },
  });
  let at = 0;
  /** Returns the bytes at the end that are not a whole frame. */
  const pass = (): number => {
    for (const block of blocksFrom(source, at)) {
      if (typeof block === 'number') decoder.pushZeros(block);
      else decoder.push(block);
      at += typeof block === 'number' ? block : block.length;
    }
    return decoder.finish().cut;
  };
  // What looks like an unfinished frame is read again when the file has grown.
  let cut = pass();
  const suspect = (): FileInfo['suspect'] => {
    const places = damages.map(({ offset, what }) => ({ where: `byte ${offset}`, what }));
    const tell = (where: string, what: string) => places.push({ where, what });
    if (source.size === 0) {
      tell('file', 'it is empty: nothing was written into it yet, or ever');
    }
    if (cut > 0) {
      const what = `its last ${cut} bytes are not a whole frame: the writer was stopped`;
      tell(`byte ${source.size - cut}`, what);
    }
    if (decoder.lost > 0) tell('file', `${decoder.lost} frames of samples are missing`);
    return places;
  };
  return {
    get parts() {
      return [...tables.values()];
    },
    get suspect() {
      return suspect();
    },
    zero: null,
    info: () => infoOf(source, [...tables.values()], suspect(), damages.length > 0),
    grow(taker: TakeRows) {
      if (source.refresh() <= at) return;
      take = taker;
      cut = pass();
    },
  };
}

function infoOf(
  source: FileSource,
  tables: readonly FrameTable[],
  suspect: FileInfo['suspect'],
  damaged: boolean,
): FileInfo {
  const records: Record<string, number> = {};
  const spans = new Map<string, { from: number; to: number }>();
  for (const table of tables) {
    const { name, metrics } = table.schema;
    if (table.rows > 0) records[name] = (records[name] ?? 0) + table.rows;
    for (const key of TIMES) {
      const column = metrics.findIndex((metric) => metric.key === key && metric.cell === 'f64');
      const bounds = column < 0 ? null : table.boundsOf(column);
      if (bounds === null) continue;
      const { from, to } = spans.get(key) ?? bounds;
      spans.set(key, { from: Math.min(from, bounds.from), to: Math.max(to, bounds.to) });
    }
  }
  const instant = (end: 'from' | 'to'): Instant | null =>
    spans.size === 0 ? null : Object.fromEntries([...spans].map(([key, span]) => [key, span[end]]));
  return {
    path: source.path,
    format: 'frames',
    era: 'stream frames',
    because: source.size === 0 ? 'its name says so' : 'it begins with TRIF',
    bytes: source.size,
    records,
    entities: {},
    from: instant('from'),
    to: instant('to'),
    suspect,
    damaged,
  };
}

/** Frames of samples, as in streams and recordings. */
export const FRAMES: Format = {
  name: 'frames',
  help: 'stream frames: extra.frames of a recording, files of --stream',
  detect(head, { path }) {
    const era = 'stream frames';
    if (isFrames(head)) return { confidence: 1, because: 'it begins with TRIF', era };
    // Damaged at its beginning, or not begun.
    return path.endsWith('.frames') ? { confidence: 0.6, because: 'its name says so', era } : null;
  },
  open,
};
