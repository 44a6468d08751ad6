/** Whether a raw stats file can take the records of this run: a schema never changes inside a file. */
import { readSync } from 'node:fs';

/** The header that this run would write, and which parts of it must agree with an existing file. */
export interface LogHead {
  /** The header's bytes, with properties and schemas. */
  readonly bytes: Uint8Array;
  /** The header of a new file, if it is to list more types than this run collects. */
  readonly whole?: () => Uint8Array;
  /** When the machine was started, in seconds since 1970; null if that does not matter (recorded trees). */
  readonly started: number | null;
}

/** The property that names the daemon whose totals a file has. */
export const TOTALS = 'totals';

/** Seconds by which the clock may have been set without a restart of the machine. */
const STEP_SECONDS = 120;
const FIRST_BYTES = 16 * 1024;
const MOST_BYTES = 16 * 1024 * 1024;

/** The text before the first record group; null if it does not end within a reasonable length. */
export function headText(file: number): string | null {
  for (let size = FIRST_BYTES; size <= MOST_BYTES; size *= 4) {
    const buffer = Buffer.allocUnsafe(size);
    const length = readSync(file, buffer, 0, size, 0);
    const end = buffer.subarray(0, length).indexOf('\n\n');
    if (end >= 0) return buffer.toString('utf8', 0, end + 1);
    if (length < size) return buffer.toString('utf8', 0, length);
  }
  return null;
}

/** `$name value` of a header. */
export function propertyOf(text: string, name: string): string | null {
  const line = text.split('\n').find((each) => each.startsWith(`$${name} `));
  return line === undefined ? null : line.slice(name.length + 2);
}

/** The schema line's type: `!cpu user,E …` gives `cpu`. */
const typeOf = (line: string) => line.slice(1).split(' ', 1)[0];

/**
 * Why the file with the header `text`, named after the second `begun`, cannot take these records; null if it can. It
 * may have more types than this run.
 */
export function refusal(text: string, begun: number, head: LogHead): string | null {
  const ours = Buffer.from(head.bytes).toString('utf8');
  const [program] = ours.split('\n', 1);
  if (!text.startsWith(`${program}\n`)) return 'another program or version wrote it';
  if (propertyOf(text, 'hostname') !== propertyOf(ours, 'hostname')) return 'it is of another host';
  const totals = propertyOf(ours, TOTALS);
  if (totals !== null && totals !== propertyOf(text, TOTALS))
    return 'its totals are of another run';
  const theirs = new Map<string, string>();
  for (const line of text.split('\n')) if (line.startsWith('!')) theirs.set(typeOf(line), line);
  for (const line of ours.split('\n')) {
    if (!line.startsWith('!')) continue;
    const type = typeOf(line);
    if (!theirs.has(type)) return `it has no type ${type}`;
    if (theirs.get(type) !== line) return `its type ${type} has other keys`;
  }
  if (head.started === null) return null;
  const started = begun - Number(propertyOf(text, 'uptime'));
  return Math.abs(started - head.started) > STEP_SECONDS
    ? 'the machine has been started since'
    : null;
}
