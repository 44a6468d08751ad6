/**
 * Raw stats records as tables: one `node_TYPE` per type (see `tableSchema`) and `node_mark`, for SQL and for charts.
 */
import type { Batch, Column, Schema } from '../../model/metric.ts';
import { MARK_SCHEMA, type RawSchema, RECORD_COLUMNS, tableSchema } from './schema.ts';
import type { RawGroup, RawVisitor } from './visitor.ts';

/** Rows of a batch at most. */
const ROWS = 4096;
/** Values of a batch at most: types with very many keys have fewer rows. */
const VALUES = 1 << 20;
const FIRST_KEY = RECORD_COLUMNS.length;

class Rows {
  readonly schema: Schema;
  readonly raw: RawSchema;
  readonly most: number;
  private _length = 0;
  private time = new Float64Array(0);
  private readonly hosts: string[] = [];
  private readonly jobs: string[] = [];
  private readonly devices: string[] = [];
  private keys: BigUint64Array[] = [];
  /** The same memory as words: bigints would be objects. */
  private keyWords: Uint32Array[] = [];
  private values: BigUint64Array = new BigUint64Array(0);
  private words: Uint32Array = new Uint32Array(0);

  constructor(raw: RawSchema) {
    this.raw = raw;
    this.schema = tableSchema(raw);
    this.most = Math.max(1, Math.min(ROWS, Math.floor(VALUES / (raw.keys.length + 1))));
  }

  get length(): number {
    return this._length;
  }

  add(seconds: number, host: string, jobs: string, device: string, values: BigUint64Array): void {
    if (this._length === 0) {
      // New arrays for each batch: those of the last one are the receiver's.
      this.time = new Float64Array(this.most);
      this.keys = this.raw.keys.map(() => new BigUint64Array(this.most));
      this.keyWords = this.keys.map(({ buffer }) => new Uint32Array(buffer));
    }
    const row = this._length++;
    this.time[row] = seconds;
    this.hosts.push(host);
    this.jobs.push(jobs);
    this.devices.push(device);
    if (values !== this.values) {
      // Readers give the same array for all records of a type.
      this.values = values;
      this.words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
    }
    const words = this.words;
    for (let k = 0; k < this.keyWords.length; k++) {
      const column = this.keyWords[k];
      column[2 * row] = words[2 * k];
      column[2 * row + 1] = words[2 * k + 1];
    }
  }

  take(): Batch {
    const length = this._length;
    this._length = 0;
    const columns: Column[] = new Array(FIRST_KEY + this.keys.length);
    columns[0] = this.time.subarray(0, length);
    columns[1] = this.hosts.splice(0);
    columns[2] = this.jobs.splice(0);
    columns[3] = this.devices.splice(0);
    this.keys.forEach((key, k) => {
      columns[FIRST_KEY + k] = key.subarray(0, length);
    });
    return { schema: this.schema, length, columns };
  }
}

export interface RawBatchOptions {
  /** What records are about where neither group nor `$hostname` says it. */
  readonly host?: string;
  /** Only these tables. */
  readonly tables?: readonly string[];
}

/** A visitor that gathers records into batches. Rows of one type keep the file's order. */
export class RawBatches implements RawVisitor {
  private readonly receive: (batch: Batch) => void;
  private readonly wanted: (table: string) => boolean;
  private readonly tables = new Map<string, Rows>();
  /** A row's time, host, jobs and mark. */
  private readonly marks: [number, string, string, string][] = [];
  private host: string;
  private _group: RawGroup | null = null;
  private jobs = '';

  constructor(receive: (batch: Batch) => void, { host = '', tables }: RawBatchOptions = {}) {
    this.receive = receive;
    this.host = host;
    this.wanted = (table) => tables?.includes(table) !== false;
  }

  property(name: string, value: string): void {
    if (name === 'hostname') this.host = value.trim();
  }

  schema(raw: RawSchema): void {
    const table = this.tables.get(raw.type);
    if (table !== undefined && table.length > 0) this.receive(table.take());
    const rows = new Rows(raw);
    if (this.wanted(rows.schema.name)) this.tables.set(raw.type, rows);
  }

  group(group: RawGroup): void {
    this._group = group;
    this.jobs = group.jobIds.length === 0 ? '-' : group.jobIds.join(',');
  }

  mark(text: string): void {
    if (this._group === null || !this.wanted(MARK_SCHEMA.name)) return;
    const { seconds, host } = this._group;
    this.marks.push([seconds, host ?? this.host, this.jobs, text]);
    if (this.marks.length === ROWS) this.receive(this.takeMarks());
  }

  record(schema: RawSchema, device: string, values: BigUint64Array): void {
    const table = this.tables.get(schema.type);
    if (table === undefined || this._group === null) return;
    table.add(this._group.seconds, this._group.host ?? this.host, this.jobs, device, values);
    if (table.length === table.most) this.receive(table.take());
  }

  /** Hands over what has been gathered; more may follow. */
  flush(): void {
    for (const table of this.tables.values()) if (table.length > 0) this.receive(table.take());
    if (this.marks.length > 0) this.receive(this.takeMarks());
  }

  private takeMarks(): Batch {
    const rows = this.marks.splice(0);
    const columns: Column[] = [
      Float64Array.from(rows, ([seconds]) => seconds),
      rows.map(([, host]) => host),
      rows.map(([, , jobs]) => jobs),
      rows.map(([, , , mark]) => mark),
    ];
    return { schema: MARK_SCHEMA, length: rows.length, columns };
  }
}
