// Which known mistakes give these numbers? Compares numbers that a reader pastes, in any notation, with the recorded
// answers to worked examples (.ci/site_steps/finder.py).

const AROUND = /\b(?:dtype|device|requires_grad|grad_fn|size|shape)\s*=\s*(?:<[^>]*>?|'[^']*'|"[^"]*"|\([^)]*\)|[\w.:]+)/gi;
const PROMPT = /^\s*(?:>>>|\.\.\. ).*$|^\s*In ?\[\d+\]:.*$|^\s*expected\b.*$|\bOut ?\[\d+\]:/gim;
const WORD_OR_NUMBER = /([-+\u2212]?)(?:([a-z_][\w.]*)|((?:\d+\.?\d*|\.\d+)(?:e[-+\u2212]?\d+)?))/gi;
const WORDS = { nan: NaN, inf: Infinity, infinity: Infinity, true: 1, false: 0 };
const LISTED = 3;

/**
 * The numbers in a text: [{ value, near }], where `near` is how far a printed number may be from the true one. Of a tuple
 * with a dictionary these are the numbers before the dictionary.
 */
export function numbersIn(text) {
  const found = [];
  for (const [, sign, word, digits] of text.split(/,\s*\{/)[0].replace(PROMPT, " ").replace(AROUND, " ").matchAll(WORD_OR_NUMBER)) {
    const factor = sign && sign !== "+" ? -1 : 1;
    if (digits) found.push({ value: factor * Number(digits.replace("\u2212", "-")), near: nearOf(digits) });
    else {
      const value = WORDS[word.split(".").at(-1).toLowerCase()];
      if (value !== undefined) found.push({ value: factor * value, near: 1e-9 });
    }
  }
  return found;
}

function nearOf(digits) {
  const [, decimals = "", exponent = "0"] = digits.replace("\u2212", "-").match(/\.?(\d*)(?:e([-+]?\d+))?$/i) ?? [];
  const places = digits.includes(".") ? decimals.length : 0;
  return Math.max(places ? 0.51 * 10 ** (Number(exponent) - places) : 0, 6e-5 * Math.abs(Number(digits.replace("\u2212", "-"))), 1e-9);
}

/**
 * What the numbers can be, the likeliest first: [{ entry, call, right, sets, more, teller, whole, values }]. `entry` is of a
 * function; `sets` are the smallest sets of known mistakes with these numbers, at most three, `more` counts the others,
 * and `teller` is a call in which they differ. Fewer numbers than an answer has must be one of its rows. With `only`,
 * numbers are those of one call.
 */
export function matches(numbers, entries, only = null) {
  const found = entries.flatMap((entry) => (only ? [only] : entry.calls).flatMap((call) => matchOf(numbers, entry, call) ?? []));
  const order = ({ right, sets }) => (right ? 0 : sets[0].length);
  const smallest = Math.min(...found.filter(({ right }) => !right).map(order));
  const small = found.filter((match) => order(match) <= smallest);
  const whole = small.filter((match) => match.whole);
  return (whole.length ? whole : small).sort((one, other) => order(one) - order(other)); // else in the order of the calls
}

function matchOf(numbers, entry, call) {
  const shared = { entry, call, whole: true, right: false, sets: [], more: 0, teller: null };
  const isWhole = (values) => numbers.length === values.length;
  if (rowDistance(numbers, call.right) !== null) return { ...shared, right: true, whole: isWhole(call.right), values: call.right };
  const near = call.alone.map(([values, made]) => ({ values, made, off: rowDistance(numbers, values) }))
    .filter(({ off }) => off !== null).sort((one, other) => one.off - other.off);
  if (near.length) {
    const sets = near.flatMap(({ made }) => made).map((mistake) => [mistake]);
    return { ...shared, ...listed(sets, 0, tellerOf(entry, call, sets)), whole: isWhole(near[0].values), values: near[0].values };
  }
  const sets = call.sets.filter(([odd, sums]) => hasPrint(numbers, odd.includes(":") ? odd : `${call.right.length}:${odd}`, sums));
  if (!sets.length) return null;
  const smallest = sets.filter(([, , [first]]) => first.length === sets[0][2][0].length);
  const rest = smallest.reduce((sum, [, , , more = 0]) => sum + more, 0);
  return { ...shared, ...listed(smallest.flatMap(([, , made]) => made), rest, entry.calls[smallest[0][4] ?? -1] ?? null), values: numbers.map(({ value }) => value) };
}

const listed = (sets, rest, teller) => ({ sets: sets.slice(0, LISTED), more: rest + sets.slice(LISTED).length, teller: sets.length + rest > 1 ? teller : null });

/** Known mistakes that give these numbers where they are right, each with a call where it differs: null if none does. */
export function hiddenIn(entry, call, numbers) {
  const shown = new Set(call.alone.flatMap(([values, made]) => (rowDistance(numbers, values) === null ? made : [])));
  return entry.mistakes.map((_, mistake) => mistake).filter((mistake) => !shown.has(mistake))
    .map((mistake) => ({ mistake, teller: entry.calls.find((other) => other !== call && outcome(other, mistake) >= 0) ?? null }));
}

/** The call in which most of some known mistakes have numbers of their own. */
function tellerOf(entry, call, sets) {
  const count = (other) => new Set(sets.map(([mistake]) => outcome(other, mistake))).size;
  const best = entry.calls.filter((other) => other !== call).sort((one, other) => count(other) - count(one))[0];
  return best && count(best) > 1 ? best : null;
}

const outcome = (call, mistake) => call.alone.findIndex(([, made]) => made.includes(mistake));

/** Mean distance from an answer or one of its rows, in units of what printing allows; null if a number is too far away. */
function rowDistance(numbers, values) {
  if (numbers.length < 2 && values.length > 1) return null;
  for (let from = 0; from + numbers.length <= values.length; from += numbers.length) {
    const off = distance(numbers, values.slice(from, from + numbers.length));
    if (off !== null) return off;
  }
  return null;
}

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

/** Whether the numbers have recorded sums; `_print` in grader/grading/differences.py makes them. */
function hasPrint(numbers, odd, sums) {
  const text = ({ value }, place) => (Number.isFinite(value) ? "" : `${place}${String(value).toLowerCase().replace("inity", "")}`);
  if (numbers.map(text).filter(Boolean).join(" ") !== odd.split(":")[1] || numbers.length !== parseInt(odd)) return false;
  const finite = numbers.map(({ value, near }) => (Number.isFinite(value) ? { value, near } : { value: 0, near: 0 }));
  return sums.every((sum, row) => {
    const factors = signs(numbers.length, row);
    const total = finite.reduce((before, { value }, i) => before + factors[i] * value, 0);
    const allowed = finite.reduce((before, { value, near }, i) => before + Math.abs(factors[i]) * near + 2e-5 * Math.abs(value), 0);
    return Math.abs(total - sum) <= allowed + (row ? 6e-3 : 6e-5) * Math.abs(sum);
  });
}

/** The factors of a sum: `_signs` in grader/grading/differences.py. */
function signs(size, row) {
  return Array.from({ length: size }, (_, i) => {
    const turn = ((i + 1) * (row ? (Math.sqrt(5) - 1) / 2 : Math.SQRT2)) % 1;
    return (((i + 1) * Math.sqrt(3 + row)) % 1 < 0.5 ? -1 : 1) * (0.5 + turn);
  });
}
