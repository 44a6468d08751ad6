/** Writes blocks of bytes into a file, compressed on request; a block is written while the next one is made. */
import { closeSync, fdatasync, openSync, write as writeTo } from 'node:fs';
import { promisify } from 'node:util';
import type { BytePart } from './byte-part.ts';
import { crcOfBoth, deflated } from './deflate.ts';

const writeBytes = promisify(writeTo);
const putOnDisk = promisify(fdatasync);

export interface Sink {
  /** The bytes are in use until the next call has returned. @throws a file system's error unchanged, perhaps of earlier bytes */
  write(bytes: Uint8Array): Promise<void>;
  /** The same for bytes that are compressed already, if the file is. */
  writePart(part: BytePart): Promise<void>;
  end(): Promise<void>;
}

/** @param signal ends it: `write` throws the signal's reason */
export const openSink = (path: string, gzip: boolean, signal: AbortSignal): Sink => {
  const file = new FileSink(path, signal);
  return gzip ? new GzipSink(file) : file;
};

/** Bytes after which the disk is told to begin, so that little is left to wait for at the end. */
const TO_DISK_BYTES = 32 << 20;

class FileSink implements Sink {
  private readonly fd: number;
  private readonly signal: AbortSignal;
  private last: Promise<void> = Promise.resolve();
  private onDisk: Promise<void> | null = null;
  private waiting = 0;

  constructor(path: string, signal: AbortSignal) {
    this.signal = signal;
    this.fd = openSync(path, 'w');
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.last;
    this.signal.throwIfAborted();
    this.last = this.all(bytes);
    // The next call reports the error.
    this.last.catch(() => {});
  }

  writePart({ bytes }: BytePart): Promise<void> {
    return this.write(bytes);
  }

  async end(): Promise<void> {
    await this.last;
    await this.onDisk;
    closeSync(this.fd);
  }

  private async all(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await writeBytes(this.fd, bytes, at, bytes.length - at, null);
      at += bytesWritten;
    }
    this.waiting += bytes.length;
    if (this.waiting >= TO_DISK_BYTES && this.onDisk === null) this.toDisk();
  }

  private toDisk(): void {
    this.waiting = 0;
    this.onDisk = putOnDisk(this.fd).then(() => {
      this.onDisk = null;
    });
    this.onDisk.catch(() => {});
  }
}

/** RFC 1952: deflate, no name, no time, made by Unix. */
const HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);
/** An empty last block (RFC 1951). */
const LAST = Uint8Array.of(3, 0);

/** A single gzip member, because not every reader accepts several. */
class GzipSink implements Sink {
  private readonly file: FileSink;
  private crc = 0;
  private size = 0n;
  private begun = false;

  constructor(file: FileSink) {
    this.file = file;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.writePart(deflated(bytes));
  }

  async writePart({ bytes, size, crc }: BytePart): Promise<void> {
    await this.begin();
    this.crc = crcOfBoth(this.crc, crc, size);
    this.size += BigInt(size);
    await this.file.write(bytes);
  }

  async end(): Promise<void> {
    await this.begin();
    const tail = new DataView(new ArrayBuffer(8));
    tail.setUint32(0, this.crc, true);
    tail.setUint32(4, Number(this.size & 0xffffffffn), true);
    await this.file.write(LAST);
    await this.file.write(new Uint8Array(tail.buffer));
    await this.file.end();
  }

  private async begin(): Promise<void> {
    if (this.begun) return;
    this.begun = true;
    await this.file.write(HEAD);
  }
}
