/**
 * Followers of a server, by WebSocket or server-sent events: limited in number, and in what waits for each, and for
 * all. A follower that does not take what comes is disconnected, and counted; it may come again.
 */
import type { Socket } from 'node:net';
import { FOLLOWERS } from './limits.ts';

/** What follows. */
export interface Following {
  /** The connection; the two may be one. */
  readonly socket: Socket;
  /** Bytes that it has not taken yet. */
  waiting(): number;
}

interface Seat extends Following {
  /** Bytes that it has taken, and when it last took one. */
  taken: number;
  since: number;
}

/** Milliseconds between looks. */
const LOOK_MS = 1000;

type FollowerLimits = Readonly<Record<keyof typeof FOLLOWERS, number>>;

export class Followers {
  /** Followers that were disconnected because they took too little. */
  dropped = 0;
  private readonly limits: FollowerLimits;
  private readonly seats = new Set<Seat>();
  private readonly timer: NodeJS.Timeout;

  constructor(limits: FollowerLimits = FOLLOWERS, look = LOOK_MS) {
    this.limits = limits;
    this.timer = setInterval(() => this.look(), look);
    this.timer.unref();
  }

  /** Number of followers. */
  get taken(): number {
    return this.seats.size;
  }

  /** The function to call when one leaves; null if there is no room. */
  take(one: Following): (() => void) | null {
    if (this.seats.size >= this.limits.most) return null;
    const seat = { ...one, taken: 0, since: performance.now() };
    this.seats.add(seat);
    return () => void this.seats.delete(seat);
  }

  /**
   * Whether a follower has room for a frame. Frames that must reach it are sent however much waits, up to a limit at which it is
   * disconnected.
   */
  hasRoom(one: Following, must: boolean): boolean {
    const waiting = one.waiting();
    if (!must) return waiting <= this.limits.waiting;
    if (waiting <= this.limits.waitingAtMost) return true;
    this.drop(one);
    return false;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private drop({ socket }: Following): void {
    if (socket.destroyed) return;
    this.dropped++;
    socket.destroy();
  }

  private look(): void {
    const now = performance.now();
    let all = 0;
    let most: Seat | null = null;
    for (const seat of this.seats) {
      const waiting = seat.waiting();
      all += waiting;
      if (most === null || waiting > most.waiting()) most = seat;
      const taken = seat.socket.bytesWritten - seat.socket.writableLength;
      if (taken !== seat.taken || waiting === 0) {
        seat.taken = taken;
        seat.since = now;
      } else if (now - seat.since > this.limits.patience) this.drop(seat);
    }
    if (most !== null && all > this.limits.waitingInAll) this.drop(most);
  }
}
