/** `--stream=PATH|-`: a run's frames for another program, while it goes on. */
import { constants, createWriteStream, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { UsageError } from './errors.ts';

/** Bytes that wait for a slow follower, at most. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;
/** Word of a frame's header with its flags: 0 for data (docs/formats/frames.md). */
const FLAGS_AT = 20;
/** Milliseconds between looks at whether somebody reads a named pipe, and whether the last frames are taken. */
const PERIOD_MS = 50;
/** Milliseconds in which a follower must take something at the end, or is given up. */
const FOLLOWER_WAIT_MS = 2000;

/** Whether the target is a pipe or a socket, which may be slow and is written to only as fast as its reader takes data. */
const flows = (what: Stats) => what.isFIFO() || what.isSocket();

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/**
 * Passes frames on. A follower that is too slow loses whole batches, counted, and never slows the run; definitions
 * are kept, so that it can read what comes later. A named pipe may get its reader later.
 */
export class StreamOut {
  /** Batches that nobody got. */
  dropped = 0;
  private readonly path: string;
  private out: Writable | null = null;
  private failure: Error | null = null;
  /** Frames for a named pipe that nobody reads yet. */
  private early: Uint8Array[] = [];
  private earlyBytes = 0;
  private attempts: NodeJS.Timeout | null = null;
  /** Sizes of data frames that the follower has not taken yet. */
  private given = 0;

  /**
   * @param path a file, a named pipe, or `-` for standard output
   * @throws UsageError
   */
  constructor(path: string) {
    if (path === '') throw new UsageError('--stream needs a path, or - for standard output');
    this.path = path;
    if (path === '-') {
      this.follow(
        flows(fstatSync(1))
          ? new Socket({ fd: 1, readable: false })
          : createWriteStream('', { fd: 1 }),
      );
    } else if (statOf(path)?.isFIFO()) {
      this.attempts = setInterval(() => this.attempt(), PERIOD_MS);
      this.attempt();
    } else {
      try {
        this.follow(createWriteStream(path, { fd: openSync(path, 'w') }));
      } catch (error) {
        throw new UsageError(`--stream=${path}: ${(error as Error).message}`);
      }
    }
  }

  /** Opens a named pipe if somebody reads it. To wait for a reader in `open` would keep the process alive. */
  private attempt(): void {
    let fd: number;
    try {
      fd = openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') this.fail(error as Error);
      return;
    }
    this.stopTrying();
    this.follow(new Socket({ fd, readable: false }));
    for (const frame of this.early) this.give(frame);
    this.early = [];
  }

  private stopTrying(): void {
    if (this.attempts !== null) clearInterval(this.attempts);
    this.attempts = null;
  }

  private follow(out: Writable): void {
    this.out = out;
    out.on('error', (error) => this.fail(error));
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.stopTrying();
  }

  private give(frame: Uint8Array): void {
    const data = isData(frame) ? 1 : 0;
    this.given += data;
    this.out?.write(frame, (error) => {
      if (error == null) this.given -= data;
    });
  }

  /** @param dropped batches that were lost before these frames */
  readonly write = (frames: readonly Uint8Array[], dropped = 0): void => {
    this.dropped += dropped;
    for (const frame of frames) {
      const waiting = this.out?.writableLength ?? this.earlyBytes;
      if (isData(frame) && (this.failure !== null || waiting > MOST_WAITING_BYTES)) this.dropped++;
      else if (this.failure !== null) continue;
      else if (this.out === null) {
        this.early.push(frame);
        this.earlyBytes += frame.length;
      } else this.give(frame);
    }
  };

  /** Waits until the follower has all, as long as it goes on taking. Says what was lost, if anything. */
  async end(): Promise<string | null> {
    await this.drain();
    const lost = this.dropped + this.given + this.early.filter(isData).length;
    this.close();
    const batches = `${lost} batches were dropped`;
    if (this.failure !== null) {
      const gone = (this.failure as NodeJS.ErrnoException).code === 'EPIPE';
      return `--stream: ${gone ? 'the follower went away' : this.failure.message}: ${batches}`;
    }
    if (this.out === null) return `--stream: nobody reads ${this.path}: ${batches}`;
    return lost > 0 ? `--stream: the follower was too slow: ${batches}` : null;
  }

  /** Lets go of the follower, whatever it has not taken. */
  close(): void {
    this.stopTrying();
    this.out?.destroy();
  }

  private async drain(): Promise<void> {
    let left = this.given;
    for (let since = performance.now(); this.failure === null; ) {
      const waiting = this.out?.writableLength ?? this.early.length;
      if (waiting === 0) return;
      if (waiting !== left) since = performance.now();
      left = waiting;
      if (performance.now() - since > FOLLOWER_WAIT_MS) return;
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  }
}

function isData(frame: Uint8Array): boolean {
  return new DataView(frame.buffer, frame.byteOffset).getUint32(FLAGS_AT, true) === 0;
}
