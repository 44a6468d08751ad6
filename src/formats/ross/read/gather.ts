/**
 * Copies one field of many records from a chunk into a column. Bits are moved, not converted, if file and column
 * agree: by words if all records are at multiples of 4 bytes in this machine's byte order, otherwise by bytes.
 */
import type { PayloadType } from '../../payload.ts';
import type { Block, KindIndex, Words } from './chunk.ts';
import type { FieldAt } from './layouts.ts';

/** A column under construction: one array, and a second view of its bits as words. */
export interface Filling {
  readonly array: Uint32Array | Int32Array | Float32Array | Float64Array | BigUint64Array;
  readonly words: Uint32Array;
}

type ByteOffsets = Int32Array;

function words4(
  u32: Uint32Array,
  places: ByteOffsets,
  from: number,
  to: number,
  offset: number,
  out: Uint32Array,
  at: number,
): void {
  // Four at a time: a loop's own work costs more than what it moves.
  let k = from;
  let j = at;
  for (const end = to - 3; k < end; k += 4, j += 4) {
    out[j] = u32[(places[k] + offset) >>> 2];
    out[j + 1] = u32[(places[k + 1] + offset) >>> 2];
    out[j + 2] = u32[(places[k + 2] + offset) >>> 2];
    out[j + 3] = u32[(places[k + 3] + offset) >>> 2];
  }
  for (; k < to; k++, j++) out[j] = u32[(places[k] + offset) >>> 2];
}

/** Four columns at once: the record's place is looked up once for all, which is half of the work. */
export function gatherFour(
  u32: Uint32Array,
  places: ByteOffsets,
  from: number,
  to: number,
  at: number,
  [a, b, c, d]: readonly FourWords[],
): void {
  const { words: outA, offset: offsetA } = a;
  const { words: outB, offset: offsetB } = b;
  const { words: outC, offset: offsetC } = c;
  const { words: outD, offset: offsetD } = d;
  let j = at;
  for (let k = from; k < to; k++, j++) {
    const word = places[k] >>> 2;
    outA[j] = u32[word + offsetA];
    outB[j] = u32[word + offsetB];
    outC[j] = u32[word + offsetC];
    outD[j] = u32[word + offsetD];
  }
}

/** One of four columns: the place of its words, from a record's first, and where they go. */
export interface FourWords {
  readonly offset: number;
  readonly words: Uint32Array;
}

/**
 * Words of records at equal distances of which only every second one is at a multiple of 4: those of the first,
 * third, … record, and those of the others.
 */
export interface Apart {
  readonly first: Words;
  readonly second: Words;
  /** Words of the first and the second record's `offset` 0, each in its array, and the distance to the next but one. */
  readonly at: number;
  readonly next: number;
  readonly step: number;
}

/** Like `gatherFour`, for such records. */
export function gatherFourApart(
  apart: Apart,
  count: number,
  at: number,
  [a, b, c, d]: readonly FourWords[],
): void {
  const { words: outA, offset: offsetA } = a;
  const { words: outB, offset: offsetB } = b;
  const { words: outC, offset: offsetC } = c;
  const { words: outD, offset: offsetD } = d;
  const { step } = apart;
  const first = apart.first.u32;
  const second = apart.second.u32;
  let { at: w, next: v } = apart;
  let j = at;
  for (const end = at + count - 1; j < end; j += 2, w += step, v += step) {
    outA[j] = first[w + offsetA];
    outA[j + 1] = second[v + offsetA];
    outB[j] = first[w + offsetB];
    outB[j + 1] = second[v + offsetB];
    outC[j] = first[w + offsetC];
    outC[j + 1] = second[v + offsetC];
    outD[j] = first[w + offsetD];
    outD[j + 1] = second[v + offsetD];
  }
  if (j === at + count) return;
  outA[j] = first[w + offsetA];
  outB[j] = first[w + offsetB];
  outC[j] = first[w + offsetC];
  outD[j] = first[w + offsetD];
}

/** A float of such records, as a double. */
export function widenApart(
  { first, second, at: begin, next, step }: Apart,
  count: number,
  at: number,
  offset: number,
  out: Float64Array,
): void {
  const floats = first.f32;
  const others = second.f32;
  let w = begin + offset;
  let v = next + offset;
  let j = at;
  for (const end = at + count - 1; j < end; j += 2, w += step, v += step) {
    out[j] = floats[w];
    out[j + 1] = others[v];
  }
  if (j < at + count) out[j] = floats[w];
}

/** Like `words4`, for records at multiples of 2. */
function halves4(
  u16: Uint16Array,
  places: ByteOffsets,
  from: number,
  to: number,
  offset: number,
  out: Uint32Array,
  at: number,
): void {
  let k = from;
  let j = at;
  for (const end = to - 1; k < end; k += 2, j += 2) {
    const a = (places[k] + offset) >>> 1;
    const b = (places[k + 1] + offset) >>> 1;
    out[j] = u16[a] | (u16[a + 1] << 16);
    out[j + 1] = u16[b] | (u16[b + 1] << 16);
  }
  for (; k < to; k++, j++) {
    const a = (places[k] + offset) >>> 1;
    out[j] = u16[a] | (u16[a + 1] << 16);
  }
}

function words8(
  u32: Uint32Array,
  places: ByteOffsets,
  from: number,
  to: number,
  offset: number,
  out: Uint32Array,
  at: number,
): void {
  let j = 2 * at;
  for (let k = from; k < to; k++, j += 2) {
    const word = (places[k] + offset) >>> 2;
    out[j] = u32[word];
    out[j + 1] = u32[word + 1];
  }
}

function wordsWidened(
  f32: Float32Array,
  places: ByteOffsets,
  from: number,
  to: number,
  offset: number,
  out: Float64Array,
  at: number,
): void {
  let j = at;
  for (let k = from; k < to; k++, j++) out[j] = f32[(places[k] + offset) >>> 2];
}

/** One value at any place, in either byte order. `id64`: the lower half. */
export function readCell(
  view: DataView,
  at: number,
  cell: FieldAt['cell'] | PayloadType,
  little: boolean,
): number {
  switch (cell) {
    case 'u8':
      return view.getUint8(at);
    case 'u16':
      return view.getUint16(at, little);
    case 'u32':
      return view.getUint32(at, little);
    case 'i32':
      return view.getInt32(at, little);
    case 'f32':
      return view.getFloat32(at, little);
    case 'f64':
      return view.getFloat64(at, little);
    case 'id64':
      return view.getUint32(little ? at : at + 4, little);
    default:
      throw new TypeError(`no number: ${cell}`);
  }
}

function bytes4(
  view: DataView,
  little: boolean,
  places: ByteOffsets,
  from: number,
  to: number,
  offset: number,
  out: Uint32Array,
  at: number,
): void {
  let j = at;
  // A constant byte order is compiled to a plain load.
  if (little) {
    for (let k = from; k < to; k++, j++) out[j] = view.getUint32(places[k] + offset, true);
  } else {
    for (let k = from; k < to; k++, j++) out[j] = view.getUint32(places[k] + offset, false);
  }
}

/** Numbers of 2 bytes at multiples of 2. */
function halves2(
  u16: Uint16Array,
  places: ByteOffsets,
  from: number,
  to: number,
  offset: number,
  out: Uint32Array,
  at: number,
): void {
  let j = at;
  for (let k = from; k < to; k++, j++) out[j] = u16[(places[k] + offset) >>> 1];
}

function slowly(
  block: Block,
  places: ByteOffsets,
  from: number,
  to: number,
  offset: number,
  cell: FieldAt['cell'] | PayloadType,
  out: Filling,
  at: number,
): void {
  const { view, little } = block.chunk;
  const { array } = out;
  let j = at;
  if (array instanceof BigUint64Array) {
    for (let k = from; k < to; k++, j++) array[j] = view.getBigUint64(places[k] + offset, little);
    return;
  }
  for (let k = from; k < to; k++, j++) {
    array[j] = readCell(view, places[k] + offset, cell, little);
  }
}

/** Number of 4-byte words whose bits a column takes over unchanged; 0 if values are converted. */
export function bitWords(cell: FieldAt['cell'] | PayloadType, out: Filling): 0 | 1 | 2 {
  const { array } = out;
  if (cell === 'f32') return array instanceof Float32Array ? 1 : 0;
  if (cell === 'u32' || cell === 'i32') {
    return array instanceof Uint32Array || array instanceof Int32Array ? 1 : 0;
  }
  if (cell === 'f64') return array instanceof Float64Array ? 2 : 0;
  if (cell === 'u64') return array instanceof BigUint64Array ? 2 : 0;
  return 0;
}

/** Copies the field at `offset` from each of `places[from…to)` into `out` from `at` on. */
export function gather(
  block: Block,
  places: ByteOffsets,
  from: number,
  to: number,
  offset: number,
  cell: FieldAt['cell'] | PayloadType,
  out: Filling,
  at: number,
): void {
  const { chunk } = block;
  const same = bitWords(cell, out);
  const byWords = block.aligned && (offset & 3) === 0;
  const byHalves = block.even && chunk.little && (offset & 1) === 0;
  if (same === 1) {
    if (byWords) words4(chunk.u32, places, from, to, offset, out.words, at);
    else if (byHalves) halves4(chunk.u16, places, from, to, offset, out.words, at);
    else bytes4(chunk.view, chunk.little, places, from, to, offset, out.words, at);
  } else if (same === 2 && byWords) {
    words8(chunk.u32, places, from, to, offset, out.words, at);
  } else if (byWords && cell === 'id64') {
    const low = chunk.little ? offset : offset + 4;
    words4(chunk.u32, places, from, to, low, out.words, at);
  } else if (byWords && cell === 'f32' && out.array instanceof Float64Array) {
    wordsWidened(chunk.f32, places, from, to, offset, out.array, at);
  } else if (cell === 'u16' && byHalves) {
    halves2(chunk.u16, places, from, to, offset, out.words, at);
  } else slowly(block, places, from, to, offset, cell, out, at);
}

/** A field of the records `from` to `to` of one kind. */
export function gatherField(
  block: Block,
  index: KindIndex,
  from: number,
  to: number,
  field: FieldAt,
  out: Filling,
  at: number,
): void {
  if (field.from === 'kp' || field.from === 'lp' || field.from === 'size') {
    const numbers = index[field.from];
    for (let k = from; k < to; k++) out.array[at + k - from] = numbers[k];
    return;
  }
  if (field.from === 'per-kp') {
    const { view, little } = block.chunk;
    for (let k = from; k < to; k++) {
      const place = index.record[k] + field.at + 4 * index.kp[k];
      out.array[at + k - from] = readCell(view, place, field.cell, little);
    }
    return;
  }
  const places = field.from === 'part' ? index.part : index.record;
  gather(block, places, from, to, field.at, field.cell, out, at);
}

/** A model's bytes as hex. */
export function hexAt(bytes: Uint8Array, at: number, size: number): string {
  let text = '';
  for (let k = at; k < at + size; k++) text += HEX[bytes[k]];
  return text;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
