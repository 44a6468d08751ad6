/**
 * Where threads in step take the samples that others take at GVTs: at points of virtual time. A thread that stops at a point has
 * handled all its events before it and knows that no more can arrive, so that the point is a GVT which nobody had to compute.
 *
 * With each GVT that is computed, PEs agree on how far apart points are. Each contributes how many it wants in a lookahead and how far it may
 * go, and stays there until it has taken the result. So points up to the furthest of these bounds, which some have passed and others
 * have yet to reach, are those of the agreement before; beyond it, where nobody has been, the new one holds.
 */
import type { Gvt } from '../transport/transport.ts';

/** Points are multiples of `stride` after `after`. */
interface Agreement {
  readonly after: number;
  /** In lookaheads: a whole number, or one half, one fourth… of one. Infinity for no points. */
  readonly stride: number;
  /** The last multiple up to `after`. */
  readonly multiple: number;
  /** GVTs up to this one: those computed, and all points up to `after`. */
  readonly gvts: number;
}

/** Lookaheads from one point to the next where `rate` points are wanted in one. Threads in short steps stop at its multiples anyway. */
function strideOf(rate: number): number {
  if (!(rate > 0 && rate < Infinity)) return Infinity;
  return rate < 1 ? Math.round(1 / rate) : 2 ** -Math.round(Math.log2(rate));
}

export class StepPoints {
  /** No event at or after this time may be handled before its sample; Infinity if no point is to come. */
  next = Infinity;
  /** Between this PE's contribution to a GVT and its result: the PE stays where it is. */
  stays = false;
  /** No GVT before this time is sampled: points up to it are. */
  until = 0;
  private readonly events: number;
  private readonly lookahead: number;
  private readonly end: number;
  /** All points up to this time are done. */
  private done = 0;
  /** The last one, and those before it that hold for points which this PE has yet to reach. */
  private readonly agreements: Agreement[] = [{ after: 0, stride: Infinity, multiple: 0, gvts: 0 }];

  /** @param events of one PE from one sample to the next */
  constructor(events: number, lookahead: number, end: number) {
    this.events = events;
    this.lookahead = lookahead;
    this.end = end;
  }

  /** Whether samples are taken at points, and not at GVTs. */
  get planned(): boolean {
    return this.last.stride < Infinity;
  }

  /** GVTs up to the last one computed. */
  get gvts(): number {
    return this.last.gvts;
  }

  /** GVTs up to the next point. */
  get nextGvts(): number {
    const { multiple, gvts, stride } = this.agreements[0];
    return gvts + this.multipleUpTo(this.next, stride) - multiple;
  }

  private get last(): Agreement {
    return this.agreements[this.agreements.length - 1];
  }

  /**
   * Completes a contribution to a GVT.
   * @param density events of this PE in a lookahead; 0 if it is not known, or if the PE is not in step
   * @param bound how far it may have gone until it takes the result
   */
  contribute(mine: Gvt, density: number, bound: number): void {
    mine.samples = density > 0 ? density / this.events : Infinity;
    // Not beyond the end, where it may be Infinity or, after the last GVT, NaN.
    mine.bound = bound < this.end ? bound : this.end;
    this.stays = true;
  }

  /** A GVT has been computed. */
  agreed({ time, bound, samples }: Gvt): void {
    const { last } = this;
    const after = Math.max(last.after, Math.min(Math.max(time, bound), this.end));
    const gvts = last.gvts + this.multipleUpTo(after, last.stride) - last.multiple + 1;
    const stride = strideOf(samples);
    if (last.stride < Infinity) this.until = after;
    this.agreements.push({ after, stride, multiple: this.multipleUpTo(after, stride), gvts });
    this.stays = false;
    this.proceed();
  }

  /** Whether `time` has come to the next point. */
  isDue(time: number): boolean {
    return this.next <= time && this.next < Infinity;
  }

  /** The sample at `next` has been taken. @param time before which this PE has no events: points up to there have nothing to show */
  taken(time: number): void {
    this.done = Math.max(this.next, Math.min(time, this.end));
    this.proceed();
  }

  private proceed(): void {
    const { agreements } = this;
    for (;;) {
      const [{ after, stride }, then] = agreements;
      const multiple = this.multipleUpTo(Math.max(after, this.done), stride) + 1;
      const next = stride === Infinity ? Infinity : this.timeOf(multiple, stride);
      if (then === undefined || next <= then.after) {
        this.next = next < this.end ? next : Infinity;
        return;
      }
      agreements.shift();
    }
  }

  /** The same product as of bounds of steps (scheduler.ts). */
  private timeOf(multiple: number, stride: number): number {
    return multiple * stride * this.lookahead;
  }

  private multipleUpTo(time: number, stride: number): number {
    if (stride === Infinity) return 0;
    let multiple = Math.floor(time / (stride * this.lookahead));
    // Where the quotient was rounded.
    while (this.timeOf(multiple + 1, stride) <= time) multiple++;
    while (this.timeOf(multiple, stride) > time) multiple--;
    return multiple;
  }
}
