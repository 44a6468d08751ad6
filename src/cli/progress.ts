/** Progress on stderr: on a terminal a line rewritten in place; in a log, where asked for, a line per interval. */

import { EFFICIENCY, evaluate, percent, short } from '../model/measures/index.ts';
import type { Progress } from '../sim/simulate.ts';
import type { RunResult } from '../sim/statistics.ts';
import { figure } from './table.ts';
import { steering } from './terminal.ts';

/** Milliseconds between two lines, at least. */
const PACE_MS = 100;

/** Clears the line. */
const CLEAR = () => steering('\r\x1b[K');

/** The part of a stream that a progress line needs. */
interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** “GVT 512.3  51 %  3.1 M events/s  efficiency 97.2 %”: the rate is that since `before`. */
function progressText(now: Progress, before: Progress | null): string {
  const seconds = now.seconds - (before?.seconds ?? 0);
  const rate = seconds > 0 ? (now.committed - (before?.committed ?? 0)) / seconds : 0;
  const counts: Readonly<Record<string, number>> = {
    events_processed: now.committed + now.rolledBack,
    events_rolled_back: now.rolledBack,
  };
  const efficiency = evaluate(EFFICIENCY, (key) => counts[key], null);
  const gvt = Math.min(now.gvt, now.end);
  const share = now.end > 0 ? Math.floor((100 * gvt) / now.end) : 100;
  return `GVT ${figure(gvt)}  ${share} %  ${short(rate)} events/s  efficiency ${percent(efficiency)}`;
}

/** On a terminal, in a log, or nowhere. */
type Place = 'terminal' | 'log' | null;

export class ProgressLine {
  private readonly stream: ProgressStream;
  private readonly interval: number;
  private readonly clock: () => number;
  private readonly place: Place;
  private shown = false;
  private lastAt = -Infinity;
  private last: Progress | null = null;
  private lastShare = -Infinity;

  /**
   * @param interval part of the end time between two lines (`--report-interval`)
   * @param asked whether the interval was given: then a log gets lines, too
   */
  constructor(
    interval: number,
    asked = false,
    stream: ProgressStream = process.stderr,
    clock: () => number = () => performance.now(),
  ) {
    this.interval = interval;
    this.stream = stream;
    this.clock = clock;
    const terminal = stream.isTTY === true && process.env.TERM !== 'dumb';
    this.place = terminal ? 'terminal' : asked ? 'log' : null;
  }

  /** Whether anything will ever be shown. */
  get on(): boolean {
    return this.place !== null;
  }

  /** Shows `now`, unless it is too early for it. */
  update(now: Progress): void {
    if (!this.on) return;
    const share = now.end > 0 ? now.gvt / now.end : 1;
    const at = this.clock();
    // In a log, lines that the interval spaces out need no other limit.
    const paced = this.place === 'terminal' || this.interval === 0;
    if (paced && at - this.lastAt < PACE_MS) return;
    if (share - this.lastShare < this.interval || (!paced && share < this.interval)) return;
    this.lastAt = at;
    this.lastShare = paced ? share : Math.floor(share / this.interval) * this.interval;
    this.show(progressText(now, this.last));
    this.last = now;
  }

  /** The run has ended: takes the line away; a log gets its last one. */
  end(now: Progress): void {
    this.clear();
    if (this.place === 'log') this.show(progressText(now, null));
  }

  /** Shows `text` in place of what is there; in a log, after it. */
  show(text: string): void {
    if (this.place === 'log') this.stream.write(`${text}\n`);
    if (this.place !== 'terminal') return;
    this.stream.write(CLEAR() + text.slice(0, (this.stream.columns ?? 80) - 1));
    this.shown = true;
  }

  /** Takes the line away: before other output, and at the end. */
  clear(): void {
    if (this.shown) this.stream.write(CLEAR());
    this.shown = false;
  }
}

/** How far a run got in all. */
export function progressOf({
  config,
  gvt,
  netEvents,
  eventsRolledBack,
  wallSeconds,
}: RunResult): Progress {
  const { end } = config;
  return {
    gvt: Math.min(gvt, end),
    end,
    committed: netEvents,
    rolledBack: eventsRolledBack,
    seconds: wallSeconds,
  };
}
