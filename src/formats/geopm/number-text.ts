/** Numbers as C and C++ print them: `%g` in reports, `%.16g` in traces, `0x%08x` for hashes. */

/** Whether `x` lies exactly between two numbers of `digits` significant digits: C then takes the even one. */
function isTie(x: number, digits: number): boolean {
  const one = x.toPrecision(digits + 1);
  if (!/5(e|$)/.test(one)) return false;
  // A double that ends there has zeros only behind; 100 digits are more than rounding could hide.
  return /50*$/.test(x.toPrecision(100).split('e')[0]) && Number(one) === x;
}

/** `x` rounded to `digits` significant digits, in the form D.DDDe±X. */
function rounded(x: number, digits: number): string {
  const up = x.toExponential(digits - 1);
  if (!isTie(x, digits)) return up;
  const [mantissa] = up.split('e');
  if (Number(mantissa[mantissa.length - 1]) % 2 === 0) return up;
  // The neighbour towards zero, whose last digit is even.
  const down = `${mantissa.slice(0, -1)}${Number(mantissa[mantissa.length - 1]) - 1}`;
  return `${down}${up.slice(mantissa.length)}`;
}

/** As `printf("%.{digits}g", x)`: the shorter of fixed and scientific form, without trailing zeros. */
export function generalText(x: number, digits = 6): string {
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return x < 0 ? '-inf' : 'inf';
  if (x === 0) return Object.is(x, -0) ? '-0' : '0';
  const [mantissa, power] = rounded(x, digits).split('e');
  const exponent = Number(power);
  const sign = x < 0 ? '-' : '';
  const figures = mantissa.replace(/[-.]/g, '').replace(/0+$/, '');
  if (exponent < -4 || exponent >= digits) {
    const rest = figures.length > 1 ? `.${figures.slice(1)}` : '';
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${figures[0]}${rest}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${figures}`;
  const whole = figures.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const part = figures.slice(exponent + 1);
  return `${sign}${whole}${part === '' ? '' : `.${part}`}`;
}

/** A region's hash, such as 0x00c0ffee. */
export const hashText = (hash: number) => `0x${(hash >>> 0).toString(16).padStart(8, '0')}`;
