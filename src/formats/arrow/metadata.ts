/** The flatbuffers of Arrow's files: Schema.fbs, Message.fbs and File.fbs of Apache Arrow's format, version 1.5. */
import { Builder } from 'flatbuffers';

/** Types as they are in memory: bits are packed, texts are offsets and bytes. */
export type ArrowType =
  | { readonly kind: 'int'; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
  | { readonly kind: 'float'; readonly bits: 32 | 64 }
  /** 16 bytes. */
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  /** Days since 1970, 4 bytes. */
  | { readonly kind: 'date' }
  /** Microseconds since 1970, 8 bytes. */
  | { readonly kind: 'timestamp'; readonly zone: string | null }
  | { readonly kind: 'bool' }
  | { readonly kind: 'text' };

export type CustomMetadata = Readonly<Record<string, string>>;

export interface ArrowField {
  readonly name: string;
  readonly type: ArrowType;
  readonly customMetadata: CustomMetadata;
}

/** Where a record batch is in the file. */
export interface BatchPlace {
  readonly offset: number;
  /** Bytes with the prefix. */
  readonly metadata: number;
  readonly body: number;
}

export interface BufferPlace {
  readonly offset: number;
  readonly length: number;
}

const VERSION_5 = 4;
const HEADER = { schema: 1, recordBatch: 3 } as const;
/** Numbers in the union `Type`. */
const TYPE = { int: 2, float: 3, text: 5, bool: 6, decimal: 7, date: 8, timestamp: 10 } as const;
const MICROSECOND = 2;
const FLOAT_PRECISION = { 32: 1, 64: 2 } as const;

/** A vector of tables, or of texts. */
function vector(to: Builder, offsets: readonly number[]): number {
  to.startVector(4, offsets.length, 4);
  for (const offset of offsets.toReversed()) to.addOffset(offset);
  return to.endVector();
}

function keyValues(to: Builder, customMetadata: CustomMetadata): number {
  const pairs = Object.entries(customMetadata).map(([key, value]) => {
    const [k, v] = [to.createString(key), to.createString(value)];
    to.startObject(2);
    to.addFieldOffset(0, k, 0);
    to.addFieldOffset(1, v, 0);
    return to.endObject();
  });
  return vector(to, pairs);
}

function typeTable(to: Builder, type: ArrowType): number {
  const zone = type.kind === 'timestamp' && type.zone !== null ? to.createString(type.zone) : 0;
  to.startObject(3);
  switch (type.kind) {
    case 'int':
      to.addFieldInt32(0, type.bits, 0);
      to.addFieldInt8(1, type.signed ? 1 : 0, 0);
      break;
    case 'float':
      to.addFieldInt16(0, FLOAT_PRECISION[type.bits], 0);
      break;
    case 'decimal':
      to.addFieldInt32(0, type.precision, 0);
      to.addFieldInt32(1, type.scale, 0);
      to.addFieldInt32(2, 128, 128);
      break;
    case 'date':
      // Milliseconds are the default, 1; days are 0.
      to.addFieldInt16(0, 0, 1);
      break;
    case 'timestamp':
      to.addFieldInt16(0, MICROSECOND, 0);
      if (zone !== 0) to.addFieldOffset(1, zone, 0);
      break;
  }
  return to.endObject();
}

function fieldTable(to: Builder, { name, type, customMetadata }: ArrowField): number {
  const text = to.createString(name);
  const ofType = typeTable(to, type);
  const children = vector(to, []);
  const more = keyValues(to, customMetadata);
  to.startObject(7);
  to.addFieldOffset(0, text, 0);
  to.addFieldInt8(1, 1, 0);
  to.addFieldInt8(2, TYPE[type.kind], 0);
  to.addFieldOffset(3, ofType, 0);
  to.addFieldOffset(5, children, 0);
  to.addFieldOffset(6, more, 0);
  return to.endObject();
}

function schemaTable(
  to: Builder,
  fields: readonly ArrowField[],
  customMetadata: CustomMetadata,
): number {
  const all = vector(
    to,
    fields.map((field) => fieldTable(to, field)),
  );
  const more = keyValues(to, customMetadata);
  to.startObject(4);
  to.addFieldInt16(0, 0, 0);
  to.addFieldOffset(1, all, 0);
  to.addFieldOffset(2, more, 0);
  return to.endObject();
}

function message(to: Builder, kind: number, header: number, body: number): Uint8Array {
  to.startObject(5);
  to.addFieldInt16(0, VERSION_5, 0);
  to.addFieldInt8(1, kind, 0);
  to.addFieldOffset(2, header, 0);
  to.addFieldInt64(3, BigInt(body), 0n);
  to.finish(to.endObject());
  return to.asUint8Array();
}

export function schemaMessage(
  fields: readonly ArrowField[],
  customMetadata: CustomMetadata,
): Uint8Array {
  const to = new Builder(4096);
  return message(to, HEADER.schema, schemaTable(to, fields, customMetadata), 0);
}

/** `nulls` by column; `buffers` of all columns, one after the other. */
export function batchMessage(
  rows: number,
  nulls: readonly number[],
  buffers: readonly BufferPlace[],
  body: number,
): Uint8Array {
  const to = new Builder(4096);
  // Structs are written from their last field to their first, vectors from their last item.
  to.startVector(16, buffers.length, 8);
  for (const { offset, length } of buffers.toReversed()) {
    to.prep(8, 16);
    to.writeInt64(BigInt(length));
    to.writeInt64(BigInt(offset));
  }
  const places = to.endVector();
  to.startVector(16, nulls.length, 8);
  for (const count of nulls.toReversed()) {
    to.prep(8, 16);
    to.writeInt64(BigInt(count));
    to.writeInt64(BigInt(rows));
  }
  const nodes = to.endVector();
  to.startObject(5);
  to.addFieldInt64(0, BigInt(rows), 0n);
  to.addFieldOffset(1, nodes, 0);
  to.addFieldOffset(2, places, 0);
  return message(to, HEADER.recordBatch, to.endObject(), body);
}

export function footer(
  fields: readonly ArrowField[],
  customMetadata: CustomMetadata,
  blocks: readonly BatchPlace[],
): Uint8Array {
  const to = new Builder(4096);
  const schema = schemaTable(to, fields, customMetadata);
  to.startVector(24, blocks.length, 8);
  for (const { offset, metadata, body } of blocks.toReversed()) {
    to.prep(8, 24);
    to.writeInt64(BigInt(body));
    to.pad(4);
    to.writeInt32(metadata);
    to.writeInt64(BigInt(offset));
  }
  const batches = to.endVector();
  to.startVector(24, 0, 8);
  const dictionaries = to.endVector();
  to.startObject(5);
  to.addFieldInt16(0, VERSION_5, 0);
  to.addFieldOffset(1, schema, 0);
  to.addFieldOffset(2, dictionaries, 0);
  to.addFieldOffset(3, batches, 0);
  to.finish(to.endObject());
  return to.asUint8Array();
}
