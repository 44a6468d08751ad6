/**
 * Computations on samples in memory, in steps. A server handles other requests between them, and stops when the client has
 * gone; a page does all at once.
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

/** Items that are sorted at once: comparing takes longer than going through. */
const RUN = STEP >> 3;

/** The first `most` of a list in an order, equals as they were: sorted by pieces, and these are merged. */
export function* sorted<T>(
  list: readonly T[],
  compare: (a: T, b: T) => number,
  most = Number.POSITIVE_INFINITY,
): Steps<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < list.length; at += RUN) {
    const run = list.slice(at, at + RUN).sort(compare);
    runs.push(run.slice(0, most));
    yield STEP;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let k = 0; k < runs.length; k += 2) {
      const [one, other] = [runs[k], runs[k + 1]];
      merged.push(other === undefined ? one : yield* merge(one, other, compare, most));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
  most: number,
): Steps<T[]> {
  const length = Math.min(most, one.length + other.length);
  const both: T[] = [];
  for (let a = 0, b = 0; both.length < length; ) {
    if (both.length % STEP === 0) yield STEP;
    const isFirst = b === other.length || (a < one.length && compare(one[a], other[b]) <= 0);
    both.push(isFirst ? one[a++] : other[b++]);
  }
  return both;
}
