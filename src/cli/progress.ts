/** The progress line: on stderr, on a terminal only, rewritten in place. */
import type { Progress } from '../sim/simulate.ts';
import { figure, short } from './table.ts';

/** Milliseconds between two lines, at least. */
const PACE = 100;

/** The part of a stream that a progress line needs. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** “GVT 512.3  51 %  3.1 M events/s  efficiency 97.2 %”: the rate is that since `before`. */
export function progressText(now: Progress, before: Progress | null): string {
  const seconds = now.seconds - (before?.seconds ?? 0);
  const rate = seconds > 0 ? (now.committed - (before?.committed ?? 0)) / seconds : 0;
  const efficiency = now.committed > 0 ? 100 * (1 - now.rolledBack / now.committed) : 100;
  const gvt = Math.min(now.gvt, now.end);
  const share = now.end > 0 ? Math.floor((100 * gvt) / now.end) : 100;
  return `GVT ${figure(gvt)}  ${share} %  ${short(rate)} events/s  efficiency ${efficiency.toFixed(1)} %`;
}

export class ProgressLine {
  private readonly stream: ProgressStream;
  private readonly interval: number;
  private readonly clock: () => number;
  private shown = false;
  private lastAt = -Infinity;
  private last: Progress | null = null;
  private lastShare = -Infinity;

  /** @param interval part of the end time between two lines (`--report-interval`) */
  constructor(
    interval: number,
    stream: ProgressStream = process.stderr,
    clock: () => number = () => performance.now(),
  ) {
    this.interval = interval;
    this.stream = stream;
    this.clock = clock;
  }

  /** Whether anything will ever be shown. */
  get on(): boolean {
    return this.stream.isTTY === true && process.env.TERM !== 'dumb';
  }

  /** Shows `now`, unless it is too early for it. */
  update(now: Progress): void {
    const share = now.end > 0 ? now.gvt / now.end : 1;
    const at = this.clock();
    if (!this.on || at - this.lastAt < PACE || share - this.lastShare < this.interval) return;
    this.lastAt = at;
    this.lastShare = share;
    this.show(progressText(now, this.last));
    this.last = now;
  }

  /** Shows `text` in place of what is there. */
  show(text: string): void {
    if (!this.on) return;
    this.stream.write(`\r\x1b[K${text.slice(0, (this.stream.columns ?? 80) - 1)}`);
    this.shown = true;
  }

  /** Takes the line away: before other output, and at the end. */
  clear(): void {
    if (this.shown) this.stream.write('\r\x1b[K');
    this.shown = false;
  }
}
