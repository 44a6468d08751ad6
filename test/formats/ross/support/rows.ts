/** Rows as PEs write them, made by hand. */
import { encodedBytes, encodeRows, type RossLayout } from 'triscope/formats';
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from '../../../../src/model/schemas/ross.ts';
import {
  ROW_FIELDS,
  ROW_GVT,
  ROW_GVT_INDEX,
  ROW_KIND,
  ROW_MODE,
  ROW_MODEL,
  ROW_PAYLOAD,
  ROW_REAL,
  ROW_VIRTUAL,
  ROW_WORDS,
} from '../../../../src/model/schemas/ross-rows.ts';

export interface Row {
  readonly kind: 0 | 1 | 2 | 3;
  readonly mode: 1 | 2 | 3;
  readonly real: number;
  readonly virtual: number;
  readonly gvt: number;
  /** By field's key; `remote_events` too. What is not named is 0. */
  readonly values: Readonly<Record<string, number>>;
  readonly payload?: Uint8Array;
}

const FIELDS = [PE_FIELDS, KP_FIELDS, LP_FIELDS];
const MODEL_IDS = ['pe_id', 'kp_id', 'lp_id'];

/** The rows one after the other, in a buffer of their own. */
export function rowsOf(rows: readonly Row[]): Int32Array {
  const words = rows.map(
    ({ kind, payload }) => ROW_WORDS[kind] + 2 * Math.ceil((payload?.length ?? 0) / 8),
  );
  const buffer = new ArrayBuffer(4 * words.reduce((a, b) => a + b, 0));
  const i32 = new Int32Array(buffer);
  const u32 = new Uint32Array(buffer);
  const f32 = new Float32Array(buffer);
  const f64 = new Float64Array(buffer);
  let at = 0;
  rows.forEach((row, k) => {
    i32[at + ROW_KIND] = row.kind;
    i32[at + ROW_PAYLOAD] = row.payload?.length ?? 0;
    f64[(at + ROW_REAL) >> 1] = row.real;
    f64[(at + ROW_VIRTUAL) >> 1] = row.virtual;
    f64[(at + ROW_GVT) >> 1] = row.gvt;
    u32[at + ROW_GVT_INDEX] = 7;
    i32[at + ROW_MODE] = row.mode;
    if (row.kind === ROW_MODEL) {
      MODEL_IDS.forEach((key, n) => {
        u32[at + ROW_FIELDS + n] = row.values[key] ?? 0;
      });
      new Uint8Array(buffer).set(row.payload ?? [], 4 * (at + ROW_WORDS[ROW_MODEL]));
    } else {
      const fields = FIELDS[row.kind];
      fields.forEach(({ key, cell }, n) => {
        const cells = cell === 'f32' ? f32 : u32;
        cells[at + ROW_FIELDS + n] = row.values[key] ?? 0;
      });
      if (row.kind !== 1) u32[at + ROW_FIELDS + fields.length] = row.values.remote_events ?? 0;
    }
    at += words[k];
  });
  return i32;
}

/** The rows as a file has them. */
export function encode(layout: RossLayout, rows: readonly Row[]): Uint8Array {
  const words = rowsOf(rows);
  const out = new Uint8Array(encodedBytes(layout, words, 0, words.length));
  encodeRows(layout, words, 0, words.length, out, 0);
  return out;
}
