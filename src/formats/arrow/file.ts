/**
 * Writes Arrow IPC files (“Feather 2”).
 *
 * ```
 * ARROW1 0 0 | schema | record batch … | end of stream | footer | its length | ARROW1
 * message: FF FF FF FF, u32 length of the metadata, the metadata, its body; all in steps of 8 bytes
 * ```
 * The part between the magic words is a stream by itself.
 */
import {
  type ArrowField,
  type BatchPlace,
  type BufferPlace,
  batchMessage,
  type CustomMetadata,
  footer,
  schemaMessage,
} from './metadata.ts';

/** A column of a batch. */
export interface ArrowColumn {
  /** A bit per row, least significant first, 1 for valid; null if no value is missing. */
  readonly validity: Uint8Array | null;
  readonly nulls: number;
  /** The buffers of its type: offsets and bytes for texts, otherwise values. */
  readonly buffers: readonly Uint8Array[];
}

const MAGIC = new TextEncoder().encode('ARROW1');
const STEP_BYTES = 8;
const PREFIX_BYTES = 8;

const padded = (length: number): number => Math.ceil(length / STEP_BYTES) * STEP_BYTES;

export class ArrowFile {
  private readonly fields: readonly ArrowField[];
  private readonly customMetadata: CustomMetadata;
  private readonly blocks: BatchPlace[] = [];
  private offset = 0;

  constructor(fields: readonly ArrowField[], customMetadata: CustomMetadata) {
    this.fields = fields;
    this.customMetadata = customMetadata;
  }

  start(): Uint8Array {
    const schema = framed(schemaMessage(this.fields, this.customMetadata));
    const bytes = new Uint8Array(STEP_BYTES + schema.length);
    bytes.set(MAGIC);
    bytes.set(schema, STEP_BYTES);
    this.offset = bytes.length;
    return bytes;
  }

  /** A record batch, with one column per field. */
  batch(rows: number, columns: readonly ArrowColumn[]): Uint8Array {
    const places: BufferPlace[] = [];
    const parts: Uint8Array[] = [];
    let body = 0;
    for (const { validity, buffers } of columns) {
      for (const part of [validity ?? new Uint8Array(), ...buffers]) {
        places.push({ offset: body, length: part.length });
        parts.push(part);
        body += padded(part.length);
      }
    }
    const nulls = columns.map((column) => column.nulls);
    const head = framed(batchMessage(rows, nulls, places, body));
    const bytes = new Uint8Array(head.length + body);
    bytes.set(head);
    parts.forEach((part, k) => {
      bytes.set(part, head.length + places[k].offset);
    });
    this.blocks.push({ offset: this.offset, metadata: head.length, body });
    this.offset += bytes.length;
    return bytes;
  }

  end(): Uint8Array {
    const foot = footer(this.fields, this.customMetadata, this.blocks);
    const bytes = new Uint8Array(PREFIX_BYTES + foot.length + 4 + MAGIC.length);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, 0xffffffff);
    bytes.set(foot, PREFIX_BYTES);
    view.setUint32(PREFIX_BYTES + foot.length, foot.length, true);
    bytes.set(MAGIC, PREFIX_BYTES + foot.length + 4);
    return bytes;
  }
}

function framed(metadata: Uint8Array): Uint8Array {
  const length = padded(metadata.length);
  const bytes = new Uint8Array(PREFIX_BYTES + length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0xffffffff);
  view.setUint32(4, length, true);
  bytes.set(metadata, PREFIX_BYTES);
  return bytes;
}
