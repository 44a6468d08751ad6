/**
 * CLCG4: the combined linear congruential generator of L'Ecuyer and Andres (1997), the one ROSS
 * uses. Four prime-modulus generators run side by side; a draw is the fractional part of an
 * alternating sum of their scaled states. Period about 2^121; a stream is 2^72 draws long.
 *
 * A stream is four doubles in a `Float64Array` owned by the caller, starting at index `at`.
 * Every product below stays under 2^53, so doubles hold it exactly. The moduli are prime, so no
 * product of non-zero states is a multiple of its modulus: `x / m` is at least 1/m (4.6e-10) away
 * from an integer, while `x * (1/m)`, or `s * (a/m)` for x = s a, is wrong by less than 2^-34 (5.9e-11).
 * `Math.floor` of it is therefore the exact quotient, with no correction step. Draws are bit-identical on every engine.
 *
 * Source: P. L'Ecuyer, T. H. Andres, "A random number generator based on the combination of four
 * LCGs", Mathematics and Computers in Simulation 44 (1997).
 */

/** Four seeds, one per component; component j must not be a multiple of `MODULI[j]`. */
export type Seeds = readonly [number, number, number, number];

/** Doubles per stream. */
export const STREAM_WORDS = 4;

/** Seeds of the streams that models draw from. */
export const MODEL_SEEDS: Seeds = [11111111, 22222222, 33333333, 44444444];

/** Seeds of the hidden streams of the engine (tie-breaking), one per logical process. */
export const CORE_SEEDS: Seeds = [55555555, 66666666, 77777777, 88888888];

/** The four prime moduli. */
export const MODULI: Seeds = [2147483647, 2147483543, 2147483423, 2147483323];

/** The four multipliers of one draw. */
export const MULTIPLIERS: Seeds = [45991, 207707, 138556, 49689];

/** Draws between the starts of two consecutive streams: 2^72, as in ROSS (v = 31, w = 41). */
const STREAM_LENGTH_LOG2 = 72;

// Written as literals because the draw is the hottest code of the simulator.
const M0 = 2147483647;
const M1 = 2147483543;
const M2 = 2147483423;
const M3 = 2147483323;
const N0 = 1 / M0;
const N1 = 1 / M1;
const N2 = 1 / M2;
const N3 = 1 / M3;
// The quotient is computed beside the product, not after it.
const Q0 = 45991 / M0;
const Q1 = 207707 / M1;
const Q2 = 138556 / M2;
const Q3 = 49689 / M3;

/** a * b mod m, exact for 0 <= a, b < m < 2^31 and m prime. */
function mulMod(a: number, b: number, m: number): number {
  const inv = 1 / m;
  const high = Math.floor(b / 65536);
  const low = b - high * 65536;
  const t = high * a;
  const x = (t - Math.floor(t * inv) * m) * 65536 + low * a;
  return x - Math.floor(x * inv) * m;
}

/** a ^ e mod m for 0 <= e <= 2^53, m prime. */
function powMod(a: number, e: number, m: number): number {
  let result = 1;
  let square = a;
  // Fermat: the exponent counts modulo m - 1 only.
  for (let rest = e % (m - 1); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = mulMod(result, square, m);
    square = mulMod(square, square, m);
  }
  return result;
}

/** One multiplier per component, to the power that `exponent` gives for that modulus. */
function powers(base: Seeds, exponent: (m: number) => number): Seeds {
  const one = (j: 0 | 1 | 2 | 3) => powMod(base[j], exponent(MODULI[j]), MODULI[j]);
  return [one(0), one(1), one(2), one(3)];
}

/** Multipliers that take one draw back: a^-1 = a^(m-2). */
export const REVERSE_MULTIPLIERS: Seeds = powers(MULTIPLIERS, (m) => m - 2);

/** Multipliers from one stream's start to the next one's: a^(2^72). */
export const STREAM_MULTIPLIERS: Seeds = powers(MULTIPLIERS, (m) => {
  // 2^72 mod (m - 1) by doubling: m - 1 is not prime, so powMod does not apply.
  let e = 1;
  for (let i = 0; i < STREAM_LENGTH_LOG2; i++) e = (e * 2) % (m - 1);
  return e;
});

// Upper and lower 16 bits of the reverse multipliers: the whole products would exceed 2^53.
const [B0, B1, B2, B3] = REVERSE_MULTIPLIERS;
const B0H = Math.floor(B0 / 65536);
const B1H = Math.floor(B1 / 65536);
const B2H = Math.floor(B2 / 65536);
const B3H = Math.floor(B3 / 65536);
const B0L = B0 % 65536;
const B1L = B1 % 65536;
const B2L = B2 % 65536;
const B3L = B3 % 65536;

/** A state is never 0: a component at 0 would stay there. */
function clamp(x: number, m: number): number {
  return Math.max(1, Math.min(x, m - 1));
}

function checkSeeds(seeds: Seeds): void {
  for (const seed of seeds) {
    if (!Number.isSafeInteger(seed) || seed < 0) {
      throw new RangeError(`a random seed must be a non-negative integer, got ${seed}`);
    }
  }
}

function checkIndex(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${what} must be an integer from 0 to 2^53 - 1, got ${value}`);
  }
}

/**
 * Put the stream numbered `stream` at its start: seed * A^stream mod m, clamped to 1..m-1.
 *
 * @param S state array
 * @param at index of the stream's first double
 * @param stream 0 to 2^53 - 1
 * @throws RangeError for a seed or a stream number that is not such an integer
 */
export function seedStream(S: Float64Array, at: number, seeds: Seeds, stream: number): void {
  seedStreams(S, at, STREAM_WORDS, seeds, stream, 1);
}

/**
 * Put `count` streams, from number `first` on and `every` apart, at their starts; the i-th one goes to
 * index `at + i * stride`. One multiplication per component and stream.
 *
 * @throws RangeError as {@link seedStream}, or when `S` is too short
 */
export function seedStreams(
  S: Float64Array,
  at: number,
  stride: number,
  seeds: Seeds,
  first: number,
  count: number,
  every = 1,
): void {
  checkSeeds(seeds);
  checkIndex(first, 'a stream number');
  checkIndex(every, 'a distance of streams');
  checkIndex(first + Math.max(count - 1, 0) * every, 'a stream number');
  if (count > 0 && at + (count - 1) * stride + STREAM_WORDS > S.length) {
    throw new RangeError(`the state array is too short for ${count} random streams`);
  }
  for (let j = 0; j < STREAM_WORDS; j++) {
    const m = MODULI[j] as number;
    const base = STREAM_MULTIPLIERS[j] as number;
    const step = powMod(base, every, m);
    let x = mulMod((seeds[j] as number) % m, powMod(base, first, m), m);
    for (let i = 0, p = at + j; i < count; i++, p += stride) {
      S[p] = clamp(x, m);
      x = mulMod(x, step, m);
    }
  }
}

/**
 * Put the streams numbered `from + id` for every id of `ids` at their starts, at `at` and every `stride` from there. Where
 * ids are equally far apart, a stream costs a multiplication, not a power.
 *
 * @throws RangeError as {@link seedStreams}
 */
export function seedStreamsOf(
  S: Float64Array,
  at: number,
  stride: number,
  seeds: Seeds,
  ids: Int32Array,
  from: number,
): void {
  for (let k = 0; k < ids.length; ) {
    const every = Math.max(1, ids[k + 1] - ids[k] || 1);
    let n = 1;
    while (k + n < ids.length && ids[k + n] === ids[k] + n * every) n++;
    seedStreams(S, at + k * stride, stride, seeds, from + ids[k], n, every);
    k += n;
  }
}

/**
 * Draw one uniform number and advance the stream by one step.
 *
 * The value lies strictly between 0 and 1 except in about one draw of 2^53, where rounding may
 * give an end point; ROSS has the same property.
 */
export function next(S: Float64Array, at: number): number {
  let s = S[at] as number;
  let x = 45991 * s;
  x -= Math.floor(s * Q0) * M0;
  S[at] = x;
  let u = x * N0;

  s = S[at + 1] as number;
  x = 207707 * s;
  x -= Math.floor(s * Q1) * M1;
  S[at + 1] = x;
  // The sums leave (0, 1) by less than 1, so floor is the conditional +-1 of the definition.
  u -= x * N1;
  u -= Math.floor(u);

  s = S[at + 2] as number;
  x = 138556 * s;
  x -= Math.floor(s * Q2) * M2;
  S[at + 2] = x;
  u += x * N2;
  u -= Math.floor(u);

  s = S[at + 3] as number;
  x = 49689 * s;
  x -= Math.floor(s * Q3) * M3;
  S[at + 3] = x;
  u -= x * N3;
  return u - Math.floor(u);
}

/**
 * As {@link next}, on a stream that is kept one step ahead of its draws: where `next` would step and give the number
 * of the new state, this gives the number of the state as it is, and then steps. So nobody waits for the step,
 * a third of a draw's time. `previous` and `jump` move such a stream too.
 */
export function nextAhead(S: Float64Array, at: number): number {
  const a = S[at] as number;
  const b = S[at + 1] as number;
  const c = S[at + 2] as number;
  const d = S[at + 3] as number;
  let u = a * N0 - b * N1;
  u -= Math.floor(u);
  u += c * N2;
  u -= Math.floor(u);
  u -= d * N3;
  S[at] = 45991 * a - Math.floor(a * Q0) * M0;
  S[at + 1] = 207707 * b - Math.floor(b * Q1) * M1;
  S[at + 2] = 138556 * c - Math.floor(c * Q2) * M2;
  S[at + 3] = 49689 * d - Math.floor(d * Q3) * M3;
  return u - Math.floor(u);
}

/** Take one draw back: the state becomes exactly what it was before the last {@link next}. */
export function previous(S: Float64Array, at: number): void {
  let s = S[at] as number;
  let t = B0H * s;
  t = (t - Math.floor(t * N0) * M0) * 65536 + B0L * s;
  S[at] = t - Math.floor(t * N0) * M0;

  s = S[at + 1] as number;
  t = B1H * s;
  t = (t - Math.floor(t * N1) * M1) * 65536 + B1L * s;
  S[at + 1] = t - Math.floor(t * N1) * M1;

  s = S[at + 2] as number;
  t = B2H * s;
  t = (t - Math.floor(t * N2) * M2) * 65536 + B2L * s;
  S[at + 2] = t - Math.floor(t * N2) * M2;

  s = S[at + 3] as number;
  t = B3H * s;
  t = (t - Math.floor(t * N3) * M3) * 65536 + B3L * s;
  S[at + 3] = t - Math.floor(t * N3) * M3;
}

/**
 * Move the stream by `n` draws, backwards if `n` is negative, in about 31 squarings.
 *
 * @throws RangeError when `n` is not a safe integer
 */
export function jump(S: Float64Array, at: number, n: number): void {
  if (!Number.isSafeInteger(n)) {
    throw new RangeError(`a jump must be a whole number of draws, got ${n}`);
  }
  for (let j = 0; j < STREAM_WORDS; j++) {
    const m = MODULI[j] as number;
    let e = n % (m - 1);
    if (e < 0) e += m - 1;
    const a = powMod(MULTIPLIERS[j] as number, e, m);
    S[at + j] = mulMod(S[at + j] as number, a, m);
  }
}
