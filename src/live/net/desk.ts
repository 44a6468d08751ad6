/** Where each route's limits are kept: how many at a time, for how long, and only as long as somebody waits. */
import { setMaxListeners } from 'node:events';
import { Gate } from './gate.ts';
import { GATES, type RouteLimits } from './limits.ts';

/** An answer took longer than its route may. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/** Who asked has gone, or the server goes: nobody hears of it. */
export class GoneError extends Error {
  override readonly name = 'GoneError';
}

export class Desk {
  private readonly closed: AbortSignal;
  private readonly gates: Readonly<Record<keyof typeof GATES, Gate>> = {
    told: new Gate(GATES.told),
    drawn: new Gate(GATES.drawn),
    read: new Gate(GATES.read),
    asked: new Gate(GATES.asked),
  };

  /** `closed` is aborted when the server ends. */
  constructor(closed: AbortSignal) {
    this.closed = closed;
    // A listener for each request under way.
    setMaxListeners(0, closed);
  }

  /**
   * Does `work` within `limits`. Its signal tells it when the client has closed the connection; it keeps its place until it
   * has really ended.
   * @throws LateError, GoneError, CrowdedError; what `work` throws
   */
  async serve<T>(
    limits: RouteLimits,
    gone: AbortSignal,
    work: (signal: AbortSignal) => Promise<T> | T,
  ): Promise<T> {
    const end = new AbortController();
    const leave = () => end.abort(new GoneError('the client has closed the connection'));
    const late = () => end.abort(new LateError(`it took more than ${limits.seconds} s`));
    const timer = setTimeout(late, limits.seconds * 1000);
    for (const signal of [gone, this.closed]) {
      if (signal.aborted) leave();
      signal.addEventListener('abort', leave, { once: true });
    }
    try {
      const out = await this.gates[limits.gate].enter(end.signal);
      const working = (async () => work(end.signal))();
      void working.then(out, out);
      return await orAborted(working, end.signal);
    } finally {
      clearTimeout(timer);
      for (const signal of [gone, this.closed]) signal.removeEventListener('abort', leave);
    }
  }
}

/** What `work` gives, or the signal's reason, whichever is first. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
