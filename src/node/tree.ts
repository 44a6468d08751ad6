/** Where a collector reads: this machine, or a recorded tree of another's `proc` and `sys`. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';

const START = 16 * 1024;

/** A type has nothing to read here. The message says what is missing. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** A file that is read whole, again and again, into one buffer: of /proc and /sys, whose text is made when read. */
export class KernelFile {
  readonly path: string;
  #buffer = Buffer.allocUnsafe(START);
  readonly #file: number;

  /** @throws UnavailableError */
  constructor(path: string) {
    this.path = path;
    try {
      this.#file = openSync(path, 'r');
    } catch (error) {
      throw new UnavailableError((error as Error).message);
    }
  }

  /** Its present text is `bytes[0, read())`; valid until the next call. */
  get bytes(): Buffer {
    return this.#buffer;
  }

  /** Reads it anew. Gives its length in bytes. */
  read(): number {
    for (let used = 0; ; ) {
      const got = readSync(this.#file, this.#buffer, used, this.#buffer.length - used, used);
      used += got;
      if (got === 0) return used;
      if (used === this.#buffer.length) {
        const larger = Buffer.allocUnsafe(2 * used);
        this.#buffer.copy(larger, 0, 0, used);
        this.#buffer = larger;
      }
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

export class NodeTree {
  readonly root: string;

  /** `root`: the folder that `proc` and `sys` lie in. */
  constructor(root = '/') {
    this.root = root;
  }

  get isThisMachine(): boolean {
    return this.root === '/';
  }

  /** @throws UnavailableError where it cannot be opened */
  open(path: string): KernelFile {
    return new KernelFile(join(this.root, path));
  }

  /** The file's text without blanks around it; null where there is none. */
  text(path: string): string | null {
    try {
      return readFileSync(join(this.root, path), 'utf8').trim();
    } catch {
      return null;
    }
  }

  hostname(): string {
    return this.text('proc/sys/kernel/hostname') || os.hostname();
  }

  /** System, machine, release, version, as the header of a raw stats file has them. */
  uname(): string {
    const release = this.text('proc/sys/kernel/osrelease') ?? os.release();
    const version = this.text('proc/sys/kernel/version') ?? os.version();
    return `${os.type()} ${os.machine()} ${release} ${version}`;
  }

  /** Seconds since the machine started; 0 where a recorded tree does not say. */
  uptime(): number {
    const [seconds] = (this.text('proc/uptime') ?? '').split(' ');
    return Number(seconds) || (this.isThisMachine ? os.uptime() : 0);
  }
}
