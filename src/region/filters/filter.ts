/**
 * Record filters look at a process's entries into regions, and derive epochs that nobody marked. Epochs that were
 * marked are then dropped. Source: geopmlaunch(1), --geopm-record-filter.
 */
import { EXIT, TriscopeError } from '../../model/error.ts';
import { numberText } from './number-text.ts';

/** Finds epochs in one process's entries. */
export interface EpochFinder {
  /** Receives each entry, in order. Returns the epoch's number, from 1, if one begins with it, else 0. */
  entry(hash: number): number;
}

/** A filter with its settings: makes a finder for each process. */
export type RecordFilter = () => EpochFinder;

/** A filter's text is not valid. The message names the remedy. */
export class RecordFilterError extends TriscopeError {
  override readonly name = 'RecordFilterError';
  override readonly exitCode = EXIT.usage;
}

/** A setting of a filter. */
export interface FilterSetting {
  readonly name: string;
  readonly value: number;
  /** Whole numbers only. */
  readonly whole?: boolean;
  readonly least: number;
  readonly most?: number;
}

/** Settings after the filter's name, in their order; absent ones keep their values. @throws RecordFilterError */
export function settingsFrom(
  filter: string,
  given: readonly string[],
  settings: readonly FilterSetting[],
): number[] {
  if (given.length > settings.length) {
    const names = settings.map(({ name }) => name).join(',');
    throw new RecordFilterError(`${filter} takes at most ${settings.length} settings: ${names}`);
  }
  return settings.map(({ name, value, whole, least, most = Infinity }, k) => {
    const text = given[k];
    if (text === undefined || text === '') return value;
    const number = numberText(text);
    if (
      number === null ||
      number < least ||
      number > most ||
      (whole && !Number.isInteger(number))
    ) {
      const kind = whole ? 'a whole number' : 'a number';
      const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
      throw new RecordFilterError(`${filter}: ${name} is ${text}; it must be ${kind} ${range}`);
    }
    return number;
  });
}
