/**
 * Messages into an archive, exactly once:
 *
 * ```
 * ARCHIVE/HOST/1307509201   raw stats: a header, then the groups of messages
 *              current      hard link to the file that grows
 * ARCHIVE/.received/HOST    what was last appended, so that a message that comes again is known
 * ```
 *
 * A message is noted, then appended, then made durable; only then may it be acknowledged. After a crash the note says
 * how long the file was and would be: what is there only in part is cut off again, and will be delivered anew.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** A message that cannot be filed. */
export class RejectedMessageError extends Error {
  override readonly name = 'RejectedMessageError';
}

/** How a message is numbered by who sent it. */
export interface Stamp {
  readonly producer: string;
  readonly number: number;
}

interface Note {
  /** Name of the file, in the host's folder. */
  readonly file: string;
  /** Bytes before the last message, and of it. */
  readonly before: number;
  readonly bytes: number;
  /** Last number, by producer, without this message: the messages up to it are in the archive. */
  readonly numbers: Readonly<Record<string, number>>;
  readonly stamp: Stamp | null;
}

interface NamedFile {
  /** Descriptor. */
  readonly file: number;
  readonly name: string;
}

interface Open extends NamedFile {
  numbers: Readonly<Record<string, number>>;
  size: number;
}

const withStamp = (numbers: Note['numbers'], stamp: Stamp | null): Note['numbers'] =>
  stamp === null ? numbers : { ...numbers, [stamp.producer]: stamp.number };

const NOTES = '.received';
const CURRENT = 'current';
const HOST = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Facts in a message's text: raw stats of either era. @throws RejectedMessageError */
export function factsIn(message: Uint8Array): {
  host: string;
  second: number | null;
  header: boolean;
} {
  let text: string;
  try {
    text = decoder.decode(message);
  } catch {
    throw new RejectedMessageError('it is no UTF-8');
  }
  const header = text.startsWith('$');
  const named = header ? /^\$hostname (\S+)$/m.exec(text) : null;
  const group = /^(\d+)(?:\.\d+)?(?: +(\S+))?(?: +(\S+))?\s*$/m.exec(text);
  const host = named?.[1] ?? group?.[3];
  if (host === undefined) throw new RejectedMessageError('it does not say of which host it is');
  if (!HOST.test(host))
    throw new RejectedMessageError(`${JSON.stringify(host)} is no name of a host`);
  return { host, header, second: group === null ? null : Number(group[1]) };
}

export class Archive {
  readonly #folder: string;
  readonly #open = new Map<string, Open>();
  #rejected = 0;

  /** @throws the file system's error */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(join(folder, NOTES), { recursive: true });
  }

  /**
   * Appends a message and makes it durable. Returns false for one that is there already.
   * @throws RejectedMessageError for what is no record group; the file system's error, after which it may be tried again
   */
  append(message: Uint8Array, stamp: Stamp | null): boolean {
    const { host, header, second } = factsIn(message);
    let open = this.#open.get(host) ?? this.#recover(host);
    if (stamp !== null && stamp.number <= (open?.numbers[stamp.producer] ?? 0)) return false;
    if (header || open === null) open = this.#begin(host, open, second);
    const { numbers, size: before } = open;
    this.#note(host, { file: open.name, before, bytes: message.length, numbers, stamp });
    try {
      for (let at = 0; at < message.length; ) {
        at += writeSync(open.file, message, at, message.length - at, open.size + at);
      }
      fsyncSync(open.file);
    } catch (error) {
      // What was written in part goes, and the note with it: the message will come again.
      ftruncateSync(open.file, before);
      this.#note(host, { file: open.name, before, bytes: 0, numbers, stamp: null });
      throw error;
    }
    open.size += message.length;
    open.numbers = withStamp(numbers, stamp);
    return true;
  }

  /** Puts by a message that cannot be filed. Returns its file. */
  reject(message: Uint8Array): string {
    const folder = join(this.#folder, NOTES, 'rejected');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${Date.now()}-${process.pid}-${this.#rejected++}`);
    writeFileSync(file, message);
    return file;
  }

  close(): void {
    for (const { file } of this.#open.values()) closeSync(file);
    this.#open.clear();
  }

  #path(host: string, name: string): string {
    return join(this.#folder, host, name);
  }

  #note(host: string, note: Note): void {
    const path = join(this.#folder, NOTES, host);
    const file = openSync(`${path}.tmp`, 'w');
    try {
      writeSync(file, JSON.stringify(note));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(`${path}.tmp`, path);
  }

  /** Goes on with a host's file where an earlier service ended; null where there is none. */
  #recover(host: string): Open | null {
    let note: Note;
    try {
      note = JSON.parse(readFileSync(join(this.#folder, NOTES, host), 'utf8')) as Note;
    } catch {
      return null;
    }
    const path = this.#path(host, note.file);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    const all = withStamp(note.numbers, note.stamp);
    // A file that was moved away, as when it was compressed, was whole.
    if (size === undefined) return this.#keep(host, all, this.#newFile(host, null));
    const whole = size >= note.before + note.bytes;
    const file = openSync(path, 'r+');
    if (!whole) ftruncateSync(file, Math.min(size, note.before));
    return this.#keep(host, whole ? all : note.numbers, { file, name: note.file });
  }

  #keep(host: string, numbers: Open['numbers'], { file, name }: NamedFile): Open {
    const open = { file, name, numbers, size: fstatSync(file).size };
    this.#open.set(host, open);
    return open;
  }

  /** Begins a file of a host. */
  #begin(host: string, before: Open | null, second: number | null): Open {
    if (before !== null) closeSync(before.file);
    const made = this.#newFile(host, second);
    const open = { ...made, numbers: before?.numbers ?? {}, size: 0 };
    this.#open.set(host, open);
    return open;
  }

  /** A new file, named by the second of its first group, or the next that is free; `current` is its other name. */
  #newFile(host: string, second: number | null): NamedFile {
    mkdirSync(join(this.#folder, host), { recursive: true });
    for (let name = second ?? Math.floor(Date.now() / 1000); ; name++) {
      const path = this.#path(host, String(name));
      if (statSync(`${path}.gz`, { throwIfNoEntry: false }) !== undefined) continue;
      try {
        // An empty one was made by a service that was stopped before it wrote.
        const empty = statSync(path, { throwIfNoEntry: false })?.size === 0;
        const file = openSync(path, empty ? 'r+' : 'wx+', 0o644);
        const current = this.#path(host, CURRENT);
        rmSync(current, { force: true });
        linkSync(path, current);
        return { file, name: String(name) };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }
}
