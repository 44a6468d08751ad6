/** Numbers as C and C++ print them: `%g` in reports, `%.16g` in traces. */

/** Whether `x` lies exactly between two numbers of `digits` significant digits: C then takes the even one. */
function isTie(x: number, digits: number): boolean {
  if (!/5(e|$)/.test(x.toPrecision(digits + 1))) return false;
  // More digits than rounding could hide anything behind.
  const figures = x.toExponential(100).split('e')[0].replace(/[-.]/g, '');
  return /^50*$/.test(figures.slice(digits));
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
