/**
 * Messages that the broker has not confirmed, on disk: they survive the end of the process, a power failure, and
 * the broker's absence. One file per message, by number; numbers never repeat, so that a receiver recognises messages that it has.
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

/** The spool cannot be used. The message names the file and the reason. */
export class SpoolError extends TriscopeError {
  override readonly name = 'SpoolError';
}

interface SpoolOptions {
  readonly folder: string;
  /** Maximum bytes of all messages; the oldest are dropped, and counted. */
  readonly most: number;
  /** Maximum bytes in memory, for messages that cannot be written to disk; 16 MB by default. */
  readonly memory?: number;
}

interface Entry {
  readonly number: number;
  readonly bytes: number;
  /** The message, where it could not be put on disk. */
  readonly message?: Buffer;
}

/** A message, and how it is numbered. */
export interface Spooled {
  readonly producer: string;
  readonly number: number;
  readonly message: Buffer;
}

const MEMORY = 16 * 2 ** 20;

function about<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new SpoolError(`${path}: ${(error as Error).message}`);
  }
}

export class Spool {
  readonly producer: string;
  /** Producer of messages that are only in memory: its numbers cannot be stored, so a restart would use them again. */
  private readonly volatile = randomUUID();
  private volatileNext = 1;
  private memory = 0;
  /** Whether the name of the producer is not on disk yet. */
  private unnamed = false;
  private _trouble: string | null = null;
  private readonly options: SpoolOptions;
  private readonly waiting: Entry[];
  private next: number;
  private bytes = 0;
  private _lost = 0;

  /** @throws SpoolError */
  constructor(options: SpoolOptions) {
    const { folder } = options;
    this.options = options;
    about(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
    this.producer = this.text('producer') ?? this.newProducer();
    this.waiting = this.listed();
    for (const { bytes } of this.waiting) this.bytes += bytes;
    const last = this.waiting.at(-1)?.number ?? 0;
    this.next = Math.max(Number(this.text('next') ?? 1) || 1, last + 1);
  }

  /** A full disk cannot store the name: then all messages stay in memory until it can. */
  private newProducer(): string {
    const name = randomUUID();
    try {
      return this.put('producer', name);
    } catch (error) {
      if (!(error instanceof SpoolError)) throw error;
      this._trouble = error.message;
      this.unnamed = true;
      return name;
    }
  }

  /** Messages that wait. */
  get length(): number {
    return this.waiting.length;
  }

  /** Messages that were dropped for lack of room. */
  get lost(): number {
    return this._lost;
  }

  /** Why messages are kept in memory; null if they are written to disk. */
  get trouble(): string | null {
    return this._trouble;
  }

  /** Keeps a message: on disk when this returns, or in memory where that cannot be (`trouble`). */
  add(message: Uint8Array): void {
    try {
      this.store(message);
      this._trouble = null;
    } catch (error) {
      if (!(error instanceof SpoolError)) throw error;
      this._trouble = error.message;
      const entry = {
        number: this.volatileNext++,
        bytes: message.length,
        message: Buffer.from(message),
      };
      this.waiting.push(entry);
      this.memory += entry.bytes;
      this.bytes += entry.bytes;
    }
    const { most, memory = MEMORY } = this.options;
    const held = ({ message: own }: Entry) => own !== undefined;
    while (this.memory > memory && this.waiting.filter(held).length > 1) {
      this.drop(this.waiting.findIndex(held));
      this._lost++;
    }
    while (this.bytes > most && this.waiting.length > 1) {
      this.drop();
      this._lost++;
    }
  }

  /** @throws SpoolError */
  private store(message: Uint8Array): void {
    if (this.unnamed) this.put('producer', this.producer);
    this.unnamed = false;
    const number = this.next;
    // The number is reserved before the message exists, because it must never be used twice.
    this.put('next', String(number + 1));
    this.put(this.name(number), message);
    this.next = number + 1;
    this.waiting.push({ number, bytes: message.length });
    this.bytes += message.length;
  }

  /** The oldest message; null where none waits. @throws SpoolError */
  first(): Spooled | null {
    const [entry] = this.waiting;
    if (entry === undefined) return null;
    const { message, number } = entry;
    if (message !== undefined) return { producer: this.volatile, number, message };
    const path = this.path(this.name(entry.number));
    const { producer } = this;
    return { producer, number, message: about(path, () => readFileSync(path)) };
  }

  /** Removes the oldest message, which was confirmed. */
  confirm({ producer, number }: Pick<Spooled, 'producer' | 'number'>): void {
    const [first] = this.waiting;
    const own = first?.message === undefined ? this.producer : this.volatile;
    if (first?.number === number && own === producer) this.drop();
  }

  /** Messages that only this process holds. */
  get inMemory(): number {
    return this.waiting.filter(({ message }) => message !== undefined).length;
  }

  private drop(at = 0): void {
    const [entry] = this.waiting.splice(at, 1);
    this.bytes -= entry.bytes;
    if (entry.message !== undefined) {
      this.memory -= entry.bytes;
      return;
    }
    rmSync(this.path(this.name(entry.number)), { force: true });
  }

  private listed(): Entry[] {
    const { folder } = this.options;
    const entries = about(folder, () => readdirSync(folder)).flatMap((name) => {
      const number = MESSAGE.exec(name)?.[1];
      if (number === undefined) return [];
      return [{ number: Number(number), bytes: readFileSync(this.path(name)).length }];
    });
    return entries.sort((a, b) => a.number - b.number);
  }

  private name(number: number): string {
    return `${String(number).padStart(DIGITS, '0')}.msg`;
  }

  private path(name: string): string {
    return join(this.options.folder, name);
  }

  private text(name: string): string | null {
    try {
      return readFileSync(this.path(name), 'utf8').trim() || null;
    } catch {
      return null;
    }
  }

  /** Writes a file whole or not at all. */
  private put<T extends string | Uint8Array>(name: string, content: T): T {
    const path = this.path(name);
    about(path, () => {
      const file = openSync(`${path}.tmp`, 'w', 0o600);
      try {
        const bytes = Buffer.from(content);
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        fsyncSync(file);
      } catch (error) {
        // Half a file only takes room.
        rmSync(`${path}.tmp`, { force: true });
        throw error;
      } finally {
        closeSync(file);
      }
      renameSync(`${path}.tmp`, path);
    });
    return content;
  }
}
