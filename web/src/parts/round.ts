/** Round values for an axis. Pure. */

/** Values named on an axis, at most. */
const NAMED = 6;

/** Multiples of 1, 2 or 5 times a power of ten. */
export function roundValues(low: number, top: number): number[] {
  const least = (top - low) / NAMED;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((one) => one * power >= least) ?? 10);
  const first = Math.ceil(low / step);
  const count = Math.floor(top / step) - first + 1;
  return Array.from({ length: count }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}
