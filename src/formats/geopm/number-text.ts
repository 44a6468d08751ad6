/** Numbers as C and C++ print them: `%g` in reports, `%.16g` in traces. */

/** Powers of ten. */
const TENS = Float64Array.from({ length: 16 }, (_, k) => Number(`1e${k}`));

/**
 * Whether `x` (D.DDDe`exponent`, or the power of ten above it) lies exactly between two numbers of `digits` significant
 * digits; C then takes the even one. Measured values are hardly ever such a tie, and the first lines find that out fast: a
 * number whose last decimal digit is a 5, after j other digits of its fraction, is an odd multiple of 2^-j.
 */
function isTie(x: number, digits: number, exponent: number): boolean {
  const places = Math.max(0, digits - exponent + 1);
  if (!Number.isInteger(x * 2 ** places)) return false;
  // So many digits that they show the exact value of the double.
  const figures = x.toExponential(100).split('e')[0].replace(/[-.]/g, '');
  return /^50*$/.test(figures.slice(digits));
}

/** `x` rounded to `digits` significant digits, in the form D.DDDe±X. */
function rounded(x: number, digits: number): string {
  const up = x.toExponential(digits - 1);
  const e = up.indexOf('e');
  if (!isTie(x, digits, Number(up.slice(e + 1)))) return up;
  const mantissa = up.slice(0, e);
  const last = Number(mantissa[mantissa.length - 1]);
  // toExponential rounds a tie up. If the last digit is then odd, the even neighbour is one less, towards zero.
  return last % 2 === 0 ? up : mantissa.slice(0, -1) + (last - 1) + up.slice(mantissa.length);
}

/** Like `printf("%.{digits}g", x)`: the shorter of fixed and scientific form, without trailing zeros. */
export function generalText(x: number, digits = 6): string {
  if (Number.isInteger(x) && Math.abs(x) < TENS[Math.min(digits, 15)]) {
    return Object.is(x, -0) ? '-0' : String(x);
  }
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return x < 0 ? '-inf' : 'inf';
  const sign = x < 0 ? '-' : '';
  const text = rounded(Math.abs(x), digits);
  const e = text.indexOf('e');
  const exponent = Number(text.slice(e + 1));
  const all = text[0] + text.slice(2, e);
  let length = all.length;
  while (length > 1 && all[length - 1] === '0') length--;
  const figures = all.slice(0, length);
  if (exponent < -4 || exponent >= digits) {
    const rest = length > 1 ? `.${figures.slice(1)}` : '';
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${figures[0]}${rest}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${figures}`;
  if (length <= exponent + 1) return sign + figures.padEnd(exponent + 1, '0');
  return `${sign}${figures.slice(0, exponent + 1)}.${figures.slice(exponent + 1)}`;
}
