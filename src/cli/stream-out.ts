/** `--stream=PATH|-`: a run's frames for another program, while it goes on. */
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { UsageError } from './errors.ts';

/** Bytes that wait for a slow follower, at most. */
const MOST_WAITING = 16 * 2 ** 20;
/** Word of a frame's header with its flags: 0 for data (docs/formats/frames.md). */
const FLAGS_AT = 20;

/**
 * Passes frames on. A follower that is too slow loses whole batches, counted, and never slows the run; definitions
 * are kept, so that it can read what comes later.
 */
export class StreamOut {
  dropped = 0;
  private readonly out: Writable;
  private failure: Error | null = null;

  /** @param path a file, a named pipe, or `-` for standard output */
  constructor(path: string) {
    if (path === '') throw new UsageError('--stream needs a path, or - for standard output');
    this.out = path === '-' ? process.stdout : createWriteStream(path);
    this.out.on('error', (error) => {
      this.failure ??= error;
    });
  }

  readonly write = (frames: readonly Uint8Array[]): void => {
    for (const frame of frames) {
      const data = new DataView(frame.buffer, frame.byteOffset).getUint32(FLAGS_AT, true) === 0;
      if (this.failure !== null || (data && this.out.writableLength > MOST_WAITING)) this.dropped++;
      else this.out.write(frame);
    }
  };

  /** Waits until the follower has all, for a second at most. Says what was lost, if anything. */
  async end(): Promise<string | null> {
    if (this.out !== process.stdout && this.failure === null) {
      await Promise.race([
        new Promise<void>((resolve) => this.out.end(resolve)),
        new Promise<void>((resolve) => setTimeout(resolve, 1000).unref()),
      ]);
    }
    if (this.failure !== null) return `--stream: ${this.failure.message}`;
    return this.dropped > 0
      ? `--stream: the follower was too slow: ${this.dropped} batches were dropped`
      : null;
  }
}
