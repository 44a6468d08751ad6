/**
 * A file of frames as tables that are read where they lie: one pass finds and checks the frames; then each query reads
 * the columns that it needs, frame by frame.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CELL_BYTES, type Cell, type Schema } from '../../model/metric.ts';
import { FrameDecoder, type FramePlace } from './decode.ts';
import { columnBytes, type FrameError, toLittle } from './layout.ts';

/** A column's values; of a label column, indexes into `FrameTable.labels`. */
export type RawColumn = Uint32Array | Int32Array | BigUint64Array | Float32Array | Float64Array;

/** Some rows; `columns` are those that were asked for, valid until the next call. */
export interface RawRows {
  readonly rows: number;
  readonly columns: readonly RawColumn[];
}

/** Values of column number `time`, both included. */
export interface FrameRange {
  readonly time: number;
  readonly from: number;
  readonly to: number;
}

const CHUNK = 1024 * 1024;
/** A frame of which less than this share is asked for is read column by column. */
const WHOLE_SHARE = 0.3;
/** Smaller frames are read at once: a call costs as much as so many bytes. */
const SMALL = 32 * 1024;

/** All rows of one schema in a file. */
export class FrameTable {
  readonly schema: Schema;
  /** By column: its labels; null for a column that has none. */
  readonly labels: readonly (readonly string[] | null)[];
  readonly #descriptor: number;
  readonly #offsets: number[] = [];
  readonly #rows: number[] = [];
  #total = 0;
  /** By column: the least and greatest value of each frame, where it was asked for. */
  readonly #bounds = new Map<number, Float64Array>();

  constructor({ schema, dictionaries }: Omit<FramePlace, 'offset' | 'rows'>, descriptor: number) {
    this.schema = schema;
    this.labels = schema.metrics.map(({ cell }, k) => (cell === 'label' ? dictionaries[k] : null));
    this.#descriptor = descriptor;
  }

  get rows(): number {
    return this.#total;
  }

  add(offset: number, rows: number): void {
    this.#offsets.push(offset);
    this.#rows.push(rows);
    this.#total += rows;
  }

  /**
   * Reads the columns of these numbers, a frame a step, in the file's order.
   * @param within frames without a row in it are left out; its column holds f64
   */
  *read(
    columns: readonly number[],
    within: FrameRange | null = null,
  ): Generator<RawRows, void, undefined> {
    const bounds = within === null ? null : this.#boundsOf(within.time);
    const { metrics } = this.schema;
    // By asked column, and of whole frames: memory that each step takes again.
    const own = columns.map(() => new Uint8Array(0));
    let frame = new Uint8Array(0);
    const starts = new Array<number>(metrics.length);
    let laidOut = -1;
    let isWhole = false;
    let whole = 0;
    for (const [n, offset] of this.#offsets.entries()) {
      const rows = this.#rows[n];
      if (bounds !== null && within !== null) {
        if (!(bounds[2 * n] <= within.to && bounds[2 * n + 1] >= within.from)) continue;
      }
      if (rows !== laidOut) {
        laidOut = rows;
        whole = 0;
        for (const [k, { cell }] of metrics.entries()) {
          starts[k] = whole;
          whole += columnBytes(cell, rows);
        }
        let asked = 0;
        for (const column of columns) asked += columnBytes(metrics[column].cell, rows);
        isWhole = whole < SMALL || asked > whole * WHOLE_SHARE;
      }
      if (isWhole) {
        frame = roomFor(frame, whole);
        this.#fill(frame, offset, whole);
      }
      yield {
        rows,
        columns: columns.map((column, k) => {
          const { cell } = metrics[column];
          const length = CELL_BYTES[cell] * rows;
          const start = starts[column];
          if (isWhole) return columnOf(cell, frame, start, rows);
          own[k] = roomFor(own[k], length);
          this.#fill(own[k], offset + start, length);
          return columnOf(cell, own[k], 0, rows);
        }),
      };
    }
  }

  #boundsOf(column: number): Float64Array {
    const known = this.#bounds.get(column);
    if (known !== undefined) return known;
    const bounds = new Float64Array(2 * this.#offsets.length);
    let frame = 0;
    for (const { columns } of this.read([column])) {
      // Without a value there is nothing within.
      let least = Infinity;
      let most = -Infinity;
      for (const value of columns[0] as Float64Array) {
        if (value < least) least = value;
        if (value > most) most = value;
      }
      bounds[2 * frame] = least;
      bounds[2 * frame + 1] = most;
      frame++;
    }
    this.#bounds.set(column, bounds);
    return bounds;
  }

  #fill(bytes: Uint8Array, offset: number, length: number): void {
    const read = readSync(this.#descriptor, bytes, 0, length, offset);
    if (read < length) throw new Error(`byte ${offset + read}: the file became shorter`);
  }
}

const roomFor = (bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> =>
  bytes.length < length ? new Uint8Array(length) : bytes;

function columnOf(
  cell: Cell,
  { buffer }: Uint8Array<ArrayBuffer>,
  start: number,
  rows: number,
): RawColumn {
  toLittle(new Uint8Array(buffer, start, CELL_BYTES[cell] * rows), CELL_BYTES[cell]);
  switch (cell) {
    case 'u32':
    case 'label':
      return new Uint32Array(buffer, start, rows);
    case 'i32':
      return new Int32Array(buffer, start, rows);
    case 'u64':
      return new BigUint64Array(buffer, start, rows);
    case 'f32':
      return new Float32Array(buffer, start, rows);
    case 'f64':
      return new Float64Array(buffer, start, rows);
  }
}

/** A file of frames, open. What comes to the file later is not in it. */
export interface FrameFile {
  /** In the order of their definitions. A schema that is defined anew with other columns is a table of its own. */
  readonly tables: readonly FrameTable[];
  readonly damage: readonly FrameError[];
  /** Bytes at the end that are not a whole frame. */
  readonly cut: number;
  /** Data frames missing by their sequence numbers. */
  readonly lost: number;
  close(): void;
}

/**
 * Finds and checks all frames of a file.
 * @throws a file system's error as it is
 */
export function openFrames(path: string): FrameFile {
  const descriptor = openSync(path, 'r');
  try {
    // Labels are in the dictionaries of the schema's definition, which the decoder keeps by identity.
    const tables = new Map<Schema, FrameTable>();
    const tableOf = (place: Omit<FramePlace, 'offset' | 'rows'>): FrameTable => {
      const known = tables.get(place.schema);
      if (known !== undefined) return known;
      const table = new FrameTable(place, descriptor);
      tables.set(place.schema, table);
      return table;
    };
    const damage: FrameError[] = [];
    const decoder = new FrameDecoder({
      file: path,
      onDamage: (error) => damage.push(error),
      onSchema: (schema, dictionaries) => tableOf({ schema, dictionaries }),
      wanted: () => false,
      onData: (place) => tableOf(place).add(place.offset, place.rows),
    });
    const chunk = new Uint8Array(CHUNK);
    // A file that is being written grows while it is read: its size now is its end.
    const { size } = fstatSync(descriptor);
    for (let at = 0; at < size; ) {
      const read = readSync(descriptor, chunk, 0, Math.min(CHUNK, size - at), at);
      if (read === 0) break;
      decoder.push(chunk.subarray(0, read));
      at += read;
    }
    const { cut } = decoder.finish();
    return {
      tables: [...tables.values()],
      damage,
      cut,
      lost: decoder.lost,
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
