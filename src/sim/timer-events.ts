/**
 * Events of timers, as engines see them. In a model with timers each event's record ends with a tag:
 *
 *     words   place of the timer in its LP's state, plus 1 (0: an event of no timer) · generation that armed it
 *
 * An event is cancelled where its timer is of another generation: it is dropped when it is taken, in its place in the order,
 * so that it can come back where what cancelled it is undone.
 */
import type { WriteLog } from '../model/cells.ts';
import type { EventPool } from './event.ts';
import type { Kp } from './kp.ts';
import * as layout from './layout.ts';

const { ALIGN, DEST, LP_STATE, PAYLOAD } = layout;

/** Cancelled events that are waited for rather than looked for. */
const FEW = 1024;

export class TimerEvents {
  /** Word of the tag, from an event's first. */
  readonly tag: number;
  private readonly pool: EventPool;
  private readonly I: Int32Array;
  private readonly words: Int32Array;
  private readonly blockSize: number;
  /** Events cancelled since they were looked for, less those that were dropped: about how many are pending. */
  private cancelled = 0;

  /**
   * @param messageBytes bytes of the model's messages, before the tag
   * @param words the LPs' memory
   * @param blockSize doubles of an LP's block
   */
  constructor(pool: EventPool, messageBytes: number, words: Int32Array, blockSize: number) {
    this.pool = pool;
    this.I = pool.I;
    this.tag = (PAYLOAD << 1) + messageBytes / 4;
    this.words = words;
    this.blockSize = blockSize;
  }

  /** Event `h` is of the timer at `place` in its LP's state. */
  mark(h: number, place: number, generation: number): void {
    const i = (h << 1) + this.tag;
    this.I[i] = place + 1;
    this.I[i + 1] = generation;
  }

  private cellOf(h: number, index: number): number {
    return index * this.blockSize + ALIGN + LP_STATE + this.I[(h << 1) + this.tag] - 1;
  }

  /** Whether event `h`, of the LP at `index`, is cancelled as far as the LP's state tells. */
  isCancelled(h: number, index: number): boolean {
    const i = (h << 1) + this.tag;
    return this.I[i] !== 0 && this.words[this.cellOf(h, index) << 1] !== this.I[i + 1];
  }

  /** Event `h`, not cancelled, is about to be handled: its timer, if it has one, is no longer pending. */
  fire(h: number, index: number, log: WriteLog | null): void {
    if (this.I[(h << 1) + this.tag] === 0) return;
    const cell = this.cellOf(h, index);
    if (log !== null) log.save(cell);
    this.words[cell << 1]++;
  }

  /** An event has been cancelled, for the time being. */
  add(): void {
    this.cancelled++;
  }

  /** A cancelled event has been dropped. */
  drop(): void {
    if (this.cancelled > 0) this.cancelled--;
  }

  /** Whether cancelled events may be more than half of what is pending: then it pays to look for them. */
  isCrowded(): boolean {
    return this.cancelled > FEW && 2 * this.cancelled > this.pool.live;
  }

  /**
   * Tells which pending events are cancelled for good, by committed events.
   * @param kps what they remember leads from the states as they are to those that are committed
   */
  forGood(kps: readonly Kp[]): (h: number) => boolean {
    this.cancelled = 0;
    const { I, tag } = this;
    const committed = new Map<number, number>();
    for (const kp of kps) kp.saved((cell, low) => committed.has(cell) || committed.set(cell, low));
    return (h) => {
      const i = (h << 1) + tag;
      if (I[i] === 0) return false;
      const cell = this.cellOf(h, I[(h << 1) + DEST]);
      // Generations only go up: one that is before the committed one does not come back.
      const now = committed.get(cell) ?? this.words[cell << 1];
      return now >>> 0 > I[i + 1] >>> 0;
    };
  }
}
