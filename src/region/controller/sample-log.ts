/**
 * Samples that were read and are not yet attributed. Each sample's files are read on time; the computation for many samples
 * is then done together, with warm caches: between two samples the processor's caches are lost, and loading the code again
 * takes longer than executing it.
 *
 * ```
 * row      now  what the platform read  hash hint progress epochs  (of each process)
 * ```
 */
import type { Platform } from '../platform.ts';
import type { ApplicationProcess, ProcessTable } from './process-table.ts';

/** Approximate bytes of all rows; at least two rows. */
const ROOM_BYTES = 1 << 19;
const MOST_ROWS = 256;
/** ns for which a sample may wait. */
const MOST_WAIT_NS = 1e9;
/** Values of a process: hash, hint, progress, epochs. */
const PLACE = 4;

export class SampleLog {
  private readonly tick: Platform['tick'];
  private active: readonly ApplicationProcess[] = [];
  private found = 0;
  private rows = new Float64Array(0);
  private width = 0;
  private capacity = 0;
  private length = 0;
  private first = 0;

  constructor({ tick }: Platform) {
    this.tick = tick;
  }

  /** Whether one more sample may wait. @param now ns of CLOCK_MONOTONIC */
  takes(now: number): boolean {
    if (this.length === 0) return true;
    return this.length < this.capacity && now - this.first < MOST_WAIT_NS;
  }

  /** Stores what was just read. All samples that wait have the same processes. */
  add(now: number, { active, all }: ProcessTable): void {
    if (this.length === 0) {
      this.found = all.length;
      this.begin(now, active);
    }
    const at = this.length++ * this.width;
    this.rows[at] = now;
    this.tick.keep(this.rows, at + 1);
    this.keepPlaces(at);
  }

  private begin(now: number, active: readonly ApplicationProcess[]): void {
    this.first = now;
    this.active = active;
    const width = 1 + this.tick.kept + PLACE * active.length;
    if (width === this.width) return;
    this.width = width;
    this.capacity = Math.max(2, Math.min(MOST_ROWS, Math.floor(ROOM_BYTES / (8 * width))));
    // One more row: the present state of the processes while earlier ones are restored.
    this.rows = new Float64Array((this.capacity + 1) * width);
  }

  /**
   * Calls `visit` for each sample that waited, with the processes that were active and the number found by then. During the call
   * processes and platform have the state of that sample.
   */
  replay(visit: (now: number, active: readonly ApplicationProcess[], found: number) => void): void {
    const length = this.length;
    if (length === 0) return;
    this.length = 0;
    const [rows, width, active] = [this.rows, this.width, this.active];
    const present = length * width;
    this.keepPlaces(present);
    for (let row = 0; row < length; row++) {
      const at = row * width;
      this.tick.recall(rows, at + 1);
      this.recallPlaces(at);
      visit(rows[at], active, this.found);
    }
    this.recallPlaces(present);
  }

  private keepPlaces(row: number): void {
    const [rows, active] = [this.rows, this.active];
    let at = row + this.width - PLACE * active.length;
    for (let k = 0; k < active.length; k++, at += PLACE) {
      const process = active[k];
      rows[at] = process.hash;
      rows[at + 1] = process.hint;
      rows[at + 2] = process.progress;
      rows[at + 3] = process.epochs;
    }
  }

  private recallPlaces(row: number): void {
    const [rows, active] = [this.rows, this.active];
    let at = row + this.width - PLACE * active.length;
    for (let k = 0; k < active.length; k++, at += PLACE) {
      const process = active[k];
      process.hash = rows[at];
      process.hint = rows[at + 1];
      process.progress = rows[at + 2];
      process.epochs = rows[at + 3];
    }
  }
}
