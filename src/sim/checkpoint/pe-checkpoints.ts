/** When one PE makes its part of a checkpoint: the same virtual times on all PEs. */
import type { Pe } from '../pe.ts';
import { imageOf, type PeImage } from './image.ts';
import { type CheckpointTimes, nextTime } from './times.ts';

export class PeCheckpoints {
  /** Time of the next checkpoint: no event at or past it may be handled before. Infinity for none. */
  next: number;
  private readonly pe: Pe;
  private readonly times: CheckpointTimes;
  private images: PeImage[] = [];
  /** Lines that the PE has handed over. */
  private lines = 0;

  /** @param from virtual time at which the run begins */
  constructor(pe: Pe, times: CheckpointTimes, from: number) {
    this.pe = pe;
    this.times = times;
    this.next = this.after(from);
  }

  /** Nothing happens at the end or past it. */
  private after(time: number): number {
    const next = nextTime(this.times, time);
    return next < this.pe.config.end ? next : Infinity;
  }

  /**
   * GVT is `gvt`, all before it is committed, and nothing that was sent before it has still to arrive.
   * @param asksHook whether a committed event has asked for a hook that is still to be called
   * @returns whether a checkpoint was made
   */
  reached(gvt: number, asksHook: boolean): boolean {
    const { pe, next } = this;
    if (gvt < next || next === Infinity) return false;
    this.images.push(imageOf(pe, next, this.lines + pe.outputs.length, asksHook));
    this.next = this.after(next);
    return true;
  }

  /** The same where there is only one PE, which handles nothing meanwhile: all that are due. */
  reachedAlone(gvt: number): void {
    while (this.reached(gvt, false));
  }

  /** The images since the last call, in which `lines` lines were handed over. */
  take(lines: number): PeImage[] {
    const { images } = this;
    this.lines += lines;
    if (images.length > 0) this.images = [];
    return images;
  }
}
