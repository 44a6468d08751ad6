/** Work that several requests may wait for: begun with the first, kept when it is done, ended when the last of them has gone. */
import type { Steps } from '../../view/steps.ts';

interface Running<T> {
  readonly result: Promise<T>;
  readonly end: AbortController;
  waiting: number;
}

export class SharedWork<T> {
  private readonly work: (signal: AbortSignal) => Promise<T>;
  private running: Running<T> | null = null;
  private done = false;

  /** `work` is told by its signal when the client has closed the connection. */
  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.work = work;
  }

  /**
   * Its result. A failure is reported to those who wait; the next request tries again.
   * @throws what the work throws; the reason of `signal`
   */
  get(signal: AbortSignal): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const running = this.running ?? this.begin();
    if (this.done) return running.result;
    running.waiting++;
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (--running.waiting > 0) {
          reject(signal.reason);
          return;
        }
        // The last to leave is told when the work has really ended.
        if (this.running === running) this.running = null;
        running.end.abort(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      const stay = () => signal.removeEventListener('abort', leave);
      running.result.then(resolve, reject).finally(stay);
    });
  }

  private begin(): Running<T> {
    const end = new AbortController();
    const running = { result: this.work(end.signal), end, waiting: 0 };
    this.running = running;
    running.result.then(
      () => {
        if (this.running === running) this.done = true;
      },
      () => {
        if (this.running === running) this.running = null;
      },
    );
    return running;
  }
}

/** The same by subject, as long as that exists. */
export function sharedBy<K extends WeakKey, T>(
  work: (of: K, signal: AbortSignal) => Promise<T>,
): (of: K, signal: AbortSignal) => Promise<T> {
  const all = new WeakMap<K, SharedWork<T>>();
  return (of, signal) => {
    const one = all.get(of) ?? new SharedWork((end) => work(of, end));
    all.set(of, one);
    return one.get(signal);
  };
}

/** Does work in steps, with others between them. @throws the signal's reason, once nobody waits any more */
export async function inTurns<T>(steps: Steps<T>, signal: AbortSignal): Promise<T> {
  const turns = new Turns(signal);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await turns.took(step.value);
  }
}

/** Gives others their turn. @throws the signal's reason, once nobody waits any more */
export async function nextTurn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}

/** Rows after which others get their turn. */
const TURN = 50_000;

/** Gives others their turn after this many rows, and ends if nobody waits any more. */
export class Turns {
  private readonly signal: AbortSignal;
  private taken = 0;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  /** @throws the signal's reason */
  async took(rows: number): Promise<void> {
    this.taken += rows;
    if (this.taken < TURN) return;
    this.taken = 0;
    await nextTurn(this.signal);
  }
}
