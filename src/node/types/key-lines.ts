/**
 * Lines with a key and a number, `pgfault 12` or `Node 0 MemFree: 12 kB`. The kernel writes them in the same order each
 * time, and mostly at the same bytes. So keys are first looked for where they were before; the whole text is searched only if
 * its length has changed or a key has moved.
 */
import { KeyTable, type KeyValues } from './key-values.ts';
import { Scanner } from './scan.ts';

const COLON = 0x3a;
const BLANK = 0x20;

export class KeyLines {
  private readonly table: KeyTable;
  private readonly keys: readonly Buffer[];
  private readonly before: number;
  private readonly scanner = new Scanner();
  /** Where each key was last; -1 if it was missing. */
  private readonly places: Int32Array;
  /** Length of the text in which they were found. */
  private length = -1;

  /** `before`: number of words before the key in each line. The key may end in a colon. */
  constructor(keys: readonly string[], before: number) {
    this.table = new KeyTable(keys);
    this.keys = keys.map((key) => Buffer.from(key, 'latin1'));
    this.before = before;
    this.places = new Int32Array(keys.length).fill(-1);
  }

  /** Sets the values of the keys found in `bytes[0, end)`. Returns how many there are. */
  find(bytes: Buffer, end: number, values: KeyValues): number {
    values.clear();
    const known = end === this.length ? this.again(bytes, end, values) : 0;
    return known > 0 ? known : this.search(bytes, end, values);
  }

  /** Looks where the keys were before. Returns 0 if one is no longer there. */
  private again(bytes: Buffer, end: number, values: KeyValues): number {
    let found = 0;
    for (let k = 0; k < this.keys.length; k++) {
      const place = this.places[k];
      if (place < 0) continue;
      const key = this.keys[k];
      // A blank, or the end of the line before, precedes a key.
      if (place + key.length >= end || (place > 0 && bytes[place - 1] > BLANK)) return 0;
      for (let i = 0; i < key.length; i++) if (bytes[place + i] !== key[i]) return 0;
      const after = place + key.length + (bytes[place + key.length] === COLON ? 1 : 0);
      if (bytes[after] !== BLANK) return 0;
      const scanner = this.scanner.over(bytes, end, after);
      if (scanner.word() && values.set(k, bytes, scanner.from, scanner.to)) found++;
    }
    return found;
  }

  private search(bytes: Buffer, end: number, values: KeyValues): number {
    values.clear();
    this.places.fill(-1);
    const scanner = this.scanner.over(bytes, end);
    let found = 0;
    do {
      if (!scanner.wordAfter(this.before)) continue;
      const place = scanner.from;
      const isClosed = bytes[scanner.to - 1] === COLON;
      const key = this.table.find(bytes, place, scanner.to - (isClosed ? 1 : 0));
      if (key < 0 || !scanner.word()) continue;
      if (!values.set(key, bytes, scanner.from, scanner.to)) continue;
      this.places[key] = place;
      found++;
    } while (scanner.line());
    this.length = end;
    return found;
  }
}
