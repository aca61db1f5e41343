// Exponential and logarithm out of +, -, * and / alone, which IEEE 754 fixes to the last bit. Math.exp differs between
// engines in its last bit, and a training run would carry that difference on: with these, a link is the same run everywhere.
const LN2_HIGH = 6.93147180369123816490e-1; // so few digits that k * LN2_HIGH is exact
const LN2_LOW = 1.90821492927058770002e-10;
const LN2 = LN2_HIGH + LN2_LOW;
const POWERS = Float64Array.from({ length: 2098 }, (_, k) => 2 ** (k - 1074)); // 2^-1074 to 2^1023
const OVER_FACTORIAL = Float64Array.from({ length: 14 }, (_, n) => Array.from({ length: n }, (_, i) => i + 1).reduce((a, b) => a * b, 1)).map((x) => 1 / x);

/** exp(x) to about 1e-16, relative; 0 below the smallest number, Infinity above the largest. */
export function exp(x) {
  if (!(x > -745)) return Number.isNaN(x) ? NaN : 0;
  if (x > 709) return Infinity;
  const k = Math.round(x / LN2);
  const r = x - k * LN2_HIGH - k * LN2_LOW; // at most ln 2 / 2 away from 0
  let sum = OVER_FACTORIAL[13];
  for (let n = 12; n >= 0; n--) sum = sum * r + OVER_FACTORIAL[n];
  return sum * POWERS[k + 1074];
}

/** exp(x) - 1, without losing digits near 0. */
export function expm1(x) {
  if (Math.abs(x) > 0.3) return exp(x) - 1;
  let sum = OVER_FACTORIAL[13];
  for (let n = 12; n >= 1; n--) sum = sum * x + OVER_FACTORIAL[n];
  return sum * x;
}

/** Natural logarithm of a number from 1 to 2^53. */
export function log(x) {
  let k = 0;
  let m = x;
  for (; m > Math.SQRT2; k++) m *= 0.5;
  const s = (m - 1) / (m + 1);
  const square = s * s;
  let sum = 0;
  for (let n = 23; n >= 1; n -= 2) sum = sum * square + 1 / n;
  return 2 * s * sum + k * LN2_LOW + k * LN2_HIGH;
}
