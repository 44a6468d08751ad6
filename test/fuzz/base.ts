/** An undamaged file, and where each of its records is complete. */
import { readRecords, sourceOf } from './reading.ts';

export interface Base {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly text: boolean;
  /** What lies beside it, by name. */
  readonly beside: Readonly<Record<string, Uint8Array | string>>;
  readonly records: readonly string[];
  /** By record: the byte behind its last one. Damage from there on must not change it. */
  readonly ends: readonly number[];
  /** Only the beginning of the next record ends one: where that is damaged, a record may get more keys. */
  readonly open: boolean;
  /** Where records end: each place once. */
  readonly places: readonly number[];
  /** Makes checksums right again, so that damage behind them is seen. */
  readonly mend?: (bytes: Uint8Array) => void;
}

type Ends = (bytes: Uint8Array, places: readonly number[], records: readonly string[]) => number[];

const NEWLINE = 0x0a;

/** Records whose block tells the byte at which each begins. */
export const byOffset: Ends = ({ length }, places) =>
  places.map((place, k) => {
    for (let next = k + 1; next < places.length; next++) {
      if (places[next] > place) return places[next];
    }
    return length;
  });

/** Rows of a text: what has no line feed behind it may go on. */
export const byRow: Ends = (bytes, places, records) =>
  byOffset(bytes, places, records).map((end) =>
    end === bytes.length && bytes.at(-1) !== NEWLINE ? end + 1 : end,
  );

/** Records of 2017: those of KPs and LPs are parts of the PE's before them, which is whole or is none. */
export const byPoint: Ends = ({ length }, places, records) =>
  places.map((_, k) => {
    for (let next = k + 1; next < places.length; next++) {
      if (!/^[kl]p\t/.test(records[next])) return places[next];
    }
    return length;
  });

/** Places at which lines end. */
export function lineEnds(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1))
    ends.push(at + 1);
  return ends;
}

/** Records whose block tells the line; one without values ends with the group behind it. */
export const byLine: Ends = (bytes, places, records) => {
  const ends = lineEnds(bytes);
  return places.map((line, k) => {
    if (!records[k].startsWith('group\t')) return ends[line - 1] ?? bytes.length;
    const next = places[k + 1];
    return next === undefined ? bytes.length : (ends[next - 1] ?? bytes.length);
  });
};

/** Texts that are read whole: a record is complete where it is read the same however much of the file follows. */
export function byCutting(name: string): Ends {
  return (bytes, _places, records) => {
    const ends = lineEnds(bytes);
    const complete = records.map(() => bytes.length);
    for (let k = ends.length - 1; k >= 0; k--) {
      const read = readRecords(sourceOf(name, bytes.subarray(0, ends[k]), {}), true);
      records.forEach((record, n) => {
        const next = ends[k + 1] ?? bytes.length;
        if (complete[n] === next && read.records[n] === record) complete[n] = ends[k];
      });
    }
    return complete;
  };
}

export interface BaseOptions {
  readonly text: boolean;
  readonly ends: Ends;
  readonly beside?: Readonly<Record<string, Uint8Array | string>>;
  readonly open?: boolean;
  readonly mend?: Base['mend'];
  /** Longer files are cut where a record ends. */
  readonly most?: number;
}

/** @throws Error for a file that is not read whole: nothing can be said of damage to it */
export function baseOf(name: string, given: Uint8Array, options: BaseOptions): Base {
  const { text, ends, beside = {}, open = false, mend, most = 4096 } = options;
  const read = (bytes: Uint8Array) => {
    const found = readRecords(sourceOf(name, bytes, beside), false);
    if (found.fault !== null) throw new Error(`${name} is no whole file: ${found.fault.message}`);
    return { ...found, ends: ends(bytes, found.places, found.records) };
  };
  // No Buffer, whose slice() is no copy.
  let bytes = new Uint8Array(given);
  let whole = read(bytes);
  if (bytes.length > most) {
    const short = [...new Set(whole.ends)].filter((end) => end <= most).at(-1) ?? bytes.length;
    bytes = bytes.subarray(0, short);
    whole = read(bytes);
  }
  const places = [...new Set(whole.ends)].filter((end) => end < bytes.length).sort((a, b) => a - b);
  const { records } = whole;
  return {
    name,
    bytes,
    text,
    beside,
    open,
    records,
    ends: whole.ends,
    places,
    ...(mend && { mend }),
  };
}
