/**
 * Gamma function for arguments from 1 on, bit-identical on every JavaScript engine.
 *
 * Method: Gamma(x) = Gamma(x + n) / (x (x + 1) ... (x + n - 1)) with x + n >= 10, and Stirling's
 * series for log Gamma(x + n). The sums are carried with twice the precision of a double, because
 * the exponential turns absolute errors of its argument into relative errors of the result.
 */
import { add, type DoubleDouble, multiply, twoProduct, twoSum } from './double-double.ts';
import { expOfSum } from './exp.ts';
import { logParts } from './log-parts.ts';
import { HALF_LOG_TAU } from './table-data.ts';

const LOG = new Float64Array(2);

/**
 * Gamma(x) for x >= 1, error below 1.6 ulp.
 *
 * @returns Infinity above 171.6; NaN for x < 1, which is not supported, and for NaN
 */
export function gammaFunction(x: number): number {
  if (!(x >= 1)) return Number.NaN;
  if (x > 172) return Number.POSITIVE_INFINITY;
  let w: DoubleDouble = [x, 0];
  let product: DoubleDouble = [1, 0];
  for (let n = 0; w[0] < 10; ) {
    product = multiply(product, w);
    n += 1;
    w = twoSum(x, n);
  }
  logParts(w[0], LOG);
  const logW: DoubleDouble = [LOG[0] as number, LOG[1] as number];
  // (w - 1/2) log w - w + log(2 pi)/2 for the leading part of w ...
  const [p, pError] = twoProduct(w[0] - 0.5, logW[0]);
  let sum: DoubleDouble = twoSum(p, pError + (w[0] - 0.5) * logW[1]);
  sum = add(add(sum, [-w[0], 0]), HALF_LOG_TAU);
  // ... plus the derivative times the rest of w, plus Stirling's correction.
  const v = 1 / w[0];
  sum = add(sum, [w[1] * (logW[0] - v / 2) + v * stirling(v * v), 0]);
  // The low part of the product is better taken off the exponent than divided by.
  return expOfSum(sum[0], sum[1] - product[1] / product[0]) / product[0];
}

/** The Stirling series B(2k) / (2k (2k - 1)) v^(2k-2), of s = v^2 <= 1/100. */
function stirling(s: number): number {
  return (
    1 / 12 +
    s *
      (-1 / 360 +
        s *
          (1 / 1260 +
            s *
              (-1 / 1680 +
                s *
                  (1 / 1188 +
                    s *
                      (-691 / 360360 +
                        s * (1 / 156 + s * (-3617 / 122400 + s * (43867 / 244188))))))))
  );
}
