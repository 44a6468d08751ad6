/** Turns rows of PEs into batches, which `extra.frames` and live streams carry. */
import type { Batch, Cell, Column, Metric, Schema } from '../../model/metric.ts';
import { ROSS_KP, ROSS_LP, ROSS_MODEL, ROSS_PE, ROSS_ROLLBACK } from '../../model/schemas/ross.ts';
import {
  CAUSES,
  MODEL_FLAGS,
  MODEL_SPECULATIVE,
  MODES,
  ROW_FIELDS,
  ROW_GVT,
  ROW_GVT_INDEX,
  ROW_KIND,
  ROW_KP,
  ROW_LP,
  ROW_MODE,
  ROW_MODEL,
  ROW_PAYLOAD,
  ROW_PE,
  ROW_REAL,
  ROW_ROLLBACK,
  ROW_VIRTUAL,
  ROW_WORDS,
} from '../../model/schemas/ross-rows.ts';
import type { Scalar } from '../../model/struct.ts';
import type { RecordablePayload } from './payload.ts';

/** Most rows of a batch. */
const ROWS = 8192;
/** Columns before a record's fields: real_time, virtual_time, gvt, gvt_index, mode. */
const HEADER = 5;

type Emit = (batch: Batch) => void;

function arrayFor(cell: Cell): Column {
  switch (cell) {
    case 'u32':
      return new Uint32Array(ROWS);
    case 'i32':
      return new Int32Array(ROWS);
    case 'u64':
      return new BigUint64Array(ROWS);
    case 'f32':
      return new Float32Array(ROWS);
    case 'f64':
      return new Float64Array(ROWS);
    case 'label':
      return new Array<string>(ROWS).fill('');
  }
}

/** Collects rows of one schema; full batches are sent at once. */
class Gathered {
  readonly columns: Column[];
  n = 0;
  private readonly schema: Schema;
  private readonly emit: Emit;

  constructor(schema: Schema, emit: Emit) {
    this.schema = schema;
    this.emit = emit;
    this.columns = schema.metrics.map((m) => arrayFor(m.cell));
  }

  next(): number {
    if (this.n === ROWS) this.flush();
    return this.n++;
  }

  flush(): void {
    const { n } = this;
    if (n === 0) return;
    this.n = 0;
    const columns = this.columns.map((column) =>
      Array.isArray(column) ? column.slice(0, n) : (column as Float64Array).subarray(0, n),
    );
    this.emit({ schema: this.schema, rows: n, columns });
  }
}

/** PE, KP and LP rows: the header, then one word per field. */
class SampleRows extends Gathered {
  private readonly real: Float64Array;
  private readonly virtual: Float64Array;
  private readonly gvt: Float64Array;
  private readonly index: Uint32Array;
  private readonly mode: string[];
  private readonly words: readonly Int32Array[];

  constructor(schema: Schema, emit: Emit) {
    super(schema, emit);
    const [real, virtual, gvt, index, mode, ...fields] = this.columns;
    this.real = real as Float64Array;
    this.virtual = virtual as Float64Array;
    this.gvt = gvt as Float64Array;
    this.index = index as Uint32Array;
    this.mode = mode as unknown as string[];
    this.words = fields.map((f) => new Int32Array((f as Uint32Array).buffer as ArrayBuffer));
  }

  add(rows: Int32Array, doubles: Float64Array, at: number): void {
    const k = this.next();
    this.real[k] = doubles[(at + ROW_REAL) >> 1];
    this.virtual[k] = doubles[(at + ROW_VIRTUAL) >> 1];
    this.gvt[k] = doubles[(at + ROW_GVT) >> 1];
    this.index[k] = rows[at + ROW_GVT_INDEX];
    this.mode[k] = MODES[rows[at + ROW_MODE]];
    const { words } = this;
    for (let f = 0; f < words.length; f++) words[f][k] = rows[at + ROW_FIELDS + f];
  }
}

class RollbackRows extends Gathered {
  constructor(emit: Emit) {
    super(ROSS_ROLLBACK, emit);
  }

  add(rows: Int32Array, doubles: Float64Array, at: number): void {
    const k = this.next();
    const c = this.columns as (Float64Array | Uint32Array)[];
    const w = at + ROW_FIELDS;
    c[0][k] = doubles[(at + ROW_REAL) >> 1];
    c[1][k] = doubles[(at + ROW_GVT) >> 1];
    c[2][k] = rows[at + ROW_GVT_INDEX];
    c[3][k] = rows[w];
    c[4][k] = rows[w + 1];
    c[5][k] = rows[w + 2];
    (this.columns[6] as string[])[k] = CAUSES[rows[w + 3]];
    for (let f = 4; f <= 8; f++) c[f + 3][k] = rows[w + f];
    for (let d = 0; d < 3; d++) c[12 + d][k] = doubles[((w + 10) >> 1) + d];
  }
}

const CELL_OF: Readonly<Record<Scalar, Cell>> = {
  i8: 'i32',
  i16: 'i32',
  i32: 'i32',
  u8: 'u32',
  u16: 'u32',
  u32: 'u32',
  bool: 'u32',
  f32: 'f32',
  f64: 'f64',
  u64: 'u64',
  i64: 'u64',
};

const payloadMetric = (name: string, type: Scalar): Metric => ({
  key: name,
  cell: CELL_OF[type],
  kind: 'gauge',
  behaviour: 'variable',
  form: 'total',
  unit: '',
  over: 'sum',
  help: `${name}, as the model recorded it (${type}${type === 'i64' ? ', in two’s complement' : ''})`,
});

/** `Queue-server 2` → `queue_server_2`. */
const snake = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');

/** The schema of one model's samples. @param only whether the model has no other kind of sample */
function modelSchema(layout: RecordablePayload, only: boolean): Schema {
  return {
    ...ROSS_MODEL,
    name: only ? ROSS_MODEL.name : `${ROSS_MODEL.name}_${snake(layout.name)}`,
    help: `${ROSS_MODEL.help}: ${layout.name}`,
    metrics: [...ROSS_MODEL.metrics, ...layout.fields.map((f) => payloadMetric(f.name, f.type))],
  };
}

class ModelRows extends Gathered {
  private readonly layout: RecordablePayload;

  constructor(layout: RecordablePayload, only: boolean, emit: Emit) {
    super(modelSchema(layout, only), emit);
    this.layout = layout;
  }

  add(rows: Int32Array, doubles: Float64Array, at: number, view: DataView): void {
    const k = this.next();
    const c = this.columns as (Float64Array | Uint32Array)[];
    c[0][k] = doubles[(at + ROW_REAL) >> 1];
    c[1][k] = doubles[(at + ROW_VIRTUAL) >> 1];
    c[2][k] = doubles[(at + ROW_GVT) >> 1];
    c[3][k] = rows[at + ROW_GVT_INDEX];
    (this.columns[4] as string[])[k] = MODES[rows[at + ROW_MODE]];
    for (let f = 0; f < 3; f++) c[HEADER + f][k] = rows[at + ROW_FIELDS + f];
    c[HEADER + 3][k] = rows[at + MODEL_FLAGS] >= MODEL_SPECULATIVE ? 1 : 0;
    const from = (at + ROW_WORDS[ROW_MODEL]) * 4;
    this.layout.fields.forEach(({ type, offset }, f) => {
      const column = this.columns[HEADER + 4 + f];
      if (type === 'u64' || type === 'i64') {
        (column as BigUint64Array)[k] = view.getBigUint64(from + offset, LITTLE);
      } else (column as Float64Array)[k] = scalarAt(view, type, from + offset);
    });
  }
}

const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function scalarAt(view: DataView, type: Exclude<Scalar, 'u64' | 'i64'>, at: number): number {
  switch (type) {
    case 'i8':
      return view.getInt8(at);
    case 'u8':
    case 'bool':
      return view.getUint8(at);
    case 'i16':
      return view.getInt16(at, LITTLE);
    case 'u16':
      return view.getUint16(at, LITTLE);
    case 'i32':
      return view.getInt32(at, LITTLE);
    case 'u32':
      return view.getUint32(at, LITTLE);
    case 'f32':
      return view.getFloat32(at, LITTLE);
    case 'f64':
      return view.getFloat64(at, LITTLE);
  }
}

export class RowBatches {
  private readonly samples: readonly SampleRows[];
  private readonly rollbacks: RollbackRows;
  /** By number of the payload layout. */
  private readonly models: readonly (ModelRows | null)[];

  /** @param payloads all payload layouts of the model */
  constructor(payloads: readonly RecordablePayload[], emit: Emit) {
    this.samples = [ROSS_PE, ROSS_KP, ROSS_LP].map((schema) => new SampleRows(schema, emit));
    this.rollbacks = new RollbackRows(emit);
    const only = payloads.filter((p) => p.what === 'sample').length === 1;
    this.models = payloads.map((p) => (p.what === 'sample' ? new ModelRows(p, only, emit) : null));
  }

  /** Adds whole rows. `bytes` begins at a multiple of 8 of its buffer. */
  add(bytes: Uint8Array<ArrayBufferLike>): void {
    const { buffer, byteOffset, byteLength } = bytes;
    const rows = new Int32Array(buffer, byteOffset, byteLength >> 2);
    const doubles = new Float64Array(buffer, byteOffset, byteLength >> 3);
    const view = new DataView(buffer, byteOffset, byteLength);
    for (let at = 0; at < rows.length; ) {
      const kind = rows[at + ROW_KIND];
      if (kind === ROW_PE || kind === ROW_KP || kind === ROW_LP) {
        this.samples[kind].add(rows, doubles, at);
      } else if (kind === ROW_ROLLBACK) this.rollbacks.add(rows, doubles, at);
      else {
        const number = rows[at + MODEL_FLAGS] & (MODEL_SPECULATIVE - 1);
        this.models[number]?.add(rows, doubles, at, view);
      }
      at += ROW_WORDS[kind];
      if (kind === ROW_MODEL) at += Math.ceil(rows[at - ROW_WORDS[kind] + ROW_PAYLOAD] / 8) * 2;
    }
  }

  /** Sends what has been collected. */
  flush(): void {
    for (const part of [...this.samples, this.rollbacks, ...this.models]) part?.flush();
  }
}
