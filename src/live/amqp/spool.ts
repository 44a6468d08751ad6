/**
 * Messages that the broker has not confirmed, on disk: what is put here survives the process, the machine's power, and
 * the broker's absence. One file per message, by number; numbers go on for ever, so a receiver can tell what it has.
 *
 * ```
 * FOLDER/producer        the name under which messages are numbered: made once, with the folder
 *        next            the number that the next message gets
 *        0000000042.msg  message 42
 * ```
 */

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { TriscopeError } from '../../model/error.ts';

const MESSAGE = /^(\d{10,})\.msg$/;
const DIGITS = 10;

/** The spool cannot be kept. The message names the file and the reason. */
export class SpoolError extends TriscopeError {
  override readonly name = 'SpoolError';
}

export interface SpoolOptions {
  readonly folder: string;
  /** Bytes of all messages at most; the oldest make room, and are counted. */
  readonly most: number;
}

interface Entry {
  readonly number: number;
  readonly bytes: number;
}

function about<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new SpoolError(`${path}: ${(error as Error).message}`);
  }
}

export class Spool {
  readonly producer: string;
  readonly #options: SpoolOptions;
  readonly #waiting: Entry[];
  #next: number;
  #bytes = 0;
  #lost = 0;

  /** @throws SpoolError */
  constructor(options: SpoolOptions) {
    const { folder } = options;
    this.#options = options;
    about(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
    this.producer = this.#text('producer') ?? this.#put('producer', randomUUID());
    this.#waiting = this.#listed();
    for (const { bytes } of this.#waiting) this.#bytes += bytes;
    const last = this.#waiting.at(-1)?.number ?? 0;
    this.#next = Math.max(Number(this.#text('next') ?? 1) || 1, last + 1);
  }

  /** Messages that wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Messages that were given up for want of room. */
  get lost(): number {
    return this.#lost;
  }

  /** Keeps a message, on disk when this returns. @throws SpoolError */
  add(message: Uint8Array): void {
    const number = this.#next;
    // The number is taken before the message is there: it must never be given twice.
    this.#put('next', String(number + 1));
    this.#put(this.#name(number), message);
    this.#next = number + 1;
    this.#waiting.push({ number, bytes: message.length });
    this.#bytes += message.length;
    while (this.#bytes > this.#options.most && this.#waiting.length > 1) {
      this.#drop();
      this.#lost++;
    }
  }

  /** The oldest message; null where none waits. @throws SpoolError */
  first(): { readonly number: number; readonly message: Buffer } | null {
    const [entry] = this.#waiting;
    if (entry === undefined) return null;
    const path = this.#path(this.#name(entry.number));
    return { number: entry.number, message: about(path, () => readFileSync(path)) };
  }

  /** Forgets a message that was confirmed; it is the oldest. */
  confirm(number: number): void {
    if (this.#waiting[0]?.number === number) this.#drop();
  }

  #drop(): void {
    const [entry] = this.#waiting.splice(0, 1);
    this.#bytes -= entry.bytes;
    rmSync(this.#path(this.#name(entry.number)), { force: true });
  }

  #listed(): Entry[] {
    const { folder } = this.#options;
    const entries = about(folder, () => readdirSync(folder)).flatMap((name) => {
      const number = MESSAGE.exec(name)?.[1];
      if (number === undefined) return [];
      return [{ number: Number(number), bytes: readFileSync(this.#path(name)).length }];
    });
    return entries.sort((a, b) => a.number - b.number);
  }

  #name(number: number): string {
    return `${String(number).padStart(DIGITS, '0')}.msg`;
  }

  #path(name: string): string {
    return join(this.#options.folder, name);
  }

  #text(name: string): string | null {
    try {
      return readFileSync(this.#path(name), 'utf8').trim() || null;
    } catch {
      return null;
    }
  }

  /** Writes a file whole or not at all. */
  #put<T extends string | Uint8Array>(name: string, content: T): T {
    const path = this.#path(name);
    about(path, () => {
      const file = openSync(`${path}.tmp`, 'w', 0o600);
      try {
        const bytes = Buffer.from(content);
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(`${path}.tmp`, path);
    });
    return content;
  }
}
