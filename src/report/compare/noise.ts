/**
 * The error of a run's numbers, and whether runs differ by more than it. docs/diff.md explains it, with references.
 *
 *     a run       stretches ── ramp left out ──►  R = Σn / Σd, error² = k/(k − 1) · Σ(n − R·d)² / (Σd)²
 *     a side      one run: its error, times what runs of one command differ by more; several: their median and scatter
 *     two sides   Welch's t-test; of a table's differences those beyond chance (Benjamini and Hochberg)
 */
import { median, sum } from '../../model/numbers.ts';
import { studentQuantile, studentTail } from '../../model/student.ts';
import { BLOCKS, type Measured } from './measures.ts';

/** Stretches from which on their scatter is an estimate of the error. */
const LEAST_BLOCKS = 4;
/** Numbers of neighbouring stretches that are joined; the largest scatter counts, since slow drift is noise, too. */
const JOINED = [1, 2, 4];
/** Factor by which runs of one command differ more than the scatter of their stretches: `npm run bench:diff` measures it. */
const BETWEEN_RUNS = 2;
/** Degrees of freedom of the error estimated from stretches, beside those of repeated runs. */
const FREEDOM_OF_STRETCHES = 10;
/** A median scatters more than a mean by this, at most (of normal numbers). */
const MEDIAN = Math.sqrt(Math.PI / 2);
/** Largest share of differences called changes that may be due to chance. */
const CHANCE = 0.01;
/** One minus the coverage of bounds; also the largest share of changes of `detectable` size that are missed. */
const OUTSIDE = 0.05;

/** A number of one run. */
export interface RunValue {
  readonly value: number;
  /** Standard error estimated from its stretches; null where these are too few. */
  readonly error: number | null;
}

/** A number of a side's runs. */
export interface Estimate {
  /** The runs' median. */
  readonly value: number;
  /** Standard error; null where it is not known. */
  readonly error: number | null;
  /** Degrees of freedom of the error. */
  readonly freedom: number;
}

/** How two numbers differ. */
export interface Gap {
  readonly change: number;
  /** Standard error of the change, and its degrees of freedom; null where that is not known. */
  readonly error: number | null;
  readonly freedom: number;
  /** Half the width of the change's 95 % interval; null where that is not known. */
  readonly bound: number | null;
  /** Probability of so large a change by chance; null where that is not known. */
  readonly chance: number | null;
}

/**
 * Seconds of the timeline at which a run is under way: what is before is its ramp. Of the run's first half, as many
 * stretches are left out as make the marginal standard error of the mean of the others least.
 * White, An effective truncation heuristic for bias reduction in simulation output (MSER), Simulation 69 (1997).
 */
export function rampEnd({ samples }: Pick<Measured, 'samples'>): number {
  if (typeof samples === 'number') return -Infinity;
  const { numbers, counts, per, from, length } = samples;
  const there = numbers.flatMap((number, k) =>
    per[k] > 0 ? [{ number, rate: counts[k] / per[k] }] : [],
  );
  const rates = there.map(({ rate }) => rate);
  let best = 0;
  let least = Infinity;
  for (let left = 0; left <= rates.length / 2; left++) {
    const rest = rates.slice(left);
    const mean = sum(rest) / rest.length;
    const error = sum(rest.map((rate) => (rate - mean) ** 2)) / rest.length ** 2;
    // An improvement within rounding does not count.
    if (error < least * (1 - 1e-9)) [best, least] = [left, error];
  }
  return best === 0 || rates.length < LEAST_BLOCKS ? -Infinity : from + there[best].number * length;
}

/** The stretches that an error is estimated from: of thousands of numbers, nothing is made for each. */
const KEPT = new Float64Array(BLOCKS);
const BELOW = new Float64Array(BLOCKS);

/**
 * A number of a run, from `ramp` on where it is a ratio; null where there is none.
 */
export function runValue({ samples }: Pick<Measured, 'samples'>, ramp: number): RunValue | null {
  if (typeof samples === 'number') return { value: samples, error: null };
  const { numbers, counts, per, from, length, isTotal, isSampled } = samples;
  let [known, all, work, behind, time, kept] = [0, 0, 0, 0, 0, 0];
  for (let k = 0; k < counts.length; k++) {
    const [n, d] = [counts[k], per[k]];
    if (Number.isNaN(n)) continue;
    known++;
    all += n;
    if (d > 0) work += d;
    if (!(from + (numbers[k] + 0.5) * length > ramp)) continue;
    behind += n;
    if (!(d > 0)) continue;
    time += d;
    KEPT[kept] = n;
    BELOW[kept++] = d;
  }
  const value = isTotal ? all : behind / time;
  if (known === 0 || !Number.isFinite(value)) return null;
  const error = isSampled ? null : ratioError(KEPT, BELOW, kept);
  return { value, error: error === null || !isTotal ? error : error * work };
}

/** A number by stretch of the whole run; null where there are no samples. */
export function courseOf({ samples }: Pick<Measured, 'samples'>): readonly (number | null)[] {
  if (typeof samples === 'number') return [];
  const { counts, per } = samples;
  return Array.from(counts, (n, k) => (Number.isFinite(n / per[k]) ? n / per[k] : null));
}

/** Standard error of Σn / Σd of so many stretches; the greatest by stretches as they are, joined by two, and by four. */
function ratioError(n: Float64Array, d: Float64Array, length: number): number | null {
  let [above, below] = [0, 0];
  for (let k = 0; k < length; k++) {
    above += n[k];
    below += d[k];
  }
  const ratio = above / below;
  let greatest: number | null = null;
  for (const width of JOINED) {
    const k = Math.floor(length / width);
    if (k < LEAST_BLOCKS) break;
    let squares = 0;
    for (let at = 0; at < k * width; at += width) {
      let off = 0;
      for (let one = at; one < at + width; one++) off += n[one] - ratio * d[one];
      squares += off * off;
    }
    const error = Math.sqrt((k / (k - 1)) * squares * (length / (k * width))) / below;
    if (greatest === null || !(error <= greatest)) greatest = error;
  }
  return greatest !== null && Number.isFinite(greatest) ? greatest : null;
}

/**
 * A side's number. Of one run the error is that of its stretches, times `BETWEEN_RUNS`. Of several the variance is the mean
 * of the runs' own and of what the stretches say, by their degrees of freedom (a moderated t: Smyth, Linear models and
 * empirical Bayes methods, SAGMB 3, 2004): few runs that are alike by luck do not look certain. Where the runs' own is more,
 * it counts alone, and what the stretches say adds the less certainty the more it falls short.
 */
export function estimateOf(runs: readonly RunValue[]): Estimate {
  const n = runs.length;
  if (n === 1) {
    const [{ value, error }] = runs;
    const known = error === null ? null : BETWEEN_RUNS * error;
    return { value, error: known, freedom: FREEDOM_OF_STRETCHES };
  }
  const values = runs.map(({ value }) => value);
  const value = median(values);
  const errors = runs.flatMap(({ error }) => (error === null ? [] : [error]));
  const isKnown = errors.length === n;
  const stretches = isKnown ? (BETWEEN_RUNS ** 2 * sum(errors.map((one) => one ** 2))) / n : 0;
  const mean = sum(values) / n;
  const own = sum(values.map((one) => (one - mean) ** 2)) / (n - 1);
  const share = own === 0 ? 1 : Math.min(1, stretches / own);
  const freedom = n - 1 + FREEDOM_OF_STRETCHES * share ** 2;
  const mixed = ((n - 1) * own + FREEDOM_OF_STRETCHES * stretches) / (n - 1 + FREEDOM_OF_STRETCHES);
  const variance = Math.max(own, mixed);
  return { value, error: Math.sqrt(variance / n) * (n > 2 ? MEDIAN : 1), freedom };
}

/** Welch's test. */
export function gapOf(a: Estimate, b: Estimate): Gap {
  const change = b.value - a.value;
  if (a.error === null || b.error === null) {
    return { change, error: null, freedom: 0, bound: null, chance: null };
  }
  const [va, vb] = [a.error ** 2, b.error ** 2];
  const error = Math.sqrt(va + vb);
  if (error === 0) return { change, error, freedom: 0, bound: 0, chance: change === 0 ? 1 : 0 };
  const freedom = (va + vb) ** 2 / (va ** 2 / a.freedom + vb ** 2 / b.freedom);
  return {
    change,
    error,
    freedom,
    bound: error * studentQuantile(freedom, OUTSIDE, 2.2),
    chance: studentTail(Math.abs(change) / error, freedom),
  };
}

/** The differences of a table that chance does not explain. */
interface Judged {
  readonly beyond: readonly boolean[];
  /** The probability below which one more difference would be called a change. */
  readonly level: number;
}

/**
 * Of the differences that are called, one in a hundred is chance at most. Benjamini and Hochberg, Controlling the false
 * discovery rate, J. R. Statist. Soc. B 57 (1995): of a thousand LPs ten differ so by chance alone.
 */
export function beyondChance(chances: readonly (number | null)[]): Judged {
  const known = chances.filter((one) => one !== null).sort((a, b) => a - b);
  let limit = -1;
  let called = 0;
  known.forEach((chance, k) => {
    if (chance > (CHANCE * (k + 1)) / known.length) return;
    limit = chance;
    called = k + 1;
  });
  return {
    beyond: chances.map((chance) => chance !== null && chance <= limit),
    level: (CHANCE * Math.min(called + 1, known.length)) / Math.max(1, known.length),
  };
}

/** The least change that would be called, of a table with this level, in 19 of 20 such pairs; null where that is not known. */
export function detectable(
  { error, freedom }: Pick<Gap, 'error' | 'freedom'>,
  level: number,
): number | null {
  if (error === null || error === 0) return error;
  // Differences of a table are many, so their level is small.
  return error * (studentQuantile(freedom, level, 4) + studentQuantile(freedom, 2 * OUTSIDE, 1.75));
}
