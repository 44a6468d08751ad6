/** When one PE makes its part of a checkpoint: at the same virtual times on all PEs. */
import type { CheckpointMaker, Pe } from '../pe.ts';
import { imageOf, type PeImage } from './image.ts';
import { type CheckpointTimes, nextTime } from './times.ts';

export class PeCheckpoints implements CheckpointMaker {
  next: number;
  private readonly pe: Pe;
  private readonly times: CheckpointTimes;
  private images: PeImage[] = [];
  /** Lines of output that the PE has handed over. */
  private lines = 0;

  /** @param from virtual time at which the run begins */
  constructor(pe: Pe, times: CheckpointTimes, from: number) {
    this.pe = pe;
    this.times = times;
    this.next = this.after(from);
  }

  /** No checkpoint is made at the end or beyond it. */
  private after(time: number): number {
    const next = nextTime(this.times, time);
    return next < this.pe.config.end ? next : Infinity;
  }

  reached(gvt: number, asksHook: boolean): boolean {
    const { pe, next } = this;
    if (gvt < next || next === Infinity) return false;
    this.images.push(imageOf(pe, next, this.lines + pe.outputs.length, asksHook));
    this.next = this.after(next);
    return true;
  }

  reachedAlone(gvt: number): void {
    while (this.reached(gvt, false));
  }

  /** The images made since the last call, when `lines` lines had been handed over. */
  take(lines: number): PeImage[] {
    const { images } = this;
    this.lines += lines;
    if (images.length > 0) this.images = [];
    return images;
  }
}
