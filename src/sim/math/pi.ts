/**
 * Pi, from Machin's formula 16 arctan(1/5) - 4 arctan(1/239) in big integers at module load, and
 * the splits of it that the trigonometric and gamma functions use.
 */
import type { DoubleDouble } from './double-double.ts';

const BITS = 220;
/** 2^(BITS / 2). */
const HALF_SCALE = Number(1n << BigInt(BITS / 2));

/** arctan(1/n) * 2^BITS by its power series. */
function arctanOfInverse(n: bigint): bigint {
  let power = (1n << BigInt(BITS)) / n;
  let sum = power;
  for (let k = 3n; power !== 0n; k += 2n) {
    power = -power / (n * n);
    sum += power / k;
  }
  return sum;
}

let rest = 16n * arctanOfInverse(5n) - 4n * arctanOfInverse(239n);
const SCALED_PI = rest;

/** The next part of `rest` as a double, cut after the bit worth 2^-places if that is given. */
function take(places?: number): number {
  const kept =
    places === undefined ? rest : (rest >> BigInt(BITS - places)) << BigInt(BITS - places);
  const part = Number(kept);
  rest -= BigInt(part);
  return part / HALF_SCALE / HALF_SCALE;
}

/** Pi as a sum of two doubles. */
export const PI: DoubleDouble = [take(), take()];

rest = SCALED_PI / 2n;
/** pi/2 as a sum of four doubles; the products of the first three with 20-bit integers are exact. */
export const QUARTER: readonly [number, number, number, number] = [
  take(32),
  take(65),
  take(98),
  take(),
];
