/** Records of one kind as a table: turns blocks of records into the columns that are asked for. */
import { MODES } from '../../../model/schemas/ross-rows.ts';
import { FilePart } from '../../file-part.ts';
import type { FileSource, PassOptions } from '../../format.ts';
import { arrayFor, type Codes, type RawRows } from '../../part.ts';
import { fits } from '../../payload.ts';
import { BlockReader } from './blocks.ts';
import type { Block, KindIndex } from './chunk.ts';
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
import type { ColumnSource, KindPlan } from './plan.ts';

const ROWS = 65_536;
/** Rows handled at once while a file is scanned. */
const BLOCK = 256;

/** Where the words of the block's records are, from one on whose first word is at `begin`; null if there is no regular distance. */
function apartFrom({ chunk, stride, even }: Block, begin: number): Apart | null {
  if (!even || (stride & 3) !== 2) return null;
  const { shifted } = chunk;
  const next = begin + stride;
  const step = stride >>> 1;
  return (begin & 3) === 0
    ? { first: chunk, second: shifted, at: begin >>> 2, next: (next + 2) >>> 2, step }
    : { first: shifted, second: chunk, at: (begin + 2) >>> 2, next: next >>> 2, step };
}

/** A column under construction: where its values come from, and the codes of its texts. */
interface Building {
  readonly source: ColumnSource;
  readonly filling: Filling;
  readonly codes: Codes | null;
}

/** Fills columns of one plan. */
class Columns {
  private readonly plan: KindPlan;
  private readonly rows: number;
  private readonly columns: readonly Building[];
  /** Byte of a record's first word, modulo 4. */
  private readonly phase: number;
  /** Columns that are unchanged words of the records, four at a time. */
  private readonly fours: (readonly FourWords[])[] = [];
  /** All columns that are to be filled, and those not among the fours. */
  private readonly all: readonly Building[];
  private readonly others: readonly Building[];
  length = 0;

  constructor(
    plan: KindPlan,
    codes: readonly (Codes | null)[],
    asked: readonly number[],
    rows: number,
  ) {
    this.plan = plan;
    this.rows = rows;
    this.columns = asked.map((column): Building => {
      const array = arrayFor(plan.schema.metrics[column].cell, rows);
      const words = new Uint32Array(array.buffer);
      const building = {
        source: plan.sources[column],
        filling: { array, words },
        codes: codes[column],
      };
      // The same text in all rows is written once, at the beginning.
      if (building.source.is === 'text') words.fill(building.codes?.of(building.source.text) ?? 0);
      return building;
    });
    const words = this.columns.flatMap((column): { column: Building; four: FourWords }[] => {
      const { source, filling } = column;
      if (source.is !== 'field' || source.field.from !== 'record') return [];
      const { at, cell } = source.field;
      if (bitWords(cell, filling) !== 1 || (at & 1) !== 0) return [];
      return [{ column, four: { offset: at, words: filling.words } }];
    });
    this.phase = words.length > 0 ? words[0].four.offset & 3 : 0;
    const same = words.filter(({ four }) => (four.offset & 3) === this.phase);
    same.length -= same.length % 4;
    for (let n = 0; n < same.length; n += 4) {
      this.fours.push(
        same.slice(n, n + 4).map(({ four }) => ({ ...four, offset: four.offset >>> 2 })),
      );
    }
    const taken = new Set(same.map(({ column }) => column));
    this.all = this.columns.filter(({ source }) => source.is !== 'text');
    this.others = this.all.filter((column) => !taken.has(column));
  }

  get full(): boolean {
    return this.length === this.rows;
  }

  /** Takes records of a block from number `from` of their kind on until there is no room. Returns where it stopped. */
  add(block: Block, from: number): number {
    const { kind, wants } = this.plan;
    const index = block.of[kind];
    const { count, size } = index;
    if (wants === null) return this.stretch(block, index, from, count);
    let at = from;
    while (at < count && !this.full) {
      const isWanted = fits(size[at], wants.bytes) === wants.fit;
      let to = at + 1;
      while (to < count && (fits(size[to], wants.bytes) === wants.fit) === isWanted) to++;
      at = isWanted ? this.stretch(block, index, at, to) : to;
    }
    return at;
  }

  /** The rows so far, valid until the next are added; begins anew. */
  take(): RawRows {
    const rows = this.length;
    this.length = 0;
    return { rows, columns: this.columns.map(({ filling }) => filling.array.subarray(0, rows)) };
  }

  private stretch(block: Block, index: KindIndex, from: number, to: number): number {
    const count = Math.min(to - from, this.rows - this.length);
    if (count === 0) return from;
    const end = from + count;
    const apart = apartFrom(block, index.record[from] + this.phase);
    const together = apart !== null || (block.aligned && this.phase === 0);
    if (together) {
      for (const four of this.fours) {
        if (apart !== null) gatherFourApart(apart, count, this.length, four);
        else gatherFour(block.chunk.u32, index.record, from, end, this.length, four);
      }
    }
    for (const { source, filling, codes } of together ? this.others : this.all) {
      if (apart !== null && this.widen(source, filling, apart, count)) continue;
      const at = this.length;
      if (source.is === 'field') gatherField(block, index, from, end, source.field, filling, at);
      else if (source.is === 'payload') {
        const { column, head } = source;
        gather(block, index.record, from, end, head + column.at, column.type, filling, at);
      } else {
        for (let k = from; k < end; k++) {
          filling.words[at + k - from] = codes?.of(textOf(source, block, index, k)) ?? 0;
        }
      }
    }
    this.length += count;
    return end;
  }

  /** A float that becomes a double; false for any other column. */
  private widen(source: ColumnSource, column: Filling, apart: Apart, count: number): boolean {
    if (source.is !== 'field') return false;
    const { cell, at, from } = source.field;
    const { array } = column;
    if (cell !== 'f32' || from !== 'record' || !(array instanceof Float64Array)) return false;
    if ((at & 3) !== this.phase) return false;
    widenApart(apart, count, this.length, at >>> 2, array);
    return true;
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

/** Gives all rows that a block has for some columns. */
function gatherAll(columns: Columns, block: Block, count: number, take: (rows: RawRows) => void) {
  for (let at = 0; at < count; ) {
    at = columns.add(block, at);
    if (columns.length > 0) take(columns.take());
  }
}

/** The records of one plan in a file. */
export class RossPart extends FilePart {
  private readonly plan: KindPlan;
  private readonly source: FileSource;
  private readonly layout: RossFileLayout;
  /** What must be known before rows are read: labels, and times. */
  private readonly known: Columns;
  private readonly timeSlot: number;
  /** All columns, for those who follow the file or keep its rows; made when first asked for. */
  private all: Columns | null = null;

  constructor(
    source: FileSource,
    layout: RossFileLayout,
    plan: KindPlan,
    keep: PassOptions['keep'],
  ) {
    super(plan.schema, keep);
    this.plan = plan;
    this.source = source;
    this.layout = layout;
    const known = plan.schema.metrics.flatMap(({ cell }, k) =>
      cell === 'label' || k === this.time ? [k] : [],
    );
    this.timeSlot = known.indexOf(this.time ?? -1);
    this.known = new Columns(plan, this.codes, known, BLOCK);
  }

  /** Counts the records of a block; with `take`, passes them on. */
  see(block: Block, take: ((rows: RawRows) => void) | null): void {
    const { count } = block.of[this.plan.kind];
    if (count === 0) return;
    const isWhole = take !== null || this.kept;
    if (isWhole) this.all ??= this.columns([...this.schema.metrics.keys()], BLOCK);
    const time = isWhole ? (this.time ?? -1) : this.timeSlot;
    gatherAll((isWhole && this.all) || this.known, block, count, (rows) => {
      this.count += rows.rows;
      if (time >= 0) this.course.see(rows.columns[time]);
      if (!isWhole) return;
      this.memory.add(rows);
      take?.(rows);
    });
  }

  protected *decode(asked: readonly number[]): Generator<RawRows, void, undefined> {
    const columns = this.columns(asked, Math.min(ROWS, Math.max(1, this.count)));
    const { kind } = this.plan;
    // Damage was reported when the file was opened; later damage is not in it.
    const reader = new BlockReader(this.source, this.layout, { salvage: true });
    let left = this.count;
    for (const block of reader.blocks()) {
      const { count } = block.of[kind];
      for (let at = 0; at < count; ) {
        at = columns.add(block, at);
        if (columns.length === 0 || (!columns.full && columns.length < left)) continue;
        const step = columns.take();
        yield step;
        left -= step.rows;
      }
      if (left <= 0) return;
    }
    if (columns.length > 0) yield columns.take();
  }

  private columns(asked: readonly number[], rows: number): Columns {
    return new Columns(this.plan, this.codes, asked, rows);
  }
}
