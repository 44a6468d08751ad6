/**
 * A kernel process: the unit of rollback. It remembers, in the order of handling, what undoing each of its
 * uncommitted events needs. Three growable rings of words; rollback takes from their tails, fossil
 * collection from their heads:
 *
 *     entries   8 words an event: handle, draws, core draws, outputs, undo cells, path before, flags, –
 *     outs      1 word an event sent: see `OUT_PAST_END` and `outOf`
 *     undo      4 words a written cell: cell, low word, high word, –
 */
import type { WriteLog } from '../model/struct-class.ts';

export const E_HANDLE = 0;
export const E_DRAWS = 1;
export const E_CORE_DRAWS = 2;
export const E_OUTS = 3;
export const E_UNDO = 4;
export const E_PATH = 5;
export const E_FLAGS = 6;

/** Entry flag: the LP was suspended, so the handler did not run. */
export const SKIPPED = 1;
/** Entry flag: a handler with its own `reverse` threw half-way, so the entry cannot be undone. */
export const BROKEN = 2;

/** Output code of an event that was not created because it lies past the end; local ones are handles. */
export const OUT_PAST_END = -1;

/** Output code of a remote event: negative, from channel id and PE. */
export function outOf(channel: number, pe: number, pes: number): number {
  return -2 - (channel * pes + pe);
}

export class Kp implements WriteLog {
  readonly number: number;
  entries = new Int32Array(8 * 64);
  head = 0;
  tail = 0;
  outs = new Int32Array(64);
  outHead = 0;
  outTail = 0;
  undo = new Int32Array(4 * 16);
  undoHead = 0;
  undoTail = 0;
  private readonly words: Int32Array;

  /** @param words the LP memory that `save` copies from */
  constructor(number: number, words: Int32Array) {
    this.number = number;
    this.words = words;
  }

  /** Uncommitted events. */
  get length(): number {
    return (this.tail - this.head) | 0;
  }

  /** Index of the first word of the newest entry. */
  newest(): number {
    return ((this.tail - 1) << 3) & (this.entries.length - 1);
  }

  oldest(): number {
    return (this.head << 3) & (this.entries.length - 1);
  }

  /** Index of the first word of a new entry. */
  append(): number {
    if ((this.tail - this.head) << 3 === this.entries.length) {
      this.entries = grown(this.entries, this.head, this.tail, 3);
    }
    const at = (this.tail << 3) & (this.entries.length - 1);
    this.tail = (this.tail + 1) | 0;
    return at;
  }

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

  /** Remembers the 8-byte cell of LP memory that is about to be written. */
  save(cell: number): void {
    const words = this.words;
    this.saveWords(cell, words[cell << 1], words[(cell << 1) + 1]);
  }

  saveWords(cell: number, low: number, high: number): void {
    if ((this.undoTail - this.undoHead) << 2 === this.undo.length) {
      this.undo = grown(this.undo, this.undoHead, this.undoTail, 2);
    }
    const at = (this.undoTail << 2) & (this.undo.length - 1);
    this.undo[at] = cell;
    this.undo[at + 1] = low;
    this.undo[at + 2] = high;
    this.undoTail = (this.undoTail + 1) | 0;
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
