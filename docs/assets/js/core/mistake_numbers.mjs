// Which known mistake gives these numbers? Compares numbers that a reader pastes, as torch prints them, with the recorded
// answers to the worked examples (grader/workshop/mistakes.py).

const NUMBER = /[-+\u2212]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?\b(?:nan|inf)\b/gi;
const AROUND = /\b(?:dtype|device|requires_grad|grad_fn)\s*=\s*(?:<[^>]*>?|'[^']*'|[\w.:]+)|torch\.(?:Size|\w*)\s*\(|torch\.\w+/gi;

/** The numbers in a text: [{ value, near }], where `near` is how far a printed number may be from the true one. */
export function numbersIn(text) {
  const found = text.replace(AROUND, " ").match(NUMBER) ?? [];
  return found.map((each) => {
    const plain = each.replace("\u2212", "-").toLowerCase();
    if (/[ni]/.test(plain)) return { value: plain.includes("nan") ? NaN : plain.startsWith("-") ? -Infinity : Infinity, near: 0 };
    const [, decimals = "", exponent = "0"] = plain.match(/\.?(\d*)(?:e([-+]?\d+))?$/) ?? [];
    const digits = plain.includes(".") ? decimals.length : 0;
    const value = Number(plain);
    return { value, near: Math.max(digits ? 0.51 * 10 ** (Number(exponent) - digits) : 0, 6e-5 * Math.abs(value), 1e-9) };
  });
}

/**
 * The worked examples in which a right or a wrong answer has these numbers, the best fit first:
 * [{ call, anchor, values, from }]; the right answer has no anchor. Fewer numbers than the answer has must be one of its rows.
 */
export function matches(numbers, { calls }) {
  const found = [];
  for (const call of calls) {
    for (const [anchor, values] of [["", call.right], ...Object.entries(call.wrong)]) {
      for (let from = 0; from + numbers.length <= values.length; from += numbers.length) {
        const error = distance(numbers, values.slice(from, from + numbers.length));
        if (error === null || (numbers.length < 2 && values.length > 1)) continue;
        found.push({ call, anchor, values, from, error: error + (numbers.length < values.length ? 1 : 0) });
        break;
      }
    }
  }
  return found.sort((one, other) => Math.round(one.error) - Math.round(other.error)); // else in the order of the examples
}

/** Mean distance in units of what printing allows; null if a number is too far away. */
function distance(numbers, values) {
  let sum = 0;
  for (const [i, { value, near }] of numbers.entries()) {
    const right = Number({ nan: NaN, inf: Infinity, "-inf": -Infinity }[values[i]] ?? values[i]);
    if (Object.is(value, right)) continue;
    const off = Math.abs(value - right);
    if (!(off <= near + 2e-5 * Math.abs(right))) return null;
    sum += off / near;
  }
  return sum / numbers.length;
}
