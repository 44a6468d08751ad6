/**
 * What every file format offers. A format has one decoder, from which its tables, its records in file order, and the
 * survey that `info` prints are made. To add a format, add a folder and a line in `registry.ts`.
 */
import { EXIT, TriscopeError } from '../model/error.ts';
import type { Hole } from '../os/holes.ts';
import type { GivenLayout } from './model-bytes.ts';
import type { OpenFile, TakeRows } from './part.ts';
import type { PayloadField } from './payload.ts';

export type { FileInfo, Instant } from './part.ts';

/** A file, or bytes in memory in its place. Reading is synchronous, because decoders run in workers and commands. */
export interface FileSource {
  /** Path of the file, or a name for bytes in memory. */
  readonly path: string;
  /** Bytes of the file when it was opened or last refreshed. */
  readonly size: number;
  /** Asks for the size again, and returns it in bytes. */
  refresh(): number;
  /** Frees the copy of the file's first bytes, which is kept while its format is being identified. */
  forget(): void;
  /** Fills `into` with the bytes from `position` on; returns the number of bytes. */
  read(position: number, into: Uint8Array): number;
  /**
   * The first hole of a sparse file (bytes that were never written) that ends after byte `position`; null if there is none.
   * Omitted if the file system does not tell.
   */
  hole?(position: number): Hole | null;
  /** A file in the same folder; null if there is none. The caller closes it. */
  sibling(name: string): FileSource | null;
  /** Closes the file. */
  close(): void;
}

/** Why a format claims a file. */
export interface Detection {
  /** How sure the format is, a ratio from 0 to 1; the highest wins. From 0.9 on the content leaves no doubt. */
  readonly confidence: number;
  /** Completes “read as … because”. */
  readonly because: string;
  /** What it is exactly, such as `ROSS v7.0–v8.0`. */
  readonly era: string;
}

/** A place where a file is not as it must be. */
export interface Damage {
  /** Path of the file. */
  readonly path: string;
  /** Byte of the place; -1 if `line` tells it, or if it is about the file as a whole. */
  readonly offset: number;
  /** Number of the line in a text, from 1 on. */
  readonly line?: number;
  /** What was expected and what was found. */
  readonly what: string;
  /** Bytes skipped by `salvage`; 0 if reading ended there. */
  readonly skipped: number;
  /** True if what is there was read all the same, and may be wrong. */
  readonly kept?: true;
}

/**
 * A file that is not as it must be: one line with the place and the remedy. Exit code 3.
 * @example
 * ```ts
 * import { FormatError, openData } from 'triscope/formats';
 *
 * try {
 *   openData('damaged.bin', null)?.close();
 * } catch (error) {
 *   if (error instanceof FormatError) console.error(error.damage.offset, error.damage.what); // byte, and what is there
 * }
 * ```
 */
export class FormatError extends TriscopeError {
  override readonly name = 'FormatError';
  override readonly exitCode = EXIT.input;
  /** What is wrong, and where. */
  readonly damage: Damage;

  /** @param mend what the reader can do about it */
  constructor(damage: Damage, mend = '') {
    const { path, line, offset, what } = damage;
    const byte = offset < 0 ? '' : `byte ${offset}: `;
    const place = line === undefined ? byte : `line ${line}: `;
    super(`${path}: ${place}${what}${mend === '' ? '' : `; ${mend}`}`);
    this.damage = damage;
  }
}

/** A value of a row; 64-bit integers are bigints, null is missing. */
export type CellValue = number | bigint | string | boolean | null | readonly CellValue[];

/** The records of one kind, as rows. */
export interface RecordKind {
  /** Name of the kind, such as `pe`. */
  readonly name: string;
  /** Names of a row's values, in their order. */
  readonly keys: readonly string[];
  /** Fields into which the model's bytes are decoded; empty if they stay bytes. */
  readonly payload: readonly string[];
  /** Its rows tell what they are: JSON and CSV do not name the kind. */
  readonly bare?: true;
  /** Keys from number `from` on are members of one object `name` in JSON. */
  readonly values?: { readonly name: string; readonly from: number };
}

/** Records in file order: as many as the decoder has at a time. Valid until the visitor returns. */
export interface RecordBlock {
  /** Number of records. */
  readonly length: number;
  /** The kind of record number `record` of the block; records count from 0. */
  kind(record: number): RecordKind;
  /** Byte of the file at which record number `record` begins. */
  offset(record: number): number;
  /**
   * A value; null if the file has none. Bytes are given as hexadecimal text.
   * @param record number of the record in the block, from 0 on
   * @param key index into `kind(record).keys`
   */
  cell(record: number, key: number): CellValue;
  /** The decoded fields of the model's bytes in `record`, in the order of `kind.payload`; null if they do not fit. */
  payload(record: number): readonly CellValue[] | null;
}

/**
 * How a file is read: whether to go on after damage, what is known about a model's bytes, and how many bytes are read at
 * a time.
 */
export interface ScanOptions {
  /** Go on after damage at the next place that can be a record, and report what was skipped. */
  readonly salvage?: boolean;
  /** How to decode the model's bytes. */
  readonly payload?: readonly PayloadField[];
  /** What is known about files that do not describe themselves. */
  readonly given?: GivenLayout;
  /** Bytes read at a time. */
  readonly bufferBytes?: number;
}

/** What the pass over a file delivers besides its parts. */
export interface PassOptions extends ScanOptions {
  /**
   * Called with the records in file order, for formats that have `records`. Tables may then stay empty, and damage is
   * thrown unless `salvage` is set.
   */
  readonly records?: (block: RecordBlock) => void;
  /** Check how running totals develop, and report what is suspect: takes time, and only `info` shows it. */
  readonly counters?: boolean;
  /** The file is still being written: leave an incomplete end for later. */
  readonly growing?: boolean;
  /** Called with each row while the file is read. */
  readonly take?: TakeRows;
  /** Called with each damaged place that is skipped, after the rows before it. */
  readonly damage?: (damage: Damage) => void;
  /** Whether columns of this many bytes may stay in memory if reading them again is slow; if omitted, none may. */
  readonly keep?: (bytes: number) => boolean;
}

/** What a reader passes on of a file's records while it reads them. */
export interface Visitor {
  /** May return false to end the scan. */
  records(block: RecordBlock): boolean | undefined;
  /** Only with `salvage`; without it damage is thrown after everything before it was delivered. */
  damage?(damage: Damage): void;
}

/**
 * A kind of file: how it is recognised, and how it is read. `detect` returns null for other files; `open` throws FormatError for
 * damage.
 */
export interface Format {
  /** What `info` calls it. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** Looks at the beginning of a file, and at what is beside it. Null: not this format. */
  detect(head: Uint8Array, source: FileSource): Detection | null;
  /**
   * Reads the file once: its tables, and what `info` prints. Damage is skipped and reported. The source stays open
   * for as long as the parts are read.
   * @throws FormatError for a file that is none of this format
   */
  open(source: FileSource, options?: PassOptions): OpenFile;
  /** Set if its records are not the rows of its tables: `open` then delivers them, too. See `scanRecords`. */
  readonly records?: true;
}
