/** Work that takes long, a few pieces at a time: who asks for much does not take the server from the others. */
import { ApiError } from './api/route.ts';

/** Pieces of work under way, and waiting, at most. */
const MOST_RUNNING = 3;
const MOST_WAITING = 64;

export class Heavy {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws ApiError where too many wait already; what `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= MOST_RUNNING) {
      if (this.#waiting.length >= MOST_WAITING) {
        throw new ApiError(503, 'too much is asked for at once: try again in a moment');
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running++;
    }
    try {
      return await work();
    } finally {
      // Who waited takes the place over.
      const next = this.#waiting.shift();
      if (next !== undefined) next();
      else this.#running--;
    }
  }
}
