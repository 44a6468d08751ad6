/** Files with damage, and the rule that it must obey: what lies before it is read as if there were none. */
import {
  bytesSource,
  FormatError,
  type RecordBlock,
  ROSS,
  type ScanOptions,
  scanRecords,
} from 'triscope/formats';

/** What was read: a line of text for each record, and the byte at which each begins. */
export interface Reading {
  readonly lines: readonly string[];
  readonly offsets: readonly number[];
  /** The error's one line; null where there was none. */
  readonly fault: string | null;
}

export type Beside = Readonly<Record<string, string>>;

/** Reads bytes as a file of this name. Any error but a format's is thrown. */
export function readingOf(
  name: string,
  bytes: Uint8Array,
  beside: Beside = {},
  options: ScanOptions = {},
): Reading {
  const lines: string[] = [];
  const offsets: number[] = [];
  const visitor = {
    records(block: RecordBlock) {
      for (let k = 0; k < block.length; k++) {
        const { name: kind, keys } = block.kind(k);
        lines.push(`${kind} ${keys.map((_, n) => String(block.cell(k, n))).join(' ')}`);
        offsets.push(block.offset(k));
      }
      return undefined;
    },
  };
  try {
    scanRecords(ROSS, bytesSource(name, bytes, beside), visitor, options);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { lines, offsets, fault: error.message };
  }
  return { lines, offsets, fault: null };
}

/** Rows of a whole reading that lie before a byte. Several may begin at one: a PE's, and its KPs' in the same record. */
export function before({ offsets }: Reading, byte: number, size: number): number {
  let count = 0;
  for (let k = 0; k < offsets.length; k++) {
    const end = offsets.find((offset, n) => n > k && offset > offsets[k]) ?? size;
    if (end > byte) break;
    count = k + 1;
  }
  return count;
}

/**
 * What is wrong with how damage was read; '' for nothing. Damage at `byte`, the file cut to `size` bytes or not.
 * Records before it are as they were, or there is an error and fewer of them.
 */
export function violation(whole: Reading, bad: Reading, byte: number, size: number): string {
  const untouched = before(whole, byte, size);
  for (let k = 0; k < Math.min(untouched, bad.lines.length); k++) {
    if (bad.lines[k] !== whole.lines[k]) {
      return `record ${k} of ${untouched} before the damage: ${bad.lines[k]} for ${whole.lines[k]}`;
    }
  }
  if (bad.fault !== null) return '';
  if (bad.lines.length < untouched) {
    return `${bad.lines.length} records of ${untouched} before the damage, and no error`;
  }
  return '';
}
