/**
 * Kernel processes: the units of rollback. For each there is remembered, in the order of handling, what undoing
 * each of its uncommitted events needs. Rollback takes from the newest end, fossil collection from the oldest.
 *
 *     entries   8 words an event: handle, draws, core draws, outputs, undo cells, path before, flags, first output
 *     outs      1 word an event sent beyond an entry's first: see `OUT_PAST_END` and `outOf`
 *     undo      4 words a written cell: cell, low word, high word, –
 *
 * Every event has an entry; so the entries of all KPs of a PE are in one array, which V8 compiles into the hot
 * loops as a constant. Outputs beyond the first and undo cells are rarer, and each KP's own.
 */
import type { WriteLog } from '../model/struct-class.ts';
import * as layout from './kp-layout.ts';
import { reserved } from './reserved.ts';

export * from './kp-layout.ts';

const { CURRENT, E_HANDLE, E_OUTS, E_UNDO, KP_SHIFT, LENGTH, NEWEST, OLDEST } = layout;

/** Output code of a remote event: negative, from channel id and PE. */
export function outOf(channel: number, pe: number, pes: number): number {
  return -2 - (channel * pes + pe);
}

/** Words of an entry; of a chunk, whose first 8 words link it to its neighbours; entries of a chunk. */
const ENTRY = 8;
const CHUNK = 512;
const IN_CHUNK = CHUNK - 1;
const PER_CHUNK = CHUNK / ENTRY - 1;
const BEFORE = 0;
const AFTER = 1;

/**
 * The entries of all KPs of one PE: a list of chunks each. The address space for one entry per event record is
 * reserved at the start; pages are supplied as they are touched.
 */
export class KpEntries {
  /** Entries. */
  readonly E: Int32Array;
  /** State of each KP. */
  readonly K: Int32Array;
  /** First of a list of free chunks, linked by AFTER, and the first never used. */
  private free = 0;
  private top = CHUNK;

  /** @param records most events that can be uncommitted at once */
  constructor(nkp: number, records: number) {
    this.E = new Int32Array(reserved((Math.ceil(records / PER_CHUNK) + 2 * nkp + 2) * CHUNK * 4));
    this.K = new Int32Array(Math.max(64, (nkp + 1) << KP_SHIFT));
    for (let k = 0; k < nkp; k++) {
      const chunk = this.take();
      const s = (k + 1) << KP_SHIFT;
      this.K[s + NEWEST] = chunk;
      this.K[s + OLDEST] = chunk + ENTRY;
    }
  }

  private take(): number {
    const chunk = this.free;
    if (chunk === 0) {
      this.top += CHUNK;
      return this.top - CHUNK;
    }
    this.free = this.E[chunk + AFTER];
    return chunk;
  }

  private give(chunk: number): void {
    this.E[chunk + AFTER] = this.free;
    this.free = chunk;
  }

  /** A new entry of the KP with state at `s`, with no outputs and no undo cells; it becomes the current one. */
  append(s: number): number {
    const { E, K } = this;
    let at = K[s + NEWEST] + ENTRY;
    if ((at & IN_CHUNK) === 0) at = this.extend(at - CHUNK);
    K[s + NEWEST] = at;
    K[s + LENGTH]++;
    K[CURRENT] = at;
    E[at + E_OUTS] = 0;
    E[at + E_UNDO] = 0;
    return at;
  }

  /** The first entry of a new chunk after `chunk`. */
  private extend(chunk: number): number {
    const next = this.take();
    this.E[chunk + AFTER] = next;
    this.E[next + BEFORE] = chunk;
    return next + ENTRY;
  }

  /** Removes the newest entry. */
  dropNewest(s: number): void {
    const { K } = this;
    const at = K[s + NEWEST] - ENTRY;
    K[s + NEWEST] = at;
    if (--K[s + LENGTH] > 0 && (at & IN_CHUNK) === 0) {
      K[s + NEWEST] = this.E[at + BEFORE] + CHUNK - ENTRY;
      this.give(at);
    }
  }

  /** Removes the oldest entry. */
  dropOldest(s: number): void {
    const { K } = this;
    const at = K[s + OLDEST] + ENTRY;
    K[s + OLDEST] = at;
    if (--K[s + LENGTH] === 0) {
      const chunk = (at - ENTRY) & ~IN_CHUNK;
      K[s + NEWEST] = chunk;
      K[s + OLDEST] = chunk + ENTRY;
    } else if ((at & IN_CHUNK) === 0) {
      const chunk = at - CHUNK;
      K[s + OLDEST] = this.E[chunk + AFTER] + ENTRY;
      this.give(chunk);
    }
  }
}

export class Kp implements WriteLog {
  readonly number: number;
  /** Where its state is in `KpEntries.K`. */
  readonly at: number;
  outs = new Int32Array(64);
  outHead = 0;
  outTail = 0;
  undo = new Int32Array(4 * 16);
  undoHead = 0;
  undoTail = 0;
  private readonly entries: KpEntries;
  private readonly words: Int32Array;

  /** @param words the LP memory that `save` copies from */
  constructor(number: number, entries: KpEntries, words: Int32Array) {
    this.number = number;
    this.at = (number + 1) << KP_SHIFT;
    this.entries = entries;
    this.words = words;
  }

  /** Uncommitted events. */
  get length(): number {
    return this.entries.K[this.at + LENGTH];
  }

  /** Position of the newest entry. There must be one. */
  newest(): number {
    return this.entries.K[this.at + NEWEST];
  }

  /** Handle of the newest event. There must be one. */
  newestEvent(): number {
    return this.entries.E[this.newest() + E_HANDLE];
  }

  /** Remembers an output of the current event that is not its first. */
  pushOut(code: number): void {
    if (((this.outTail - this.outHead) | 0) === this.outs.length) {
      this.outs = grown(this.outs, this.outHead, this.outTail, 0);
    }
    this.outs[this.outTail & (this.outs.length - 1)] = code;
    this.outTail = (this.outTail + 1) | 0;
  }

  popOut(): number {
    this.outTail = (this.outTail - 1) | 0;
    return this.outs[this.outTail & (this.outs.length - 1)];
  }

  shiftOut(): number {
    const code = this.outs[this.outHead & (this.outs.length - 1)];
    this.outHead = (this.outHead + 1) | 0;
    return code;
  }

  /** Remembers the 8-byte cell of LP memory that is about to be written by the current event. */
  save(cell: number): void {
    const words = this.words;
    this.saveWords(cell, words[cell << 1], words[(cell << 1) + 1]);
  }

  saveWords(cell: number, low: number, high: number): void {
    const current = this.entries.K[CURRENT];
    if (current === 0) return;
    this.entries.E[current + E_UNDO]++;
    if ((this.undoTail - this.undoHead) << 2 === this.undo.length) {
      this.undo = grown(this.undo, this.undoHead, this.undoTail, 2);
    }
    const at = (this.undoTail << 2) & (this.undo.length - 1);
    this.undo[at] = cell;
    this.undo[at + 1] = low;
    this.undo[at + 2] = high;
    this.undoTail = (this.undoTail + 1) | 0;
  }

  /** Tells of each saved cell, the oldest first, and its low word. */
  saved(tell: (cell: number, low: number) => void): void {
    for (let k = this.undoHead; k !== this.undoTail; k = (k + 1) | 0) {
      const at = (k << 2) & (this.undo.length - 1);
      tell(this.undo[at], this.undo[at + 1]);
    }
  }

  /** Restores the newest saved cell, into `words`; or, for a negative cell, into `spares` at ~cell. */
  restore(words: Int32Array, spares: Int32Array | null): void {
    this.undoTail = (this.undoTail - 1) | 0;
    const at = (this.undoTail << 2) & (this.undo.length - 1);
    const cell = this.undo[at];
    const target = cell < 0 ? (spares as Int32Array) : words;
    const to = (cell < 0 ? ~cell : cell) << 1;
    target[to] = this.undo[at + 1];
    target[to + 1] = this.undo[at + 2];
  }
}

/** A ring of twice the size; counters keep their values, slots move. */
function grown(old: Int32Array<ArrayBuffer>, head: number, tail: number, shift: number) {
  const ring = new Int32Array(old.length * 2);
  for (let k = head; k !== tail; k = (k + 1) | 0) {
    const from = (k << shift) & (old.length - 1);
    const to = (k << shift) & (ring.length - 1);
    for (let w = 0; w < 1 << shift; w++) ring[to + w] = old[from + w];
  }
  return ring;
}
