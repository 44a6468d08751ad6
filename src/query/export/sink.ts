/** Blocks of bytes into a file, compressed on request. */
import { once } from 'node:events';
import { closeSync, createWriteStream, openSync, writeSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGzip, type Gzip } from 'node:zlib';

export interface Sink {
  /** The bytes may be used again once it is done. @throws a file system's error as it is, perhaps of earlier bytes */
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** @param signal ends it: `write` throws the signal's reason */
export const openSink = (path: string, gzip: boolean, signal: AbortSignal): Sink =>
  gzip ? new GzipSink(path, signal) : new FileSink(path, signal);

/** Written at once: the thread has nothing else to do, and a block can be filled again. */
class FileSink implements Sink {
  readonly #fd: number;
  readonly #signal: AbortSignal;

  constructor(path: string, signal: AbortSignal) {
    this.#signal = signal;
    this.#fd = openSync(path, 'w');
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(this.#fd, bytes, at, bytes.length - at);
    }
    // A turn of the event loop: otherwise no message would ever arrive.
    await setImmediate();
    this.#signal.throwIfAborted();
  }

  async end(): Promise<void> {
    closeSync(this.#fd);
  }
}

/** Compressed in a thread of Node's pool, while the next block is made. */
class GzipSink implements Sink {
  readonly #gzip: Gzip;
  readonly #done: Promise<void>;
  readonly #signal: AbortSignal;
  #failed: Error | null = null;

  constructor(path: string, signal: AbortSignal) {
    this.#signal = signal;
    this.#gzip = createGzip({ level: 1, chunkSize: 1 << 18 });
    const file = createWriteStream(path);
    this.#gzip.pipe(file);
    this.#gzip.on('error', () => {});
    this.#done = finished(file);
    this.#done.catch((error: Error) => {
      this.#failed = error;
      // Whoever waits for room is told.
      this.#gzip.destroy(error);
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#signal.throwIfAborted();
    if (this.#failed !== null) throw this.#failed;
    if (bytes.length === 0 || this.#gzip.write(bytes.slice())) return;
    await Promise.race([once(this.#gzip, 'drain').catch(() => {}), this.#done]);
    if (this.#failed !== null) throw this.#failed;
  }

  async end(): Promise<void> {
    if (this.#failed !== null) throw this.#failed;
    this.#gzip.end();
    await this.#done;
  }
}
