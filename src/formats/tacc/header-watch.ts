/** What headers and the times of groups tell together: whether the clock, the host, or its start has changed. */
import type { OddityKind } from './oddities.ts';

/** Seconds by which two readings of a host's start may differ: clocks are set, and times are whole seconds. */
const SLACK_SECONDS = 60;

/**
 * Whether a host that existed at `last` and was started at `before` has been restarted, if its start is now given as `boot`
 * (s since 1970).
 * @example
 * ```ts
 * import { wasRestarted } from 'triscope/formats/tacc';
 *
 * wasRestarted(1_000, 5_000, 6_000); // true: all in seconds since 1970
 * ```
 */
export function wasRestarted(before: number | null, last: number, boot: number | null): boolean {
  return (
    before !== null && boot !== null && boot > before + SLACK_SECONDS && boot > last - SLACK_SECONDS
  );
}

/**
 * A host's name without its domain, in lower case: files name hosts with or without it.
 * @example
 * ```ts
 * import { shortHost } from 'triscope/formats/tacc';
 *
 * shortHost('C401-101.example.org'); // 'c401-101'
 * ```
 */
export const shortHost = (name: string): string => name.trim().split('.')[0].toLowerCase();

export class HeaderWatch {
  private readonly tell: (kind: OddityKind, reason: string) => void;
  private host: string | null = null;
  private header = false;
  private uptime: number | null = null;
  private boot: number | null = null;
  private seconds = Number.NaN;
  /** The latest time. */
  private last = Number.NEGATIVE_INFINITY;

  constructor(tell: (kind: OddityKind, reason: string) => void) {
    this.tell = tell;
  }

  property(name: string, value: string): void {
    this.header = true;
    if (name === 'hostname') this.about(value);
    if (name !== 'uptime') return;
    const uptime = Number(value);
    this.uptime = value.trim() !== '' && uptime >= 0 && Number.isFinite(uptime) ? uptime : null;
  }

  /** Takes a group's time and host; returns when the host was started. */
  group(seconds: number, host: string | null): number | null {
    if (!this.header) {
      this.header = true;
      this.tell('no_header', 'no header before the first time');
    }
    if (this.uptime !== null) {
      const boot = seconds - this.uptime;
      if (wasRestarted(this.boot, this.last, boot)) {
        this.tell('reboot', `the host was started again ${this.uptime} s before`);
      }
      this.boot = boot;
      this.uptime = null;
    }
    if (seconds === this.seconds) this.tell('same_time', 'the same time as before');
    else if (seconds < this.last) {
      this.tell('backward_time', `${(this.last - seconds).toFixed(6)} s before the latest time`);
    }
    this.seconds = seconds;
    this.last = Math.max(this.last, seconds);
    if (host !== null) this.about(host);
    return this.boot;
  }

  private about(host: string): void {
    const before = this.host;
    this.host = host;
    if (before === null || shortHost(before) === shortHost(host)) return;
    this.tell('other_host', `host ${host.trim()}, before it was ${before.trim()}`);
  }
}
