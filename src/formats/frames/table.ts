/**
 * A file of frames as tables that are read in place: one pass finds and checks the frames; then each query reads
 * the columns that it needs, frame by frame.
 */
import { CELL_BYTES, type Schema } from '../../model/metric.ts';
import type { FileSource } from '../format.ts';
import type { Part, RawRows, Within } from '../part.ts';
import type { FramePlace } from './decode.ts';
import { columnBytes, columnIn } from './layout.ts';

/** A frame of which less than this fraction is wanted is read column by column. */
const WHOLE_SHARE = 0.3;
/** Smaller frames are read at once: a call costs as much as reading this many bytes. */
const SMALL_BYTES = 32 * 1024;

/** All rows of one schema in a file. */
export class FrameTable implements Part {
  readonly schema: Schema;
  /** By column: its labels; null for a column that has none. */
  readonly labels: readonly (readonly string[] | null)[];
  private readonly source: FileSource;
  private readonly offsets: number[] = [];
  private readonly _rows: number[] = [];
  private total = 0;
  /** By column: the least and greatest value of each frame, if asked for. */
  private readonly bounds = new Map<number, Float64Array>();

  constructor(
    { schema, dictionaries }: Pick<FramePlace, 'schema' | 'dictionaries'>,
    source: FileSource,
  ) {
    this.schema = schema;
    this.labels = schema.metrics.map(({ cell }, k) => (cell === 'label' ? dictionaries[k] : null));
    this.source = source;
  }

  get rows(): number {
    return this.total;
  }

  add(offset: number, rows: number): void {
    this.offsets.push(offset);
    this._rows.push(rows);
    this.total += rows;
  }

  /**
   * Reads the columns of these numbers, one frame per step, in the file's order.
   * @param within frames without a row in it are left out; its column holds f64
   */
  *read(columns: readonly number[], within?: Within): Generator<RawRows, void, undefined> {
    const bounds = within === undefined ? null : this.boundsByFrame(within.time);
    const { metrics } = this.schema;
    // By wanted column, and for whole frames: memory that each step reuses.
    const own = columns.map(() => new Uint8Array(0));
    let frame = new Uint8Array(0);
    const starts = new Array<number>(metrics.length);
    let laidOut = -1;
    let isWhole = false;
    let whole = 0;
    for (let n = 0; n < this.offsets.length; n++) {
      const offset = this.offsets[n];
      const rows = this._rows[n];
      if (bounds !== null && within !== undefined) {
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
        isWhole = whole < SMALL_BYTES || asked > whole * WHOLE_SHARE;
      }
      if (isWhole) {
        frame = roomFor(frame, whole);
        this.fill(frame, offset, whole);
      }
      yield {
        rows,
        columns: columns.map((column, k) => {
          const { cell } = metrics[column];
          const length = CELL_BYTES[cell] * rows;
          const start = starts[column];
          if (isWhole) return columnIn(cell, frame.buffer, start, rows);
          own[k] = roomFor(own[k], length);
          this.fill(own[k], offset + start, length);
          return columnIn(cell, own[k].buffer, 0, rows);
        }),
      };
    }
  }

  /** The least and greatest value of a column; null if it has none. */
  boundsOf(column: number): { readonly from: number; readonly to: number } | null {
    const bounds = this.boundsByFrame(column);
    let from = Infinity;
    let to = -Infinity;
    for (let k = 0; k < bounds.length; k += 2) {
      from = Math.min(from, bounds[k]);
      to = Math.max(to, bounds[k + 1]);
    }
    return from > to ? null : { from, to };
  }

  private boundsByFrame(column: number): Float64Array {
    const known = this.bounds.get(column);
    if (known?.length === 2 * this.offsets.length) return known;
    const bounds = new Float64Array(2 * this.offsets.length);
    let frame = 0;
    for (const { columns } of this.read([column])) {
      // Without a value nothing is within.
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
    this.bounds.set(column, bounds);
    return bounds;
  }

  private fill(bytes: Uint8Array, offset: number, length: number): void {
    const read = this.source.read(offset, bytes.subarray(0, length));
    if (read < length) throw new Error(`byte ${offset + read}: the file became shorter`);
  }
}

const roomFor = (bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> =>
  bytes.length < length ? new Uint8Array(length) : bytes;
