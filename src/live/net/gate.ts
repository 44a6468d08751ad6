/** Admits so many at a time; others wait their turn, or are refused. */

/** Too many wait already. */
export class CrowdedError extends Error {
  override readonly name = 'CrowdedError';
}

interface GateSize {
  readonly running: number;
  readonly waiting: number;
}

export class Gate {
  private readonly size: GateSize;
  private running = 0;
  private readonly waiting = new Set<() => void>();

  constructor(size: GateSize) {
    this.size = size;
  }

  /**
   * Resolves to a function that is to be called at the end. A caller who leaves while waiting is not admitted.
   * @throws CrowdedError; the reason of `gone`
   */
  async enter(gone: AbortSignal): Promise<() => void> {
    gone.throwIfAborted();
    if (this.running < this.size.running) {
      this.running++;
      return this.leave();
    }
    if (this.waiting.size >= this.size.waiting) {
      throw new CrowdedError('too many requests at once: try again in a moment');
    }
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        gone.removeEventListener('abort', give);
        resolve();
      };
      const give = () => {
        this.waiting.delete(go);
        reject(gone.reason);
      };
      this.waiting.add(go);
      gone.addEventListener('abort', give, { once: true });
    });
    return this.leave();
  }

  private leave(): () => void {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      // The place goes to the caller that waited longest.
      const [next] = this.waiting;
      if (next === undefined) {
        this.running--;
        return;
      }
      this.waiting.delete(next);
      next();
    };
  }
}
