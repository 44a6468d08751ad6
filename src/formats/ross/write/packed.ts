/**
 * Rows of samples to the packed records of 2017. In brackets: what only those of June and July have. One record is one sampling point of a PE:
 *
 * ```
 * GVT, PEs only   u16 pe, f32 gvt, [f32 real,] u32 ×10, i32 remote, f32 efficiency                     54 [58] bytes
 * GVT, KPs, LPs   u16 pe, f32 gvt, [f32 real,] u32 ×4, [i32 net,] f32 efficiency, KPs u32 ×2, LPs u32 ×4 + i32
 * RT, PEs only    u16 pe, f32 real, f32 gvt, KPs f32 ahead, f32 ×11, u32 ×12
 * RT, KPs, LPs    u16 pe, f32 real, f32 gvt, KPs f32 ahead, f32 ×11, u32 ×5, KPs u32 ×2, LPs u32 ×4 + i32
 * model           u64 lp, f64 real, f64 gvt, i32 mode, payload
 * ```
 * A sampling point with LP rows takes the form with KPs and LPs. All sampling points of a file must have the same
 * rows: a reader learns from `<prefix>-README.txt` how many KPs and LPs there are. Real-time records hold every KP's
 * time ahead of GVT in both forms, so they need KP rows.
 */
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from '../../../model/schemas/ross.ts';
import {
  MODE_GVT,
  MODE_VT,
  MODES,
  ROW_FIELDS,
  ROW_GVT,
  ROW_KIND,
  ROW_KP,
  ROW_LP,
  ROW_MODE,
  ROW_MODEL,
  ROW_PAYLOAD,
  ROW_PE,
  ROW_REAL,
  ROW_WORDS,
} from '../../../model/schemas/ross-rows.ts';
import * as packed from '../packed-fields.ts';
import { LayoutError, LITTLE_ENDIAN, type PackedLayout } from './layout.ts';

const word = (fields: readonly { readonly key: string }[], key: string) => {
  const k = fields.findIndex((field) => field.key === key);
  if (k < 0) throw new LayoutError(`no field ${key}`);
  return ROW_FIELDS + k;
};

/** Words of a PE's row. */
const PE_REMOTE = ROW_FIELDS + PE_FIELDS.length;
const PE_PROCESSED = word(PE_FIELDS, 'events_processed');
const PE_ROLLED_BACK = word(PE_FIELDS, 'events_rolled_back');
const PE_EFFICIENCY = word(PE_FIELDS, 'efficiency');
const PE_NUM_GVTS = word(PE_FIELDS, 'num_gvts');
const pe = (keys: readonly string[]) =>
  Int32Array.from(keys, (key) => (key === 'remote_events' ? PE_REMOTE : word(PE_FIELDS, key)));
const GVT_PE = pe(packed.GVT_PE);
const GVT_DETAILED = pe(packed.GVT_DETAILED);
const TIMES = pe(packed.TIMES);
const RT_PE = pe(packed.RT_PE);
const RT_DETAILED = pe(packed.RT_DETAILED);
const KP_AHEAD = word(KP_FIELDS, 'time_ahead_gvt');
const KP_TOTAL = word(KP_FIELDS, 'total_rollbacks');
const KP_SECONDARY = word(KP_FIELDS, 'secondary_rollbacks');
const LP_PROCESSED = word(LP_FIELDS, 'events_processed');
const LP_ROLLED_BACK = word(LP_FIELDS, 'events_rolled_back');
const LP_SENDS = word(LP_FIELDS, 'network_sends');
const LP_RECEIVES = word(LP_FIELDS, 'network_receives');
const LP_REMOTE = ROW_FIELDS + LP_FIELDS.length;

const MODEL_HEAD_BYTES = 28;
const LP_BYTES = 20;
const MOST_PES = 65536;

/** The output as bytes, and as halves of words: all fields of sampling points lie at multiples of 2. */
interface Out {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Null where the array itself begins at an odd byte. */
  readonly halves: Uint16Array | null;
}

function outOf(bytes: Uint8Array): Out {
  const { buffer, byteOffset, byteLength } = bytes;
  return {
    bytes,
    view: new DataView(buffer, byteOffset, byteLength),
    halves: (byteOffset & 1) === 0 ? new Uint16Array(buffer, byteOffset, byteLength >> 1) : null,
  };
}

/** 4 bytes. Two halves are written in a third of the time that a view takes. */
function put(out: Out, at: number, word: number): void {
  const { halves } = out;
  if (LITTLE_ENDIAN && halves !== null && (at & 1) === 0) {
    const half = at >>> 1;
    halves[half] = word;
    halves[half + 1] = word >>> 16;
  } else out.view.setInt32(at, word, LITTLE_ENDIAN);
}

const float = new Float32Array(1);
const floatBits = new Int32Array(float.buffer);

/** A double as a float's bits. */
function bitsOf(value: number): number {
  float[0] = value;
  return floatBits[0];
}

/** Rows of the sampling point that was looked at last: scalars, so that nothing is allocated. */
let kps = 0;
let lps = 0;

/** Counts the rows after the PE's row at `row`; returns the word after them. */
function surveyPoint(rows: Int32Array, row: number, to: number): number {
  if (rows[row + ROW_KIND] !== ROW_PE) {
    throw new LayoutError(
      `word ${row} of the rows has kind ${rows[row + ROW_KIND]}; in packed layouts a PE's row begins every sampling point`,
    );
  }
  const id = rows[row + ROW_FIELDS];
  if (id < 0 || id >= MOST_PES) {
    throw new LayoutError(`PE ${id >>> 0}: packed layouts have room for PEs 0 to ${MOST_PES - 1}`);
  }
  let at = row + ROW_WORDS[ROW_PE];
  kps = 0;
  lps = 0;
  for (; at < to && rows[at + ROW_KIND] === ROW_KP; at += ROW_WORDS[ROW_KP]) kps++;
  for (; at < to && rows[at + ROW_KIND] === ROW_LP; at += ROW_WORDS[ROW_LP]) lps++;
  return at;
}

function refuseVirtualTime(rows: Int32Array, row: number): void {
  if (rows[row + ROW_MODE] !== MODE_VT) return;
  throw new LayoutError(`packed layouts have no samples of mode ${MODES[MODE_VT]}; use ross-7`);
}

/** Whether GVT samples have a real time, and net events. */
const hasReal = (layout: PackedLayout) => layout === 'ross-2017';

function pointBytes(layout: PackedLayout, mode: number): number {
  const tail = 8 * kps + LP_BYTES * lps;
  if (mode === MODE_GVT) {
    const real = hasReal(layout);
    if (lps > 0) return (real ? 34 : 26) + tail;
    return real ? 58 : 54;
  }
  return 10 + 4 * kps + 44 + (lps > 0 ? 20 + tail : 48);
}

/** See `encodedBytes`. */
export function packedBytes(
  layout: PackedLayout,
  rows: Int32Array,
  from: number,
  to: number,
): number {
  let bytes = 0;
  for (let row = from; row < to; ) {
    refuseVirtualTime(rows, row);
    if (rows[row + ROW_KIND] === ROW_MODEL) {
      const payload = rows[row + ROW_PAYLOAD];
      bytes += MODEL_HEAD_BYTES + payload;
      row += ROW_WORDS[ROW_MODEL] + (((payload + 7) >> 3) << 1);
    } else {
      const next = surveyPoint(rows, row, to);
      bytes += pointBytes(layout, rows[row + ROW_MODE]);
      row = next;
    }
  }
  return bytes;
}

function putWords(out: Out, at: number, rows: Int32Array, row: number, which: Int32Array): number {
  const count = which.length;
  const { halves } = out;
  if (!LITTLE_ENDIAN || halves === null || (at & 1) !== 0) {
    for (let k = 0; k < count; k++) put(out, at + 4 * k, rows[row + which[k]]);
    return at + 4 * count;
  }
  let half = at >>> 1;
  let k = 0;
  // By threes: a loop's own work costs more than what it copies.
  for (; k < count - 2; k += 3, half += 6) {
    const a = rows[row + which[k]];
    const b = rows[row + which[k + 1]];
    const c = rows[row + which[k + 2]];
    halves[half] = a;
    halves[half + 1] = a >>> 16;
    halves[half + 2] = b;
    halves[half + 3] = b >>> 16;
    halves[half + 4] = c;
    halves[half + 5] = c >>> 16;
  }
  for (; k < count; k++, half += 2) {
    const a = rows[row + which[k]];
    halves[half] = a;
    halves[half + 1] = a >>> 16;
  }
  return at + 4 * count;
}

function putTail(out: Out, at: number, rows: Int32Array, firstKp: number): number {
  let pos = at;
  let row = firstKp;
  for (let k = 0; k < kps; k++, row += ROW_WORDS[ROW_KP], pos += 8) {
    put(out, pos, rows[row + KP_TOTAL]);
    put(out, pos + 4, rows[row + KP_SECONDARY]);
  }
  for (let k = 0; k < lps; k++, row += ROW_WORDS[ROW_LP], pos += LP_BYTES) {
    put(out, pos, rows[row + LP_PROCESSED]);
    put(out, pos + 4, rows[row + LP_ROLLED_BACK]);
    put(out, pos + 8, rows[row + LP_SENDS]);
    put(out, pos + 12, rows[row + LP_RECEIVES]);
    put(out, pos + 16, rows[row + LP_REMOTE]);
  }
  return pos;
}

function putGvt(
  out: Out,
  at: number,
  rows: Int32Array,
  doubles: Float64Array,
  row: number,
  real: boolean,
): number {
  out.view.setUint16(at, rows[row + ROW_FIELDS], LITTLE_ENDIAN);
  put(out, at + 2, bitsOf(doubles[(row + ROW_GVT) >> 1]));
  if (real) put(out, at + 6, bitsOf(doubles[(row + ROW_REAL) >> 1]));
  const detailed = lps > 0;
  const counters = real ? at + 10 : at + 6;
  let pos = putWords(out, counters, rows, row, detailed ? GVT_DETAILED : GVT_PE);
  if (!detailed) {
    put(out, pos, rows[row + PE_REMOTE]);
    pos += 4;
  } else if (real) {
    put(out, pos, rows[row + PE_PROCESSED] - rows[row + PE_ROLLED_BACK]);
    pos += 4;
  }
  put(out, pos, rows[row + PE_EFFICIENCY]);
  return detailed ? putTail(out, pos + 4, rows, row + ROW_WORDS[ROW_PE]) : pos + 4;
}

function putRealTime(
  out: Out,
  at: number,
  rows: Int32Array,
  doubles: Float64Array,
  row: number,
  lastGvts: Uint32Array | undefined,
): number {
  const id = rows[row + ROW_FIELDS];
  out.view.setUint16(at, id, LITTLE_ENDIAN);
  put(out, at + 2, bitsOf(doubles[(row + ROW_REAL) >> 1]));
  put(out, at + 6, bitsOf(doubles[(row + ROW_GVT) >> 1]));
  const firstKp = row + ROW_WORDS[ROW_PE];
  let pos = at + 10;
  for (let k = 0; k < kps; k++, pos += 4) {
    put(out, pos, rows[firstKp + k * ROW_WORDS[ROW_KP] + KP_AHEAD]);
  }
  pos = putWords(out, pos, rows, row, TIMES);
  const detailed = lps > 0;
  const counters = detailed ? RT_DETAILED : RT_PE;
  if (lastGvts !== undefined) {
    const total = rows[row + PE_NUM_GVTS];
    putWords(out, pos, rows, row, counters);
    const at = pos + 4 * counters.indexOf(PE_NUM_GVTS);
    put(out, at, total - lastGvts[id]);
    lastGvts[id] = total;
    pos += 4 * counters.length;
  } else {
    pos = putWords(out, pos, rows, row, counters);
  }
  return detailed ? putTail(out, pos, rows, firstKp) : pos;
}

function putModel(
  out: Out,
  at: number,
  rows: Int32Array,
  doubles: Float64Array,
  row: number,
): number {
  const { view, bytes } = out;
  const payload = rows[row + ROW_PAYLOAD];
  view.setUint32(at, rows[row + ROW_FIELDS + 2], LITTLE_ENDIAN);
  view.setUint32(at + 4, 0);
  if (!LITTLE_ENDIAN) view.setBigUint64(at, BigInt(rows[row + ROW_FIELDS + 2] >>> 0), false);
  view.setFloat64(at + 8, doubles[(row + ROW_REAL) >> 1], LITTLE_ENDIAN);
  view.setFloat64(at + 16, doubles[(row + ROW_GVT) >> 1], LITTLE_ENDIAN);
  view.setInt32(at + 24, rows[row + ROW_MODE], LITTLE_ENDIAN);
  if (payload > 0) {
    const from = rows.byteOffset + 4 * (row + ROW_WORDS[ROW_MODEL]);
    bytes.set(new Uint8Array(rows.buffer, from, payload), at + MODEL_HEAD_BYTES);
  }
  return at + MODEL_HEAD_BYTES + payload;
}

/** See `encodeRows`. */
export function encodePacked(
  layout: PackedLayout,
  rows: Int32Array,
  from: number,
  to: number,
  bytes: Uint8Array,
  at: number,
  lastGvts?: Uint32Array,
): number {
  const out = outOf(bytes);
  const doubles = new Float64Array(rows.buffer, rows.byteOffset, rows.length >> 1);
  const real = hasReal(layout);
  let pos = at;
  for (let row = from; row < to; ) {
    refuseVirtualTime(rows, row);
    if (rows[row + ROW_KIND] === ROW_MODEL) {
      pos = putModel(out, pos, rows, doubles, row);
      row += ROW_WORDS[ROW_MODEL] + (((rows[row + ROW_PAYLOAD] + 7) >> 3) << 1);
    } else {
      const next = surveyPoint(rows, row, to);
      pos =
        rows[row + ROW_MODE] === MODE_GVT
          ? putGvt(out, pos, rows, doubles, row, real)
          : putRealTime(out, pos, rows, doubles, row, lastGvts);
      row = next;
    }
  }
  return pos - at;
}
