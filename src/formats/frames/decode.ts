/** Frames to batches. */
import type { Batch, Column, Schema } from '../../model/metric.ts';
import type { RawColumn } from '../part.ts';
import {
  AT,
  columnBytes,
  columnIn,
  type DictionaryPart,
  FLAG_DICTIONARY,
  FLAG_SCHEMA,
  FrameError,
  HEADER_BYTES,
  payloadBytes,
} from './layout.ts';
import { parseSchema } from './parse-schema.ts';
import { FrameSplitter } from './split.ts';

interface DecoderOptions {
  /** Named in errors. */
  readonly file?: string;
  /** Called for each damaged place; reading goes on at the next intact frame. Without it, damage is thrown. */
  readonly onDamage?: (error: FrameError) => void;
  /** Called for each new schema, whether rows follow or not. */
  readonly onSchema?: (schema: Schema, dictionaries: FramePlace['dictionaries']) => void;
  /** Schemas whose data are not wanted are skipped. */
  readonly wanted?: (schema: Schema) => boolean;
  /**
   * Called for each data frame, wanted or not, before it is decoded; `columns` returns its values, labels as codes. If it returns
   * true, the frame's labels are checked, and those that are in no dictionary are reported.
   */
  readonly onData?: (place: FramePlace, columns: () => RawColumn[]) => boolean;
}

/** Where a data frame's payload is. */
export interface FramePlace {
  readonly schema: Schema;
  /** By column, as far as known by now: they grow. Empty for columns without labels. */
  readonly dictionaries: readonly (readonly string[])[];
  /** Start of the payload, from the stream's start. */
  readonly offset: number;
  readonly rows: number;
}

interface Known {
  readonly text: string;
  readonly schema: Schema;
  readonly wanted: boolean;
  /** By column; empty for columns without labels. */
  readonly dictionaries: readonly string[][];
}

/** Rows of a frame that has no columns: they take no bytes. */
const MOST_BARE = 1 << 20;
/** Least bytes of a label in a dictionary: two quotes and a comma. */
const LABEL_BYTES = 3;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The reader of one stream. Takes chunks of any size; returns batches whose columns have memory of their own. */
export class FrameDecoder {
  /** Data frames that existed according to the sequence numbers, and were not seen. */
  lost = 0;
  private readonly options: DecoderOptions;
  private readonly splitter: FrameSplitter;
  private readonly known = new Map<number, Known>();
  private batches: Batch[] = [];
  private next: number | null = null;
  private error: FrameError | null = null;
  /** Labels of all dictionaries that are unknown although later ones are known. */
  private holes = 0;

  constructor(options: DecoderOptions = {}) {
    this.options = options;
    this.splitter = new FrameSplitter(
      (frame, offset) => this.frame(frame, offset),
      (error) => this.damage(error),
      options.file,
    );
  }

  /**
   * The batches that end in this chunk.
   * @throws FrameError for damage, if no `onDamage` was given. Batches before it are delivered first, so it
   *   may be thrown by the next call
   */
  push(chunk: Uint8Array): Batch[] {
    if (this.error === null) this.splitter.push(chunk);
    return this.take();
  }

  /** The same for this many bytes of 0, such as a hole of a file. @throws FrameError as `push` */
  pushZeros(count: number): Batch[] {
    if (this.error === null) this.splitter.pushZeros(count);
    return this.take();
  }

  /**
   * Tells that nothing more comes. `cut`: bytes at the end that begin a frame and do not finish it, as when a writer was
   * stopped within it.
   * @throws FrameError as `push`
   */
  finish(): { readonly batches: Batch[]; readonly cut: number } {
    const cut = this.error === null ? this.splitter.finish() : 0;
    return { batches: this.take(), cut };
  }

  private take(): Batch[] {
    const batches = this.batches;
    if (batches.length === 0 && this.error !== null) throw this.error;
    this.batches = [];
    return batches;
  }

  private damage(error: FrameError): void {
    if (this.options.onDamage !== undefined) this.options.onDamage(error);
    else this.error ??= error;
  }

  private frame(frame: Uint8Array, offset: number): void {
    if (this.error !== null) return;
    const fault = this.read(frame, offset);
    if (fault !== null) this.damage(new FrameError(fault, offset, this.options.file));
  }

  /** Takes a frame. Returns what is wrong with it; null if nothing is. */
  private read(frame: Uint8Array, offset: number): string | null {
    const head = new DataView(frame.buffer, frame.byteOffset, HEADER_BYTES);
    const id = head.getUint32(AT.schema, true);
    const flags = head.getUint32(AT.flags, true);
    const payload = frame.subarray(HEADER_BYTES);
    if (flags === FLAG_SCHEMA) return this.define(id, payload);
    if (flags === 0) this.count(head.getUint32(AT.sequence, true));
    const known = this.known.get(id);
    if (known === undefined) return `schema ${id} was not defined before its data`;
    if (flags === FLAG_DICTIONARY) return this.learn(known, payload, offset);
    if (flags !== 0) return `a frame of an unknown kind (flags ${flags})`;
    const { schema, dictionaries, wanted } = known;
    const rows = head.getUint32(AT.rows, true);
    const columns = head.getUint32(AT.columns, true);
    if (columns !== schema.metrics.length || payload.length !== payloadBytes(schema, rows)) {
      return `the frame does not have the size of ${rows} rows of ${schema.name}`;
    }
    if (columns === 0 && rows > MOST_BARE) {
      return `${rows} rows of ${schema.name}, which has no columns`;
    }
    const place = { schema, dictionaries, offset: offset + HEADER_BYTES, rows };
    let cells: RawColumn[] | undefined;
    const values = () => (cells ??= columnsOf(schema, payload, rows));
    const isTaken = this.options.onData?.(place, values) === true;
    if (!wanted && !isTaken) return null;
    if (wanted) {
      const columns = values().map(
        (codes, k): Column =>
          schema.metrics[k].cell === 'label'
            ? Array.from(codes as Uint32Array, (code) => dictionaries[k][code] ?? '')
            : codes,
      );
      this.batches.push({ schema, rows, columns });
    }
    return unknownLabels(known, values());
  }

  /** Takes the labels of a dictionary frame. Returns what is wrong with it. */
  private learn(
    { schema, dictionaries }: Known,
    payload: Uint8Array,
    offset: number,
  ): string | null {
    const part = dictionaryOf(payload);
    if (typeof part === 'string') return part;
    const dictionary = dictionaries[part.column];
    if (schema.metrics[part.column]?.cell !== 'label') {
      return `the dictionary is not one of a column of ${schema.name}`;
    }
    // Missing labels were in frames that are lost: each took some bytes of what comes before.
    const holes = Math.max(0, part.first - dictionary.length);
    if ((this.holes + holes) * LABEL_BYTES > offset) {
      return `the dictionary begins at label ${part.first}, and there are ${dictionary.length} before`;
    }
    this.holes += holes;
    // Not as holes: an array with many holes becomes a slow one.
    while (dictionary.length < part.first) dictionary.push(undefined as unknown as string);
    for (const [k, label] of part.labels.entries()) dictionary[part.first + k] = label;
    return null;
  }

  /** Gaps in the sequence are lost frames; a number that was there before begins another writer's stream. */
  private count(sequence: number): void {
    if (this.next !== null) {
      const gap = (sequence - this.next) >>> 0;
      if (gap < 0x80000000) this.lost += gap;
    }
    this.next = (sequence + 1) >>> 0;
  }

  private define(id: number, payload: Uint8Array): string | null {
    try {
      const text = utf8.decode(payload);
      if (this.known.get(id)?.text === text) return null;
      const schema = parseSchema(text);
      const wanted = this.options.wanted?.(schema) ?? true;
      const dictionaries = schema.metrics.map(() => []);
      this.known.set(id, { text, schema, wanted, dictionaries });
      this.options.onSchema?.(schema, dictionaries);
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** The content of a dictionary frame, or what is wrong with it. */
function dictionaryOf(payload: Uint8Array): DictionaryPart | string {
  let part: Partial<DictionaryPart> | null;
  try {
    part = JSON.parse(utf8.decode(payload)) as Partial<DictionaryPart> | null;
  } catch {
    return 'the dictionary is not JSON';
  }
  const { column = -1, first = -1, labels } = part ?? {};
  const isPart =
    Number.isSafeInteger(first) &&
    first >= 0 &&
    Array.isArray(labels) &&
    labels.every((label) => typeof label === 'string');
  return isPart ? { column, first, labels } : 'the dictionary has no first label, or no labels';
}

/** The columns of a payload, at their place. */
function columnsOf({ metrics }: Schema, payload: Uint8Array, rows: number): RawColumn[] {
  let at = 0;
  return metrics.map(({ cell }) => {
    const column = columnIn(cell, payload.buffer as ArrayBuffer, payload.byteOffset + at, rows);
    at += columnBytes(cell, rows);
    return column;
  });
}

/** Labels that are in no dictionary, the first of each column; null if there are none. */
function unknownLabels({ schema, dictionaries }: Known, columns: RawColumn[]): string | null {
  const unknown = schema.metrics.flatMap(({ key, cell }, k) => {
    if (cell !== 'label') return [];
    const strange = (columns[k] as Uint32Array).find((code) => dictionaries[k][code] === undefined);
    return strange === undefined ? [] : [`label ${strange} of ${schema.name}.${key}`];
  });
  return unknown.length === 0 ? null : `${unknown.join(', ')}: in no dictionary, so missing`;
}
