/** Arrow IPC: columns of DuckDB's results, whose numbers lie as Arrow's do, into record batches. */
import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import {
  type ArrowColumn,
  type ArrowField,
  ArrowFile,
  type ArrowType,
} from '../../formats/arrow/index.ts';
import { quoteName } from '../../model/sql.ts';
import type { SelectedColumn, Selection } from './selection.ts';
import type { Sink } from './sink.ts';
import { bytesOf, chunksOf, validityOf } from './vectors.ts';

/** Rows of a record batch, about. */
const BATCH_ROWS = 1 << 16;

interface Form {
  readonly type: ArrowType;
  /** Bytes of a value; 0 for texts. */
  readonly width: number;
  /** What to make of the column first. */
  readonly cast?: string;
}

const int = (bits: 8 | 16 | 32 | 64, signed: boolean): Form => ({
  type: { kind: 'int', bits, signed },
  width: bits / 8,
});

const decimal = (scale: number): Form => ({
  type: { kind: 'decimal', precision: 38, scale },
  width: 16,
  cast: `DECIMAL(38, ${scale})`,
});

const FORMS: Readonly<Record<string, Form>> = {
  TINYINT: int(8, true),
  SMALLINT: int(16, true),
  INTEGER: int(32, true),
  BIGINT: int(64, true),
  UTINYINT: int(8, false),
  USMALLINT: int(16, false),
  UINTEGER: int(32, false),
  UBIGINT: int(64, false),
  FLOAT: { type: { kind: 'float', bits: 32 }, width: 4 },
  DOUBLE: { type: { kind: 'float', bits: 64 }, width: 8 },
  BOOLEAN: { type: { kind: 'bool' }, width: 1 },
  VARCHAR: { type: { kind: 'text' }, width: 0 },
  DATE: { type: { kind: 'date' }, width: 4 },
  TIMESTAMP: { type: { kind: 'timestamp', zone: null }, width: 8 },
  'TIMESTAMP WITH TIME ZONE': { type: { kind: 'timestamp', zone: 'UTC' }, width: 8 },
  HUGEINT: decimal(0),
  UHUGEINT: decimal(0),
};
/** Anything else leaves as text. */
const AS_TEXT: Form = { type: { kind: 'text' }, width: 0, cast: 'VARCHAR' };

function formOf(type: string): Form {
  const scale = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type)?.[1];
  return scale === undefined ? (FORMS[type] ?? AS_TEXT) : decimal(Number(scale));
}

/** Rows of one column of a batch. */
class Cells {
  private readonly form: Form;
  private rows = 0;
  private nulls = 0;
  private validity: Uint8Array | null = null;
  private readonly parts: Uint8Array[] = [];
  private texts: string[] = [];

  constructor(form: Form) {
    this.form = form;
  }

  add(chunk: DuckDBDataChunk, column: number): void {
    const { width } = this.form;
    const rows = chunk.rowCount;
    const validity = validityOf(chunk, column);
    if (validity !== null) this.markMissing(validity, rows);
    if (width > 0) this.parts.push(bytesOf(chunk, column, width).slice());
    else {
      const values = chunk.getColumnVector(column);
      for (let row = 0; row < rows; row++) {
        this.texts.push((values.getItem(row) as string | null) ?? '');
      }
    }
    this.rows += rows;
  }

  /** Returns the column, and empties itself. */
  take(): ArrowColumn {
    const rows = this.rows;
    const validity = this.validity?.subarray(0, Math.ceil(rows / 8)) ?? null;
    const buffers = this.form.width === 0 ? texts(this.texts) : [this.values(rows)];
    const column = { validity, nulls: this.nulls, buffers };
    this.rows = 0;
    this.nulls = 0;
    this.validity = null;
    this.parts.length = 0;
    this.texts = [];
    return column;
  }

  private markMissing(validity: Uint8Array, rows: number): void {
    this.validity ??= new Uint8Array(2 * BATCH_ROWS).fill(255);
    for (let row = 0; row < rows; row++) {
      if ((validity[row >> 3] & (1 << (row & 7))) !== 0) continue;
      const at = this.rows + row;
      this.validity[at >> 3] &= ~(1 << (at & 7));
      this.nulls++;
    }
  }

  private values(rows: number): Uint8Array {
    const bytes = Buffer.concat(this.parts);
    if (this.form.type.kind !== 'bool') return bytes;
    const bits = new Uint8Array(Math.ceil(rows / 8));
    for (let row = 0; row < rows; row++) if (bytes[row] !== 0) bits[row >> 3] |= 1 << (row & 7);
    return bits;
  }
}

/** Offsets and bytes. */
function texts(values: readonly string[]): Uint8Array[] {
  const offsets = new Int32Array(values.length + 1);
  const parts = values.map((value) => Buffer.from(value));
  parts.forEach((part, k) => {
    offsets[k + 1] = offsets[k] + part.length;
  });
  return [new Uint8Array(offsets.buffer), Buffer.concat(parts)];
}

/** Returns the rows. @throws DuckDB's error, a file system's error */
export async function arrowTo(
  connection: DuckDBConnection,
  { name, sql, columns }: Selection,
  sink: Sink,
): Promise<number> {
  const forms = columns.map(({ type }) => formOf(type));
  const list = columns.map((column, k) => {
    const { cast } = forms[k];
    const quoted = quoteName(column.name);
    return cast === undefined ? quoted : `${quoted}::${cast} AS ${quoted}`;
  });
  const file = new ArrowFile(
    columns.map((column, k) => fieldOf(column, forms[k].type)),
    { 'triscope.table': name },
  );
  await sink.write(file.start());
  const cells = forms.map((form) => new Cells(form));
  let rows = 0;
  let waiting = 0;
  const flush = async () => {
    if (waiting === 0) return;
    const batch = file.batch(
      waiting,
      cells.map((one) => one.take()),
    );
    waiting = 0;
    await sink.write(batch);
  };
  const result = await connection.stream(`SELECT ${list.join(', ')} FROM (${sql})`);
  for await (const chunk of chunksOf(result)) {
    cells.forEach((one, k) => {
      one.add(chunk, k);
    });
    waiting += chunk.rowCount;
    rows += chunk.rowCount;
    if (waiting >= BATCH_ROWS) await flush();
  }
  await flush();
  await sink.write(file.end());
  return rows;
}

function fieldOf({ name, unit, help }: SelectedColumn, type: ArrowType): ArrowField {
  return { name, type, customMetadata: { ...(unit && { unit }), ...(help && { help }) } };
}
