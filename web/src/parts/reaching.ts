/** Which of two answers is drawn while the window's own is on its way. */

export interface Spanning {
  /** Seconds. */
  readonly from: number;
  readonly to: number;
}

/** The newest answer if it overlaps the window; else the other, of the whole run, if that does. */
export function reaching<T extends Spanning>(
  window: readonly [number, number] | null,
  newest: T | null,
  whole: T | null,
): T | null {
  if (window === null || newest === null || whole === null) return newest;
  const [from, to] = window;
  const reaches = (one: T) => one.from <= from && one.to >= to;
  return !reaches(newest) && reaches(whole) ? whole : newest;
}
