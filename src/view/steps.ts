/**
 * Work on samples in memory, in steps. A server gives others their turn between them, and ends it where nobody waits any
 * more; a page does all at once.
 */

/** Yields about how many rows, or cells, it took since it did before; each step takes far less than a second. */
export type Steps<T> = Generator<number, T, void>;

/** The same work, all at once. */
export const atOnce =
  <A extends unknown[], T>(work: (...args: A) => Steps<T>) =>
  (...args: A): T => {
    const steps = work(...args);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  };

/** Rows, or cells, of a step where one goes through very many. */
export const STEP = 1 << 15;
