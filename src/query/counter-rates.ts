/**
 * `node_TYPE_rate`, `sim_…_rate`, `process_…_rate`: rates of running totals, per second. Differences follow the one rule of
 * `model/counter.ts`, over a device's records in the order of their times, across files:
 *
 *     ok, wrapped, dip     counted / seconds (of a dip 0: the next record is compared with the one before it)
 *     reset, suspect       missing: what was counted is not known
 *
 * Files in the order of their times, as collectors write them, are read one after the other, and only the devices' last
 * records are kept. Records in another order are sorted in memory first.
 */

import type { Part, RawColumn, RawOrigin, RawRows } from '../formats/part.ts';
import { type RawSchema, type RepairPlan, repairPlan } from '../formats/tacc/index.ts';
import { DeviceRates, type RatePlace, type RecordValues } from './device-rates.ts';
import type { Table, TablePiece } from './table.ts';

/** Beginnings of intervals; missing where a row ends none. No key of a schema is called so. */
export const SINCE = 'before t';

const HOST = 'host';
/** Columns that only tell the time, as `t` does. */
const TIMES = ['time', 'real_time'];
/** Jobs begin and end while the counters of their host go on. */
const JOBS = 'jobids';
const COUNTERS = /^(node|sim|process)_/i;
/** Of tables that are of no raw stats file. */
const NO_ORIGIN: RawOrigin = { boot: null, scaledEnergy: false };
const WIDEST = 64;

/** Rows of a piece that were read at once, and what is computed for them. */
interface Block extends RatePlace {
  readonly piece: TablePiece;
  readonly rows: RawRows;
  /** By column with values: its memory as words; null where the piece has none. */
  readonly words: readonly (Uint32Array | null)[];
}

/** What all walks over a table share. */
class Plan {
  readonly table: Table;
  readonly counters: readonly number[];
  readonly repair: readonly [RepairPlan, RepairPlan];
  /** Columns with values. */
  readonly numbers: readonly number[];
  /** Columns that say what a record is about: a device of a host, a PE. */
  readonly keys: readonly number[];
  /** The one with the host; -1 where there is none. */
  readonly host: number;

  constructor(table: Table, counters: readonly number[]) {
    this.table = table;
    this.counters = counters;
    const keys = table.columns.map(({ metric }) => ({
      name: metric.key,
      kind: metric.kind,
      unit: metric.unit,
      bits: metric.bits ?? WIDEST,
    }));
    const schema: RawSchema = { type: table.name.replace(/^node_/, ''), keys };
    this.repair = [repairPlan(schema, false), repairPlan(schema, true)];
    this.numbers = table.columns.flatMap(({ metric }, k) => (metric.cell === 'u64' ? [k] : []));
    this.keys = table.columns.flatMap(({ metric: { key, cell, behaviour, over } }, k) =>
      (cell === 'label' && key !== JOBS && over !== 'last') || behaviour === 'constant' ? [k] : [],
    );
    this.host = table.columns.findIndex(({ metric }) => metric.key === HOST);
  }

  /** A block for rows that were read; all rates are missing yet. */
  block(piece: TablePiece, rows: RawRows): Block {
    const missing = () => new Float64Array(rows.rows).fill(Number.NaN);
    const words = this.numbers.map((k) => {
      const column = piece.from[k] < 0 ? null : rows.columns[piece.from[k]];
      return column && new Uint32Array(column.buffer, column.byteOffset, 2 * column.length);
    });
    return { piece, rows, words, since: missing(), rates: this.counters.map(missing) };
  }

  /** All columns of a piece, in its own order. */
  read(piece: TablePiece): Iterable<RawRows> {
    return piece.part.read(piece.part.schema.metrics.map((_, k) => k));
  }
}

/** A step's rows for later: its memory is the next step's, too. */
const kept = ({ rows, columns }: RawRows): RawRows => ({
  rows,
  columns: columns.map((column) => column.slice(0, rows) as RawColumn),
});

/** A walk over records, of each device in the order of their times. */
class Walk {
  private readonly plan: Plan;
  /** By its keys, one inside the other. */
  private readonly devices: Devices = new Map();
  private readonly record: RecordValues;

  constructor(plan: Plan) {
    this.plan = plan;
    const values = new BigUint64Array(plan.table.columns.length);
    this.record = { values, words: new Uint32Array(values.buffer) };
  }

  take(block: Block, row: number): void {
    const { repair, counters, numbers, keys } = this.plan;
    const { piece, rows } = block;
    const raw = piece.part.raw ?? NO_ORIGIN;
    const { words } = this.record;
    for (let n = 0; n < numbers.length; n++) {
      const k = 2 * numbers[n];
      const from = block.words[n];
      words[k] = from === null ? 0 : from[2 * row];
      words[k + 1] = from === null ? 0 : from[2 * row + 1];
    }
    const seconds = rows.columns[piece.time as number][row] as number;
    const byLast = this.devicesOf(piece, rows, row);
    const last = keys.length === 0 ? 0 : keyOf(piece, keys[keys.length - 1], rows, row);
    const known = byLast.get(last) as Device | undefined;
    if (known !== undefined && sameColumns(known.piece, piece) && known.rates.goesOn(raw)) {
      known.rates.take(seconds, block, row, this.record, raw);
      known.piece = piece;
    } else {
      const rates = new DeviceRates(repair[raw.scaledEnergy ? 1 : 0], counters, raw, seconds);
      rates.begin(seconds, this.record.values);
      byLast.set(last, { rates, piece });
    }
  }

  private devicesOf(piece: TablePiece, rows: RawRows, row: number): Devices {
    const { keys } = this.plan;
    let devices = this.devices;
    for (let n = 0; n < keys.length - 1; n++) {
      const key = keyOf(piece, keys[n], rows, row);
      let next = devices.get(key) as Devices | undefined;
      if (next === undefined) {
        next = new Map();
        devices.set(key, next);
      }
      devices = next;
    }
    return devices;
  }
}

interface Device {
  readonly rates: DeviceRates;
  piece: TablePiece;
}

type Devices = Map<number | bigint, Devices | Device>;

/** A key's value; a label's number in the table; -1 where the piece does not have it. */
function keyOf(piece: TablePiece, column: number, rows: RawRows, row: number): number | bigint {
  const from = piece.from[column];
  if (from < 0) return -1;
  const value = rows.columns[from][row];
  return piece.codes[column]?.[Number(value)] ?? value;
}

const sameColumns = (a: TablePiece, b: TablePiece): boolean =>
  a === b || a.from.every((from, k) => from < 0 === b.from[k] < 0);

/** Ends a block: a key that its piece does not have has no rates; times move to the recording's timeline. */
function finish({ piece, since, rates }: Block, { counters }: Plan): void {
  for (const [n, k] of counters.entries()) if (piece.from[k] < 0) rates[n].fill(Number.NaN);
  for (let row = 0; row < since.length; row++) since[row] += piece.shift;
}

/** The blocks of all pieces with their rates; by piece. All rows are in memory. */
function sorted(plan: Plan): Map<TablePiece, Block[]> {
  const blocks = new Map<TablePiece, Block[]>();
  const rows: { seconds: number; block: Block; row: number }[] = [];
  for (const piece of plan.table.pieces) {
    const own = Array.from(plan.read(piece), (read) => plan.block(piece, kept(read)));
    blocks.set(piece, own);
    for (const block of own) {
      const times = block.rows.columns[piece.time as number] as Float64Array;
      times.forEach((seconds, row) => {
        rows.push({ seconds, block, row });
      });
    }
  }
  // Stable: records of one moment keep their order.
  rows.sort((a, b) => a.seconds - b.seconds);
  const walk = new Walk(plan);
  for (const { block, row } of rows) walk.take(block, row);
  for (const own of blocks.values()) for (const block of own) finish(block, plan);
  return blocks;
}

/** The pieces in the order of their times; null where a host's records are not, from file to file. */
function inOrder(pieces: readonly TablePiece[], host: number): readonly TablePiece[] | null {
  const spans = pieces.map((piece) => ({ piece, span: piece.part.span ?? null }));
  spans.sort((a, b) => (a.span?.from ?? 0) - (b.span?.from ?? 0));
  const ends = new Map<string, number>();
  for (const { piece, span } of spans) {
    if (span === null || !span.ordered) return null;
    for (const name of (host < 0 ? null : piece.part.labels[piece.from[host]]) ?? ['']) {
      if ((ends.get(name) ?? Number.NEGATIVE_INFINITY) > span.from) return null;
      ends.set(name, span.to);
    }
  }
  return spans.map(({ piece }) => piece);
}

/** A piece's own columns, then the interval's beginning, then a rate per counter. */
class RatePart implements Part {
  readonly schema;
  readonly rows;
  readonly labels;
  private readonly blocks: () => Iterable<Block>;

  constructor({ schema, rows, labels }: Part, blocks: () => Iterable<Block>) {
    this.schema = schema;
    this.rows = rows;
    this.labels = labels;
    this.blocks = blocks;
  }

  *read(columns: readonly number[]): Generator<RawRows, void, undefined> {
    const own = this.schema.metrics.length;
    for (const { rows, since, rates } of this.blocks()) {
      const pick = (column: number): RawColumn => {
        if (column < own) return rows.columns[column];
        return column === own ? since : rates[column - own - 1];
      };
      yield { rows: rows.rows, columns: columns.map(pick) };
    }
  }
}

/**
 * The table of rates: columns of `table` without counters and times, but with `SINCE` and the counters as rates. Null
 * where `table` has no running totals, or no time.
 */
export function rateTable(table: Table): Table | null {
  const { columns, pieces } = table;
  const counters = columns.flatMap(({ metric }, k) =>
    metric.kind === 'event' && metric.form === 'total' && metric.cell === 'u64' ? [k] : [],
  );
  const isTimed = pieces.every(({ time }) => time !== null);
  if (!isTimed || counters.length === 0 || !COUNTERS.test(table.name)) return null;
  const plan = new Plan(table, counters);
  const others = columns.flatMap(({ metric }, k) =>
    counters.includes(k) || TIMES.includes(metric.key) ? [] : [k],
  );
  const number = (name: string, k: number) => ({
    name,
    labels: null,
    metric: { ...columns[k].metric, cell: 'f64', kind: 'gauge', behaviour: 'variable' } as const,
  });
  const ratePiece = (piece: TablePiece, blocks: () => Iterable<Block>): TablePiece => {
    const own = piece.part.schema.metrics.length;
    return {
      ...piece,
      part: new RatePart(piece.part, blocks),
      from: [own, ...others.map((k) => piece.from[k]), ...counters.map((_, n) => own + 1 + n)],
      codes: [null, ...others.map((k) => piece.codes[k]), ...counters.map(() => null)],
    };
  };
  return {
    name: `${table.name}_rate`,
    help: `${table.help}: counters as differences per second`,
    rows: table.rows,
    timed: true,
    columns: [
      number(SINCE, counters[0]),
      ...others.map((k) => columns[k]),
      ...counters.map((k) => number(columns[k].name, k)),
    ],
    ...ratePieces(plan, ratePiece),
  };
}

type MakePiece = (piece: TablePiece, blocks: () => Iterable<Block>) => TablePiece;

function ratePieces(plan: Plan, make: MakePiece): Pick<Table, 'pieces' | 'begin'> {
  const { pieces } = plan.table;
  let kept: Map<TablePiece, Block[]> | null = null;
  const memory = pieces.map((piece) =>
    make(piece, () => {
      kept ??= sorted(plan);
      return kept.get(piece) ?? [];
    }),
  );
  // Tables in memory are computed once.
  if (pieces.every(({ part }) => part.kept === true)) return { pieces: memory };
  const ordered = inOrder(pieces, plan.host);
  if (ordered === null) return { pieces: memory };
  const begin = () => {
    const walk = new Walk(plan);
    return ordered.map((piece) => make(piece, () => walked(walk, plan, piece)));
  };
  return { pieces: memory, begin };
}

/** The next piece of a walk. */
function* walked(walk: Walk, plan: Plan, piece: TablePiece): Generator<Block, void, undefined> {
  for (const rows of plan.read(piece)) {
    const block = plan.block(piece, rows);
    for (let row = 0; row < rows.rows; row++) walk.take(block, row);
    finish(block, plan);
    yield block;
  }
}
