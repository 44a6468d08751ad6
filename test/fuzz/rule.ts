/**
 * What must hold of a damaged file, whatever the damage:
 *
 * - no error but a FormatError of one line, whose message shows no control character but tabs;
 * - the prefix rule: the records that were complete before the first damaged byte are read as they were, all of them, or the file is
 *   refused as a whole;
 * - bounded time.
 */
import { readFileSync } from 'node:fs';
import type { Base } from './base.ts';
import type { Damaged } from './mutate.ts';
import type { Random } from './random.ts';
import { countRows, readInfo, readRecords, sourceOf } from './reading.ts';

/** How a damaged file was taken. */
export type Verdict =
  /** Every record as before: the damage was in what nobody reads, or there was none. */
  | 'same'
  /** Read as far as it goes, and the damage told. */
  | 'told'
  /** Refused, with one line. */
  | 'refused'
  /** Other records, none of them before the damage, and no word of it: damage that looks like data. */
  | 'other';

export class RuleError extends Error {}

/** A case may take so many milliseconds of CPU on a busy machine. */
const MOST_MS = 5000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are meant.
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;

/** @throws RuleError for what is no line that can be shown */
export function checkLine(text: string): void {
  if (CONTROLS.test(text))
    throw new RuleError(`a message that is not one line of text: ${JSON.stringify(text)}`);
}

/** Ms of this thread's CPU. */
function ownMs(work: () => void): number {
  const nanoseconds = () =>
    Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]);
  const began = nanoseconds();
  work();
  return (nanoseconds() - began) / 1e6;
}

/** Reads a damaged file in the ways there are. @throws RuleError where a rule is broken; anything else is a crash */
export function judge(base: Base, { bytes, first }: Damaged, random: Random): Verdict {
  const source = () => sourceOf(base.name, bytes, base.beside);
  const salvage = random.below(2) === 0;
  // Each case's records, and one of the other ways to read it.
  const also = random.below(3);
  const readAll = () => {
    const read = readRecords(source(), salvage);
    if (also === 1) countRows(source());
    return { read, info: also === 0 ? readInfo(source()) : null };
  };
  const began = performance.now();
  const { read, info } = readAll();
  // The machine does other things meanwhile.
  if (performance.now() - began > MOST_MS) {
    const ms = ownMs(readAll);
    if (ms > MOST_MS) throw new RuleError(`took ${ms.toFixed(0)} ms of CPU`);
  }

  if (read.fault !== null) checkLine(read.fault.message);
  for (const { what } of read.damages) checkLine(what);
  for (const { what } of info?.suspect ?? []) checkLine(what);
  if (read.fault !== null && read.records.length === 0) return 'refused';
  base.records.forEach((record, k) => {
    const text = read.records[k];
    if (base.ends[k] > first || text === record) return;
    if (base.open && text?.startsWith(`${record}\t`)) return;
    const found = text === undefined ? 'missing' : `«${text}»`;
    throw new RuleError(
      `record ${k}, complete at byte ${base.ends[k]} before the damage at ${first}, is ${found} in the place of «${record}»`,
    );
  });
  if (read.fault !== null || read.damages.length > 0) return 'told';
  const same =
    read.records.length === base.records.length &&
    read.records.every((record, k) => record === base.records[k]);
  return same ? 'same' : 'other';
}
