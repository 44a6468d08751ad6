/**
 * How far a number of a run may be off, and whether two runs differ by more.
 *
 * All numbers are ratios of sums (events by seconds, undone by handled). A run's time is cut into 20 stretches, and the ratio's error follows from how the stretches scatter around it (the linearised
 * ratio estimator; Cochran, Sampling Techniques, 3rd edition, chapter 6):
 *
 *     R = Σn / Σd      error² = k/(k − 1) · Σ(n − R·d)² / (Σd)²      k: stretches with samples
 *
 * Stretches, not samples: neighbouring samples are alike, and would make the error look too small. What differs between
 * two runs of the same command, as where they were placed, is in neither run's samples.
 */

/** Stretches of a run. */
export const BLOCKS = 20;
/** With fewer stretches their scatter says nothing. */
const LEAST_BLOCKS = 4;
/** Of the differences named as changes, the share that may be chance; and one less what bounds cover. */
const CHANCE = 0.05;

/** A number with its error. */
export interface Estimate {
  readonly value: number;
  /** Standard error; null where there are too few samples to tell. */
  readonly error: number | null;
  /** Stretches that it is from. */
  readonly blocks: number;
}

/** How two numbers differ. */
interface Gap {
  readonly change: number;
  /** Half the width of the change's 95 % interval; null where that is not known. */
  readonly bound: number | null;
  /** How likely so much is by chance; null where that is not known. */
  readonly chance: number | null;
}

/** The ratio of two sums over a run's stretches. */
export interface Ratio {
  /** The upper sum, and its error where it is in proportion to the lower one. */
  readonly total: Estimate | null;
  /** Null where the lower sum is 0. */
  readonly ratio: Estimate | null;
  /** The same by stretch; null where there is none. */
  readonly course: readonly (number | null)[];
}

const sumOf = (values: readonly (number | null)[]): number | null =>
  values.reduce((sum, one) => (one === null ? sum : (sum ?? 0) + one), null);

/** @param above, below n and d of each stretch; null where it has none */
export function ratioOf(
  above: readonly (number | null)[],
  below: readonly (number | null)[],
): Ratio {
  const [total, work] = [sumOf(above), sumOf(below)];
  const ratio = total === null || !work ? null : total / work;
  const counted = [...above.keys()].filter((k) => (below[k] ?? 0) > 0);
  const blocks = counted.length;
  const squares = counted.map((k) => {
    const n = above[k];
    return n === null || ratio === null ? null : (n - ratio * (below[k] as number)) ** 2;
  });
  const scatter = sumOf(squares);
  const known = scatter !== null && blocks >= LEAST_BLOCKS;
  const error = known ? Math.sqrt((blocks / (blocks - 1)) * scatter) : null;
  return {
    total: total === null ? null : { value: total, error, blocks },
    ratio: ratio === null ? null : { value: ratio, error: error && error / (work ?? 0), blocks },
    course: above.map((n, k) => (n === null || !below[k] ? null : n / below[k])),
  };
}

/** Welch's test. */
export function gapOf(a: Estimate, b: Estimate): Gap {
  const change = b.value - a.value;
  if (a.error === null || b.error === null) return { change, bound: null, chance: null };
  const [va, vb] = [a.error ** 2, b.error ** 2];
  const error = Math.sqrt(va + vb);
  if (error === 0) return { change, bound: 0, chance: change === 0 ? 1 : 0 };
  const freedom = (va + vb) ** 2 / (va ** 2 / (a.blocks - 1) + vb ** 2 / (b.blocks - 1));
  return {
    change,
    bound: error * quantile(freedom),
    chance: tail(Math.abs(change) / error, freedom),
  };
}

/**
 * Which of several differences are more than chance, so that one in twenty of those named is wrong at most (Benjamini
 * and Hochberg 1995): of a thousand LPs, fifty differ by more than their own bounds without any reason.
 */
export function beyondChance(chances: readonly (number | null)[]): boolean[] {
  const known = chances.filter((one) => one !== null).sort((a, b) => a - b);
  let limit = -1;
  known.forEach((chance, k) => {
    if (chance <= (CHANCE * (k + 1)) / known.length) limit = chance;
  });
  return chances.map((chance) => chance !== null && chance <= limit);
}

/** The share of Student's distribution beyond ±t. */
export function tail(t: number, freedom: number): number {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/** The t beyond which lies one in twenty. */
export function quantile(freedom: number): number {
  let low = 0;
  let high = 1;
  while (tail(high, freedom) > CHANCE) high *= 2;
  for (let k = 0; k < 60; k++) {
    const middle = (low + high) / 2;
    if (tail(middle, freedom) > CHANCE) low = middle;
    else high = middle;
  }
  return high;
}

/** Lanczos' series (g = 7, 9 terms). */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

function logGamma(x: number): number {
  const t = x + 6.5;
  const sum = LANCZOS.reduce((all, one, k) => all + (k === 0 ? one : one / (x - 1 + k)));
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x),
  );
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return (front * fraction) / a;
}
