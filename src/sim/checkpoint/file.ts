/**
 * A checkpoint as a file. All is little-endian.
 *
 *     "triscope-ckpt 1\n"    16 bytes: what it is, and the version of the format
 *     bytes of the whole     u64
 *     bytes of the head      u64
 *     head                   JSON: what the run is, and what it had done (Head), with spaces up to a multiple of 8
 *     images                 of each PE that there was: blocks, spares, events (f64), ids, paths (i32), each up to a multiple of 8
 *     SHA-256                of all before, 32 bytes
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { EXIT, TriscopeError } from '../../model/error.ts';
import type { RunConfig } from '../config.ts';
import type { Memories } from './image.ts';

const KIND = 'triscope-ckpt ';
const FORMAT = 1;
const MAGIC = 16;
const FIXED = MAGIC + 16;
const HASH = 32;
/** Bytes that one call reads or writes: fewer than 2 GiB. */
const CHUNK_BYTES = 2 ** 28;

/** The model of the run. */
export interface ModelIdentity {
  readonly name: string;
  /** Path of a user's model, and SHA-256 of its file; null for a built-in model, or one given as an object. */
  readonly path: string | null;
  readonly source: string | null;
  /** SHA-256 of the fields of its messages and states. */
  readonly fields: string;
}

/** The settings on which results depend. */
export type SameSettings = Pick<
  RunConfig,
  'end' | 'warmup' | 'lookahead' | 'seeds' | 'coreSeeds' | 'options'
>;

/** The counts of a run up to its checkpoint, summed over PEs: a restart continues from them. */
export interface Done {
  /** In the order of COUNTERS. */
  readonly counts: readonly number[];
  readonly eventDigest: readonly [number, number];
  readonly leastOffset: number | null;
  readonly leastDelay: number | null;
  /** Lines that the model had printed. */
  readonly lines: number;
}

/** Sizes of one PE's image. */
interface Sizes {
  readonly blocks: number;
  readonly spares: number;
  readonly events: number;
  readonly lps: number;
}

export interface CheckpointHead {
  readonly model: ModelIdentity;
  readonly settings: SameSettings;
  readonly lps: number;
  /** The number of PEs for which the model was sized. */
  readonly sizedFor: number;
  /** Virtual time of the checkpoint. */
  readonly time: number;
  readonly pending: number;
  readonly done: Done;
  /** When a committed event stops the run; null for never. */
  readonly stopTime: number | null;
  /** When the model's hook is called next, by PE; null for never. */
  readonly hookTimes: readonly (number | null)[];
  readonly asksHook: boolean;
  readonly images: readonly Sizes[];
}

/** A checkpoint that was read. Plain data: threads share its bytes. */
export interface Checkpoint {
  /** Its path, for messages. */
  readonly file: string;
  readonly head: CheckpointHead;
  readonly bytes: SharedArrayBuffer;
  /** Where the images begin. */
  readonly at: number;
}

/** A file that is not a checkpoint, or is not complete. */
export class CheckpointError extends TriscopeError {
  override readonly name = 'CheckpointError';
  override readonly exitCode = EXIT.input;
}

const upTo8 = (bytes: number) => Math.ceil(bytes / 8) * 8;
const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Int32Array) =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

// JSON has no Infinity, which an end time may be.
const INFINITE = 'Infinity';
const toJson = (head: CheckpointHead) =>
  JSON.stringify(head, (_key, value: unknown) => (value === Infinity ? INFINITE : value));
const fromJson = (text: string) =>
  JSON.parse(text, (_key, value: unknown) =>
    value === INFINITE ? Infinity : value,
  ) as CheckpointHead;

/** Where a checkpoint is written before it takes the place of `file`. */
export const newOf = (file: string): string => `${file}.new`;

/**
 * Writes it beside `file`, then renames it: at any time there is a complete checkpoint.
 * @returns its size in bytes
 * @throws Error of the file system
 */
export function writeCheckpoint(
  file: string,
  head: Omit<CheckpointHead, 'images'>,
  images: readonly Memories[],
): number {
  const sizes = images.map(({ blocks, spares, events, ids }) => ({
    blocks: blocks.length,
    spares: spares.length,
    events: events.length,
    lps: ids.length,
  }));
  const json = Buffer.from(toJson({ ...head, images: sizes }));
  const text = Buffer.alloc(upTo8(json.length), ' ');
  json.copy(text);
  const parts: Uint8Array[] = [text];
  for (const { blocks, spares, events, ids, paths } of images) {
    for (const part of [blocks, spares, events, ids, paths]) {
      const bytes = bytesOf(part);
      parts.push(bytes);
      const gap = upTo8(bytes.length) - bytes.length;
      if (gap > 0) parts.push(new Uint8Array(gap));
    }
  }
  const whole = parts.reduce((sum, part) => sum + part.length, FIXED + HASH);
  const first = Buffer.alloc(FIXED);
  first.write(`${KIND}${FORMAT}\n`, 'latin1');
  first.writeBigUInt64LE(BigInt(whole), MAGIC);
  first.writeBigUInt64LE(BigInt(text.length), MAGIC + 8);
  const hash = createHash('sha256');
  const beside = newOf(file);
  const to = openSync(beside, 'w');
  try {
    const write = (bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length; )
        at += writeSync(to, bytes, at, Math.min(CHUNK_BYTES, bytes.length - at));
    };
    for (const part of [first, ...parts]) {
      hash.update(part);
      write(part);
    }
    write(hash.digest());
    fsyncSync(to);
  } finally {
    closeSync(to);
  }
  renameSync(beside, file);
  return whole;
}

function readWhole(file: string): Uint8Array<SharedArrayBuffer> {
  try {
    const from = openSync(file, 'r');
    try {
      const size = fstatSync(from).size;
      const bytes = new Uint8Array(new SharedArrayBuffer(size));
      for (let at = 0; at < size; ) {
        const n = readSync(from, bytes, at, Math.min(CHUNK_BYTES, size - at), at);
        if (n === 0) break;
        at += n;
      }
      return bytes;
    } finally {
      closeSync(from);
    }
  } catch (error) {
    throw new CheckpointError(`${file}: cannot be read: ${(error as Error).message}`);
  }
}

/** @throws CheckpointError if the file is not a complete checkpoint of this format */
export function readCheckpoint(file: string): Checkpoint {
  const bytes = readWhole(file);
  const buffer = Buffer.from(bytes.buffer);
  const magic = buffer.toString('latin1', 0, MAGIC);
  if (!magic.startsWith(KIND)) throw new CheckpointError(`${file}: is not a checkpoint`);
  const format = Number.parseInt(magic.slice(KIND.length), 10);
  if (format !== FORMAT) {
    throw new CheckpointError(
      `${file}: is a checkpoint of format ${format}, this Triscope reads format ${FORMAT}`,
    );
  }
  const whole = bytes.length < FIXED ? Number.NaN : Number(buffer.readBigUInt64LE(MAGIC));
  if (bytes.length !== whole) {
    const of = Number.isNaN(whole) ? '' : ` of ${whole}`;
    throw new CheckpointError(
      `${file}: has ${bytes.length}${of} bytes: it was cut off, take an older one`,
    );
  }
  const hash = createHash('sha256')
    .update(buffer.subarray(0, whole - HASH))
    .digest();
  if (!hash.equals(buffer.subarray(whole - HASH))) {
    throw new CheckpointError(`${file}: its bytes do not match their checksum: take an older one`);
  }
  const at = FIXED + Number(buffer.readBigUInt64LE(MAGIC + 8));
  return { file, head: fromJson(buffer.toString('utf8', FIXED, at)), bytes: bytes.buffer, at };
}

/**
 * When the hook of PE `pe` of `pes` is called next.
 * @throws CheckpointError if the PEs' hooks asked for different times and the number of PEs has changed
 */
export function hookTimeOf({ file, head }: Checkpoint, pes: number, pe: number): number {
  const { hookTimes } = head;
  if (hookTimes.length !== pes && hookTimes.some((time) => time !== hookTimes[0])) {
    throw new CheckpointError(
      `${file}: the GVT hooks of its ${hookTimes.length} PEs are due at different times; restart it on ${hookTimes.length} PEs`,
    );
  }
  return (hookTimes.length === pes ? hookTimes[pe] : hookTimes[0]) ?? Infinity;
}

/** Its images, one per PE that there was. Views of its bytes. */
export function imagesIn({ head, bytes, at }: Checkpoint): Memories[] {
  let from = at;
  const doubles = (n: number) => {
    const part = new Float64Array(bytes, from, n);
    from += 8 * n;
    return part;
  };
  const words = (n: number) => {
    const part = new Int32Array(bytes, from, n);
    from += upTo8(4 * n);
    return part;
  };
  return head.images.map(({ blocks, spares, events, lps }) => ({
    blocks: doubles(blocks),
    spares: doubles(spares),
    events: doubles(events),
    ids: words(lps),
    paths: words(lps),
  }));
}
