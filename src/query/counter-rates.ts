/**
 * `node_TYPE_rate`: what raw stats' counters counted, per second. Differences are those of the one rule of
 * `formats/tacc/repair.ts`, over a device's records in the order of their times, across files:
 *
 *     ok, wrapped, dip     counted / seconds (of a dip 0: the next record is compared with the one before it)
 *     reset, suspect       missing: what was counted is not known
 *
 * Computed when first asked for, and kept: a number per counter and row.
 */

import type { RawColumn, RawRows } from '../formats/frames/index.ts';
import {
  DeviceRepair,
  type RawSchema,
  type RepairPlan,
  repairPlan,
  wasRestarted,
} from '../formats/tacc/index.ts';
import type { RawOrigin, TablePart } from './part.ts';
import type { Table, TablePiece } from './table.ts';

/** Beginnings of intervals; missing where a row ends none. No key of a schema is called so. */
export const SINCE = 'before t';

const [TIME, HOST, DEVICE] = ['time', 'host', 'device'];
const WIDEST = 64;

/** Rows of a piece that were read at once, and what is computed for them. */
interface Block {
  readonly piece: TablePiece;
  readonly rows: RawRows;
  readonly since: Float64Array;
  /** By counter. */
  readonly rates: readonly Float64Array[];
}

/** One row: of which device, when, and where it lies. */
interface Row {
  readonly device: number;
  readonly seconds: number;
  readonly block: Block;
  readonly row: number;
}

/** One device's records so far. */
class DeviceRates {
  readonly #repair: DeviceRepair;
  readonly #origin: RawOrigin;
  readonly #counters: readonly number[];
  /** By counter: counted since `#since`, NaN where that is not known. */
  readonly #counted: Float64Array;
  readonly #base: bigint[];
  readonly #told = new Set<number>();
  #last: number;
  #since: number;
  #boot: number | null;

  constructor(plan: RepairPlan, counters: readonly number[], origin: RawOrigin, seconds: number) {
    this.#repair = new DeviceRepair(plan);
    this.#origin = origin;
    this.#counters = counters;
    this.#counted = new Float64Array(counters.length);
    this.#base = new Array<bigint>(counters.length).fill(0n);
    this.#since = seconds;
    this.#last = seconds;
    this.#boot = origin.boot;
  }

  /** Whether records of `origin` go on where these ended. */
  goesOn(origin: RawOrigin): boolean {
    return origin.scaledEnergy === this.#origin.scaledEnergy;
  }

  begin(seconds: number, values: BigUint64Array): void {
    this.#repair.step(seconds, values, () => {});
    for (const [n, k] of this.#counters.entries()) this.#base[n] = values[k];
  }

  take({ seconds, block, row }: Row, values: BigUint64Array, { boot }: RawOrigin): void {
    const rebooted = wasRestarted(this.#boot, this.#last, boot);
    this.#told.clear();
    this.#repair.step(
      seconds,
      values,
      (k, { verdict, delta, base }) => {
        const n = this.#counters.indexOf(k);
        this.#told.add(n);
        const isKnown = verdict !== 'reset' && verdict !== 'suspect';
        this.#counted[n] += isKnown ? Number(delta) : Number.NaN;
        this.#base[n] = base;
      },
      { rebooted },
    );
    for (const [n, k] of this.#counters.entries()) {
      if (this.#told.has(n)) continue;
      this.#counted[n] += Number(values[k] - this.#base[n]);
      this.#base[n] = values[k];
    }
    this.#boot = boot ?? this.#boot;
    this.#last = Math.max(this.#last, seconds);
    // Of records of the same moment the counts go into the next interval.
    if (!(seconds > this.#since)) return;
    block.since[row] = this.#since + block.piece.shift;
    for (let n = 0; n < this.#counters.length; n++) {
      block.rates[n][row] = this.#counted[n] / (seconds - this.#since);
      this.#counted[n] = 0;
    }
    this.#since = seconds;
  }
}

/** The blocks of all pieces with their rates; by piece. */
function compute(table: Table, counters: readonly number[]): Map<TablePiece, Block[]> {
  const at = (name: string) => table.columns.findIndex((column) => column.metric.key === name);
  const [host, device] = [at(HOST), at(DEVICE)];
  const devices = new Map<string, number>();
  const blocks = new Map<TablePiece, Block[]>();
  const rows: Row[] = [];
  const missing = (length: number) => new Float64Array(length).fill(Number.NaN);
  for (const piece of table.pieces) {
    const own: Block[] = [];
    blocks.set(piece, own);
    const label = (column: number, read: RawRows, row: number) => {
      const value = read.columns[piece.from[column]][row] as number;
      return piece.codes[column]?.[value] ?? value;
    };
    const all = piece.part.schema.metrics.map((_, k) => k);
    for (const read of piece.part.read(all)) {
      const block: Block = {
        piece,
        rows: read,
        since: missing(read.rows),
        rates: counters.map(() => missing(read.rows)),
      };
      own.push(block);
      const times = read.columns[piece.time as number] as Float64Array;
      for (let row = 0; row < read.rows; row++) {
        const name = `${label(host, read, row)} ${label(device, read, row)}`;
        let number = devices.get(name);
        if (number === undefined) {
          number = devices.size;
          devices.set(name, number);
        }
        rows.push({ device: number, seconds: times[row], block, row });
      }
    }
  }
  // Stable: records of one moment keep their order.
  rows.sort((a, b) => a.device - b.device || a.seconds - b.seconds);
  walk(table, counters, rows);
  return blocks;
}

/** Repairs devices one after the other. */
function walk(table: Table, counters: readonly number[], rows: readonly Row[]): void {
  const keys = table.columns.map(({ metric }) => ({
    name: metric.key,
    kind: metric.kind,
    unit: metric.unit,
    bits: metric.bits ?? WIDEST,
  }));
  const schema: RawSchema = { type: table.name.replace(/^node_/, ''), keys };
  const plans = [false, true].map((scaled) => repairPlan(schema, scaled));
  const numbers = table.columns.flatMap(({ metric }, k) => (metric.cell === 'u64' ? [k] : []));
  const values = new BigUint64Array(keys.length);
  let rates: DeviceRates | null = null;
  let before: Row | null = null;
  for (const one of rows) {
    const { piece, rows: read } = one.block;
    for (const k of numbers) {
      const from = piece.from[k];
      values[k] = from < 0 ? 0n : (read.columns[from][one.row] as bigint);
    }
    const { raw = null } = piece.part;
    if (raw === null) continue;
    const sameKeys = before !== null && sameColumns(before.block.piece, piece);
    if (rates !== null && before?.device === one.device && sameKeys && rates.goesOn(raw)) {
      rates.take(one, values, raw);
    } else {
      rates = new DeviceRates(plans[raw.scaledEnergy ? 1 : 0], counters, raw, one.seconds);
      rates.begin(one.seconds, values);
    }
    before = one;
  }
  for (const { block } of rows) blankMissing(block, counters);
}

const sameColumns = (a: TablePiece, b: TablePiece): boolean =>
  a === b || a.from.every((from, k) => from < 0 === b.from[k] < 0);

/** A key that a piece does not have has no rates. */
function blankMissing({ piece, rates }: Block, counters: readonly number[]): void {
  for (const [n, k] of counters.entries()) if (piece.from[k] < 0) rates[n].fill(Number.NaN);
}

/** A piece's own columns, then the interval's beginning, then a rate per counter. */
class RatePart implements TablePart {
  readonly schema;
  readonly rows;
  readonly labels;
  readonly #blocks: () => readonly Block[];

  constructor({ schema, rows, labels }: TablePart, blocks: () => readonly Block[]) {
    this.schema = schema;
    this.rows = rows;
    this.labels = labels;
    this.#blocks = blocks;
  }

  *read(columns: readonly number[]): Generator<RawRows, void, undefined> {
    const own = this.schema.metrics.length;
    for (const { rows, since, rates } of this.#blocks()) {
      const pick = (column: number): RawColumn => {
        if (column < own) return rows.columns[column];
        return column === own ? since : rates[column - own - 1];
      };
      yield { rows: rows.rows, columns: columns.map(pick) };
    }
  }
}

/**
 * The table of rates: columns of `table` without counters and the time of day, but with `SINCE` and the counters as
 * rates. Null where `table` is none of raw stats, or has no counters.
 */
export function rateTable(table: Table): Table | null {
  const { columns, pieces } = table;
  const counters = columns.flatMap(({ metric }, k) =>
    metric.kind === 'event' && metric.cell === 'u64' ? [k] : [],
  );
  const isRaw = pieces.every(({ part, time }) => part.raw != null && time !== null);
  if (!isRaw || counters.length === 0 || !/^node_/.test(table.name)) return null;
  let computed: Map<TablePiece, Block[]> | null = null;
  const blocksOf = (piece: TablePiece) => {
    computed ??= compute(table, counters);
    return computed.get(piece) ?? [];
  };
  const others = columns.flatMap(({ metric }, k) =>
    counters.includes(k) || metric.key === TIME ? [] : [k],
  );
  const number = (name: string, k: number) => ({
    name,
    labels: null,
    metric: { ...columns[k].metric, cell: 'f64', kind: 'gauge', behaviour: 'variable' } as const,
  });
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
    pieces: pieces.map((piece) => {
      const own = piece.part.schema.metrics.length;
      return {
        ...piece,
        part: new RatePart(piece.part, () => blocksOf(piece)),
        from: [own, ...others.map((k) => piece.from[k]), ...counters.map((_, n) => own + 1 + n)],
        codes: [null, ...others.map((k) => piece.codes[k]), ...counters.map(() => null)],
      };
    }),
  };
}
