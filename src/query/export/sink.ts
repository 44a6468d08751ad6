/** Blocks of bytes into a file, written while the next ones are made; compressed on request. */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { createGzip, type Gzip } from 'node:zlib';

export class Sink {
  readonly #file: WriteStream;
  readonly #gzip: Gzip | null;
  readonly #done: Promise<void>;
  #failed: Error | null = null;

  constructor(path: string, gzip: boolean) {
    this.#file = createWriteStream(path, { highWaterMark: 1 << 22 });
    this.#gzip = gzip ? createGzip({ level: 1, chunkSize: 1 << 18 }) : null;
    this.#gzip?.pipe(this.#file);
    this.#done = finished(this.#file);
    this.#done.catch((error: Error) => {
      this.#failed = error;
      // Whoever waits for room is told.
      this.#gzip?.destroy(error);
    });
    this.#gzip?.on('error', () => {});
  }

  /** @throws a file system's error as it is, perhaps that of an earlier block */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failed !== null) throw this.#failed;
    const to = this.#gzip ?? this.#file;
    if (bytes.length === 0 || to.write(bytes)) return;
    await Promise.race([once(to, 'drain').catch(() => {}), this.#done]);
    if (this.#failed !== null) throw this.#failed;
  }

  async end(): Promise<void> {
    if (this.#failed !== null) throw this.#failed;
    (this.#gzip ?? this.#file).end();
    await this.#done;
  }
}
