/**
 * Messages into an archive, exactly once:
 *
 * ```
 * ARCHIVE/HOST/1307509201   raw stats: a header, then the groups of messages
 *              current      hard link to the file that grows
 * ARCHIVE/.received/HOST    the last message appended, so that a repeated message is recognised
 *         .rejected.jsonl   messages that cannot be filed
 * ```
 *
 * A message is noted, then appended, then made durable; only then may it be acknowledged. After a crash the note gives
 * the file's length before and after: a partial message is cut off, and will be delivered again.
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
import { DeadLetters } from './dead-letters.ts';
import { checkLeap, factsIn, RejectedMessageError, type Stamp } from './message.ts';

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

const NOTES = '.received';
const CURRENT = 'current';
/** No host's name begins with a dot. */
const DRAFT = '.new';
const DEAD_LETTERS = '.rejected.jsonl';
/** Number of producers of a host whose last numbers are kept: each new spool is a new producer. */
const PRODUCERS = 256;

function withStamp(numbers: Note['numbers'], stamp: Stamp | null): Note['numbers'] {
  if (stamp === null) return numbers;
  const others = Object.entries(numbers).filter(([producer]) => producer !== stamp.producer);
  // The newest last. `fromEntries` makes own properties, whatever their names.
  return Object.fromEntries([...others.slice(1 - PRODUCERS), [stamp.producer, stamp.number]]);
}

const lastOf = (numbers: Note['numbers'] | undefined, { producer }: Stamp) =>
  numbers !== undefined && Object.hasOwn(numbers, producer) ? numbers[producer] : 0;

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

function isNote(value: unknown): value is Note {
  const { file, before, bytes, numbers, stamp } = (value ?? {}) as Partial<Note>;
  return (
    typeof file === 'string' &&
    /^\d+$/.test(file) &&
    isCount(before) &&
    isCount(bytes) &&
    typeof numbers === 'object' &&
    numbers !== null &&
    Object.values(numbers).every(isCount) &&
    (stamp === null || (typeof stamp?.producer === 'string' && isCount(stamp.number)))
  );
}

export class ArchiveWriter {
  private readonly folder: string;
  private readonly open = new Map<string, Open>();
  /** Messages that could not be filed. */
  readonly rejected: DeadLetters;

  private readonly ended: (path: string) => void;

  /**
   * @param ended receives the paths (in the archive) of files to which nothing more is appended
   * @throws the file system's error
   */
  constructor(folder: string, ended: (path: string) => void = () => {}) {
    this.folder = folder;
    this.ended = ended;
    mkdirSync(join(folder, NOTES), { recursive: true });
    this.rejected = new DeadLetters(join(folder, NOTES, DEAD_LETTERS));
  }

  /**
   * Appends a message and makes it durable. Returns false if it is in the archive already.
   * @throws RejectedMessageError if it is not a record group; the file system's error, after which it may be tried again
   */
  append(message: Uint8Array, stamp: Stamp | null): boolean {
    const { host, header, second } = factsIn(message);
    let open = this.open.get(host) ?? this.recover(host);
    if (stamp !== null) {
      const last = lastOf(open?.numbers, stamp);
      if (stamp.number <= last) return false;
      checkLeap(stamp, last);
    }
    if (header || open === null) open = this.begin(host, open, second);
    const { numbers, size: before } = open;
    this.note(host, { file: open.name, before, bytes: message.length, numbers, stamp });
    try {
      for (let at = 0; at < message.length; ) {
        at += writeSync(open.file, message, at, message.length - at, open.size + at);
      }
      fsyncSync(open.file);
    } catch (error) {
      // The part that was written is removed together with the note: the message will be delivered again.
      ftruncateSync(open.file, before);
      this.note(host, { file: open.name, before, bytes: 0, numbers, stamp: null });
      throw error;
    }
    open.size += message.length;
    open.numbers = withStamp(numbers, stamp);
    return true;
  }

  close(): void {
    for (const { file } of this.open.values()) closeSync(file);
    this.open.clear();
  }

  private path(host: string, name: string): string {
    return join(this.folder, host, name);
  }

  private note(host: string, note: Note): void {
    const draft = join(this.folder, NOTES, DRAFT);
    const file = openSync(draft, 'w');
    try {
      // All at once: half a note would be useless.
      writeFileSync(file, JSON.stringify(note));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, join(this.folder, NOTES, host));
  }

  /** Continues a host's file from an earlier service; null if there is none. */
  private recover(host: string): Open | null {
    let note: unknown;
    try {
      note = JSON.parse(readFileSync(join(this.folder, NOTES, host), 'utf8'));
    } catch {
      return null;
    }
    if (!isNote(note)) return null;
    const path = this.path(host, note.file);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    const all = withStamp(note.numbers, note.stamp);
    // A file that was moved away, for example to be compressed, was complete.
    if (size === undefined) return this.keep(host, all, this.newFile(host, null));
    const whole = size >= note.before + note.bytes;
    const file = openSync(path, 'r+');
    if (!whole) ftruncateSync(file, Math.min(size, note.before));
    return this.keep(host, whole ? all : note.numbers, { file, name: note.file });
  }

  private keep(host: string, numbers: Open['numbers'], { file, name }: NamedFile): Open {
    const open = { file, name, numbers, size: fstatSync(file).size };
    this.open.set(host, open);
    return open;
  }

  /** Begins a file of a host. */
  private begin(host: string, before: Open | null, second: number | null): Open {
    if (before !== null) closeSync(before.file);
    const made = this.newFile(host, second);
    if (before !== null) this.ended(join(host, before.name));
    const open = { ...made, numbers: before?.numbers ?? {}, size: 0 };
    this.open.set(host, open);
    return open;
  }

  /** A new file, named by the second of its first group, or the next that is free; `current` is its other name. */
  private newFile(host: string, second: number | null): NamedFile {
    const folder = join(this.folder, host);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
      throw new RejectedMessageError(`the archive contains a file, not a folder, called ${host}`);
    }
    mkdirSync(folder, { recursive: true });
    for (let name = second ?? Math.floor(Date.now() / 1000); ; name++) {
      const path = this.path(host, String(name));
      if (statSync(`${path}.gz`, { throwIfNoEntry: false }) !== undefined) continue;
      try {
        // An empty one was made by a service that was stopped before it wrote.
        const empty = statSync(path, { throwIfNoEntry: false })?.size === 0;
        const file = openSync(path, empty ? 'r+' : 'wx+', 0o644);
        const current = this.path(host, CURRENT);
        rmSync(current, { force: true });
        linkSync(path, current);
        return { file, name: String(name) };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }
}
