/** Batches to frames. */
import type { Batch, Column, Schema } from '../../model/metric.ts';
import { crc32 } from './crc32.ts';
import {
  AT,
  columnBytes,
  type DictionaryPart,
  FLAG_DICTIONARY,
  FLAG_SCHEMA,
  HEADER_BYTES,
  MAGIC,
  padded,
  payloadBytes,
  SPLIT_BYTES,
  toLittle,
} from './layout.ts';

interface Dictionary {
  readonly labels: string[];
  readonly index: Map<string, number>;
  /** Labels that readers already know. */
  sent: number;
}

interface Known {
  readonly id: number;
  readonly schema: Schema;
  /** By column; null for columns without labels. */
  readonly dictionaries: readonly (Dictionary | null)[];
}

const ARRAYS = {
  u32: Uint32Array,
  i32: Int32Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

const utf8 = new TextEncoder();

/** The frames of one writer's stream. They must reach the reader in the order in which they are returned. */
export class FrameEncoder {
  private readonly known = new Map<string, Known>();
  /** The same by schema object: batches of one source share it. */
  private readonly byObject = new WeakMap<Schema, Known>();
  private sequence = 0;

  /**
   * The frames of a batch: its schema's definition before the first use, dictionaries when they grow, then the data,
   * split into several frames if it is large.
   * @throws TypeError for a column whose type or length differs from the schema
   */
  encode(batch: Batch): Uint8Array[] {
    const frames: Uint8Array[] = [];
    let known = this.byObject.get(batch.schema);
    if (known === undefined) {
      const text = schemaText(batch.schema);
      known = this.known.get(text);
      if (known === undefined) {
        known = knownSchema(batch.schema, this.known.size + 1);
        this.known.set(text, known);
        frames.push(this.definition(known));
      }
      this.byObject.set(batch.schema, known);
    }
    check(batch);
    const indexes = batch.columns.map((column, k) => indexesOf(column, known.dictionaries[k]));
    for (const [k, dictionary] of known.dictionaries.entries()) {
      if (dictionary === null || dictionary.sent === dictionary.labels.length) continue;
      frames.push(this.dictionary(known, k, dictionary.sent));
      dictionary.sent = dictionary.labels.length;
    }
    const most = Math.max(1, Math.floor(SPLIT_BYTES / (payloadBytes(batch.schema, 64) / 64 || 1)));
    for (let from = 0; from < batch.rows; from += most) {
      const rows = Math.min(most, batch.rows - from);
      frames.push(this.data(known, indexes, from, rows));
    }
    return frames;
  }

  /** The frames that a reader needs who joins now: all definitions and whole dictionaries. */
  definitions(): Uint8Array[] {
    const frames: Uint8Array[] = [];
    for (const known of this.known.values()) {
      frames.push(this.definition(known));
      for (const [k, dictionary] of known.dictionaries.entries()) {
        if (dictionary !== null && dictionary.sent > 0) frames.push(this.dictionary(known, k, 0));
      }
    }
    return frames;
  }

  private definition(known: Known): Uint8Array {
    const text = schemaText(known.schema);
    return seal(jsonFrame(text), known, 0, FLAG_SCHEMA, this.sequence);
  }

  private dictionary(known: Known, column: number, first: number): Uint8Array {
    const labels = known.dictionaries[column]?.labels.slice(first) ?? [];
    const part: DictionaryPart = { column, first, labels };
    const frame = jsonFrame(JSON.stringify(part));
    return seal(frame, known, labels.length, FLAG_DICTIONARY, this.sequence);
  }

  private data(known: Known, columns: readonly Column[], from: number, rows: number): Uint8Array {
    const { metrics } = known.schema;
    const frame = new Uint8Array(HEADER_BYTES + payloadBytes(known.schema, rows));
    let at = HEADER_BYTES;
    for (const [k, { cell }] of metrics.entries()) {
      const column = columns[k] as Uint32Array;
      const source = column.subarray(from, from + rows);
      const bytes = new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
      frame.set(bytes, at);
      toLittle(frame.subarray(at, at + bytes.length), column.BYTES_PER_ELEMENT);
      at += columnBytes(cell, rows);
    }
    const sequence = this.sequence;
    this.sequence = (sequence + 1) >>> 0;
    return seal(frame, known, rows, 0, sequence);
  }
}

/** Only the documented fields: an object may hold others, which are not the schema's. */
const schemaText = ({ name, domain, help, metrics }: Schema): string =>
  JSON.stringify({ name, domain, help, metrics });

function knownSchema(schema: Schema, id: number): Known {
  const dictionaries = schema.metrics.map(({ cell }) =>
    cell === 'label' ? { labels: [], index: new Map<string, number>(), sent: 0 } : null,
  );
  return { id, schema, dictionaries };
}

function check({ schema, rows, columns }: Batch): void {
  if (columns.length !== schema.metrics.length) {
    throw new TypeError(
      `${schema.name}: ${columns.length} columns, but the schema has ${schema.metrics.length}`,
    );
  }
  for (const [k, { key, cell }] of schema.metrics.entries()) {
    const column = columns[k];
    const fits = cell === 'label' ? Array.isArray(column) : column instanceof ARRAYS[cell];
    if (!fits) throw new TypeError(`${schema.name}.${key}: the column must hold ${cell} values`);
    if (column.length < rows) {
      throw new TypeError(`${schema.name}.${key}: ${column.length} values for ${rows} rows`);
    }
  }
}

/** Labels as indexes, learning new ones; other columns unchanged. */
function indexesOf(column: Column, dictionary: Dictionary | null): Column {
  if (dictionary === null) return column;
  const texts = column as readonly string[];
  const indexes = new Uint32Array(texts.length);
  let last = '';
  let index = -1;
  for (let row = 0; row < texts.length; row++) {
    const text = texts[row];
    if (index < 0 || text !== last) {
      index = dictionary.index.get(text) ?? -1;
      if (index < 0) {
        index = dictionary.labels.push(text) - 1;
        dictionary.index.set(text, index);
      }
      last = text;
    }
    indexes[row] = index;
  }
  return indexes;
}

function jsonFrame(text: string): Uint8Array {
  const bytes = utf8.encode(text);
  const frame = new Uint8Array(HEADER_BYTES + padded(bytes.length)).fill(0x20);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

/** Writes the header of a frame whose payload is complete. */
function seal(
  frame: Uint8Array,
  { id, schema }: Known,
  rows: number,
  flags: number,
  sequence: number,
): Uint8Array {
  const head = new DataView(frame.buffer, frame.byteOffset, HEADER_BYTES);
  head.setUint32(0, MAGIC, true);
  head.setUint32(AT.length, frame.length, true);
  head.setUint32(AT.schema, id, true);
  head.setUint32(AT.rows, rows, true);
  head.setUint32(AT.columns, schema.metrics.length, true);
  head.setUint32(AT.flags, flags, true);
  head.setUint32(AT.sequence, sequence, true);
  head.setUint32(AT.crc, frameCrc(frame), true);
  return frame;
}

/** The CRC that a frame's header should hold. */
export function frameCrc(frame: Uint8Array): number {
  return crc32(frame.subarray(HEADER_BYTES), crc32(frame.subarray(AT.length, AT.crc)));
}
