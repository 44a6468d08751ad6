/** Blocks of bytes into a file, compressed on request; a block is written while the next one is made. */
import { closeSync, openSync, write as writeTo } from 'node:fs';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';

const writeBytes = promisify(writeTo);
const deflateBytes = promisify<Uint8Array, object, Uint8Array>(deflateRaw);

export interface Sink {
  /** The bytes are in use until the next call has returned. @throws a file system's error as it is, perhaps of earlier bytes */
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** @param signal ends it: `write` throws the signal's reason */
export const openSink = (path: string, gzip: boolean, signal: AbortSignal): Sink => {
  const file = new FileSink(path, signal);
  return gzip ? new GzipSink(file) : file;
};

class FileSink implements Sink {
  readonly #fd: number;
  readonly #signal: AbortSignal;
  #last: Promise<void> = Promise.resolve();

  constructor(path: string, signal: AbortSignal) {
    this.#signal = signal;
    this.#fd = openSync(path, 'w');
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#last;
    this.#signal.throwIfAborted();
    this.#last = this.#all(bytes);
    // Whoever calls next is told.
    this.#last.catch(() => {});
  }

  async end(): Promise<void> {
    await this.#last;
    closeSync(this.#fd);
  }

  async #all(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await writeBytes(this.#fd, bytes, at, bytes.length - at, null);
      at += bytesWritten;
    }
  }
}

/** Blocks that are being compressed at a time. */
const AT_ONCE = 4;
/** RFC 1952: deflate, no name, no time, made by Unix. */
const HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);
/** An empty last block (RFC 1951). */
const LAST = Uint8Array.of(3, 0);
const WHOLE_BYTES = { level: 1, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 1 << 18 };

/**
 * One gzip member whose blocks are compressed by themselves, on threads of Node's pool, several at a time: each ends at a
 * whole byte, and knows nothing of those before it, which costs less than a hundredth of the size.
 */
class GzipSink implements Sink {
  readonly #file: FileSink;
  readonly #waiting: Promise<Uint8Array>[] = [];
  #crc = 0;
  #size = 0n;
  #begun = false;

  constructor(file: FileSink) {
    this.#file = file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#crc = crc32(bytes, this.#crc);
    this.#size += BigInt(bytes.length);
    const block = deflateBytes(bytes.slice(), WHOLE_BYTES);
    block.catch(() => {});
    this.#waiting.push(block);
    if (this.#waiting.length >= AT_ONCE) await this.#pass();
  }

  async end(): Promise<void> {
    while (this.#waiting.length > 0) await this.#pass();
    await this.#begin();
    const tail = new DataView(new ArrayBuffer(8));
    tail.setUint32(0, this.#crc, true);
    tail.setUint32(4, Number(this.#size & 0xffffffffn), true);
    await this.#file.write(LAST);
    await this.#file.write(new Uint8Array(tail.buffer));
    await this.#file.end();
  }

  /** Writes the block that was given first. */
  async #pass(): Promise<void> {
    await this.#begin();
    const bytes = await this.#waiting.shift();
    if (bytes !== undefined) await this.#file.write(bytes);
  }

  async #begin(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    await this.#file.write(HEAD);
  }
}
