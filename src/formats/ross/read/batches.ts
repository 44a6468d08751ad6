/** Records as batches of columns: a builder for each kind fills them, block by block. */
import { type Batch, CELL_BYTES, type Cell, type Column } from '../../../model/metric.ts';
import { MODES } from '../../../model/schemas/ross-rows.ts';
import type { ScanOptions } from '../../format.ts';
import { fits, type PayloadField, type PayloadLayout, payloadLayout } from '../../payload.ts';
import type { Block, KindIndex } from './chunk.ts';
import { KINDS } from './chunk.ts';
import {
  type Apart,
  bitWords,
  type Filling,
  type FourWords,
  gather,
  gatherField,
  gatherFour,
  gatherFourApart,
  hexAt,
  readCell,
  widenApart,
} from './gather.ts';
import type { RossFileLayout } from './layouts.ts';
import { type ColumnSource, type KindPlan, planFor, project } from './plan.ts';

export const BATCH_ROWS = 65_536;

const ARRAYS = {
  u32: Uint32Array,
  i32: Int32Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

function filling(cell: Exclude<Cell, 'label'>, rows: number): Filling {
  const buffer = new ArrayBuffer(rows * CELL_BYTES[cell]);
  return { array: new ARRAYS[cell](buffer), words: new Uint32Array(buffer) };
}

/** Where words lie of the block's records from one on, whose first word is at `begin`; null where that is no rule. */
function apartFrom({ chunk, stride, even }: Block, begin: number): Apart | null {
  if (!even || (stride & 3) !== 2) return null;
  const { shifted } = chunk;
  const next = begin + stride;
  const step = stride >>> 1;
  return (begin & 3) === 0
    ? { first: chunk, second: shifted, at: begin >>> 2, next: (next + 2) >>> 2, step }
    : { first: shifted, second: chunk, at: (begin + 2) >>> 2, next: next >>> 2, step };
}

/** Fills batches of one plan. */
class BatchBuilder {
  readonly plan: KindPlan;
  readonly #rows: number;
  readonly #reuse: boolean;
  #columns: (Filling | string[])[];
  /** Byte of a record's first word, modulo 4. */
  #phase = 0;
  /** Columns that are words of the records as they are, by fours. */
  #fours: (readonly FourWords[])[] = [];
  /** Places of all columns that are to be filled, and of those not among the fours. */
  #all: readonly number[] = [];
  #others: readonly number[] = [];
  length = 0;

  constructor(plan: KindPlan, rows: number, reuse: boolean) {
    this.plan = plan;
    this.#rows = rows;
    this.#reuse = reuse;
    this.#columns = this.#begin();
  }

  /** New columns. */
  #begin(): (Filling | string[])[] {
    const { schema, sources } = this.plan;
    const columns = schema.metrics.map(({ cell }, k) => {
      const source = sources[k];
      if (cell !== 'label') return filling(cell, this.#rows);
      return new Array<string>(this.#rows).fill(source.is === 'text' ? source.text : '');
    });
    const words = sources.flatMap((source, k): { k: number; four: FourWords }[] => {
      const column = columns[k];
      if (source.is !== 'field' || source.field.from !== 'record' || Array.isArray(column)) {
        return [];
      }
      const { at, cell } = source.field;
      if (bitWords(cell, column) !== 1 || (at & 1) !== 0) return [];
      return [{ k, four: { offset: at, words: column.words } }];
    });
    this.#phase = words.length > 0 ? words[0].four.offset & 3 : 0;
    const same = words.filter(({ four }) => (four.offset & 3) === this.#phase);
    same.length -= same.length % 4;
    this.#fours = [];
    for (let n = 0; n < same.length; n += 4) {
      this.#fours.push(
        same.slice(n, n + 4).map(({ four }) => ({ ...four, offset: four.offset >>> 2 })),
      );
    }
    const taken = new Set(same.map(({ k }) => k));
    // The same text in all rows is there already.
    this.#all = [...columns.keys()].filter((k) => sources[k].is !== 'text');
    this.#others = this.#all.filter((k) => !taken.has(k));
    return columns;
  }

  /** Adds records `from` to `to`, at most as many as there is room for; returns how many. */
  add(block: Block, index: KindIndex, from: number, to: number): number {
    const count = Math.min(to - from, this.#rows - this.length);
    const end = from + count;
    const apart = apartFrom(block, index.record[from] + this.#phase);
    const together = apart !== null || (block.aligned && this.#phase === 0);
    if (together) {
      for (const four of this.#fours) {
        if (apart !== null) gatherFourApart(apart, count, this.length, four);
        else gatherFour(block.chunk.u32, index.record, from, end, this.length, four);
      }
    }
    for (const k of together ? this.#others : this.#all) {
      const source = this.plan.sources[k];
      if (apart !== null && this.#widen(source, this.#columns[k], apart, count)) continue;
      this.#put(source, this.#columns[k], block, index, from, end);
    }
    this.length += count;
    return count;
  }

  /** A float that becomes a double; false for any other column. */
  #widen(source: ColumnSource, column: Filling | string[], apart: Apart, count: number): boolean {
    if (source.is !== 'field' || Array.isArray(column)) return false;
    const { cell, at, from } = source.field;
    const { array } = column;
    if (cell !== 'f32' || from !== 'record' || !(array instanceof Float64Array)) return false;
    if ((at & 3) !== this.#phase) return false;
    widenApart(apart, count, this.length, at >>> 2, array);
    return true;
  }

  #put(
    source: ColumnSource,
    column: Filling | string[],
    block: Block,
    index: KindIndex,
    from: number,
    to: number,
  ): void {
    const at = this.length;
    if (source.is === 'field') {
      gatherField(block, index, from, to, source.field, column as Filling, at);
    } else if (source.is === 'payload') {
      const offset = source.head + source.column.at;
      gather(block, index.record, from, to, offset, source.column.type, column as Filling, at);
    } else {
      const texts = column as string[];
      for (let k = from; k < to; k++) texts[at + k - from] = textOf(source, block, index, k);
    }
  }

  get full(): boolean {
    return this.length === this.#rows;
  }

  /** What has been added so far; begins anew. */
  take(): Batch {
    const { length } = this;
    const columns = this.#columns.map((column): Column => {
      const values = Array.isArray(column) ? column : column.array;
      if (length === this.#rows) return values;
      return Array.isArray(values) ? values.slice(0, length) : values.subarray(0, length);
    });
    this.length = 0;
    if (!this.#reuse) this.#columns = this.#begin();
    return { schema: this.plan.schema, length, columns };
  }
}

function textOf(
  source: Exclude<ColumnSource, { is: 'field' } | { is: 'payload' }>,
  block: Block,
  index: KindIndex,
  k: number,
): string {
  const { bytes, view, little } = block.chunk;
  if (source.is === 'text') return source.text;
  if (source.is === 'hex') return hexAt(bytes, index.record[k] + source.head, index.size[k]);
  const mode = readCell(view, index.record[k] + source.field.at, source.field.cell, little);
  return MODES[mode as 1] ?? String(mode);
}

/** The builders of one kind: for records whose model's bytes fit the layout given, and for all others. */
interface KindBuilders {
  readonly fitting: BatchBuilder;
  readonly other: BatchBuilder | null;
}

/** Splits a file's blocks into batches. */
export class Batcher {
  readonly #kinds: (KindBuilders | null)[];
  readonly #deliver: (batch: Batch) => void;

  constructor(
    layout: RossFileLayout,
    mode: string | null,
    fields: readonly PayloadField[] | null,
    options: ScanOptions,
    deliver: (batch: Batch) => void,
    /** Bytes of the file: a small one needs no room for many rows. */
    size: number,
  ) {
    this.#deliver = deliver;
    const payload = fields && payloadLayout(fields);
    const { batchRows = BATCH_ROWS } = options;
    const most = Math.max(1, Math.ceil(size / layout.least) * layout.mostEntries);
    const fitted = { ...options, batchRows: Math.min(batchRows, most) };
    this.#kinds = Array.from({ length: KINDS }, (_, kind) =>
      buildersFor(layout, kind, mode, payload, fitted),
    );
  }

  add(block: Block): void {
    for (let kind = 0; kind < KINDS; kind++) {
      const index = block.of[kind];
      const builders = this.#kinds[kind];
      if (builders === null || index.count === 0) continue;
      const { fitting, other } = builders;
      if (other === null) this.#addTo(fitting, block, index, 0, index.count);
      else this.#addBySize(builders, block, index);
    }
  }

  #addBySize({ fitting, other }: KindBuilders, block: Block, index: KindIndex): void {
    const wanted = fitting.plan.payloadSize;
    for (let from = 0; from < index.count; ) {
      const fit = fits(index.size[from], wanted);
      let to = from + 1;
      while (to < index.count && fits(index.size[to], wanted) === fit) to++;
      this.#addTo(fit || other === null ? fitting : other, block, index, from, to);
      from = to;
    }
  }

  #addTo(builder: BatchBuilder, block: Block, index: KindIndex, from: number, to: number): void {
    for (let at = from; at < to; ) {
      at += builder.add(block, index, at, to);
      if (builder.full) this.#deliver(builder.take());
    }
  }

  /** Delivers what is not full. */
  flush(): void {
    for (const builders of this.#kinds) {
      for (const builder of [builders?.fitting, builders?.other]) {
        if (builder && builder.length > 0) this.#deliver(builder.take());
      }
    }
  }
}

function buildersFor(
  layout: RossFileLayout,
  kind: number,
  mode: string | null,
  payload: PayloadLayout | null,
  { tables, columns, batchRows, reuse = false }: ScanOptions & { readonly batchRows: number },
): KindBuilders | null {
  const build = (with_: PayloadLayout | null): BatchBuilder | null => {
    const plan = planFor(layout, kind, mode, with_);
    if (plan === null || tables?.includes(plan.schema.name) === false) return null;
    const projected = project(plan, columns);
    // Without any column asked for, batches say how many rows there are.
    if (projected.sources.length === 0 && columns?.length !== 0) return null;
    return new BatchBuilder(projected, batchRows, reuse);
  };
  const fitting = build(payload);
  if (fitting === null) return null;
  return { fitting, other: fitting.plan.payloadSize < 0 ? null : build(null) };
}
