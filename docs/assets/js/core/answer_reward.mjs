// Rewards of chapter 3: programs that read what a model wrote. They see a text and nothing else.

/** The last whole or decimal number in a text, and where it stands: { number, from, to }; null if there is none. */
export function lastNumberIn(text) {
  const found = [...text.replaceAll("\u2212", "-").matchAll(/(?<!\d)-?\d+(?:\.\d+)?/g)].at(-1);
  return found ? { number: Number(found[0]), from: found.index, to: found.index + found[0].length } : null;
}

/** The answer that the parser takes, null if there is none. */
export const lastNumber = (text) => lastNumberIn(text)?.number ?? null;

/** 1 if the last number is the expected one, else 0. */
export const accuracy = (text, expected) => Number(lastNumber(text) === expected);

/** 1 if a number stands behind "Answer:", else 0. Whether it is the right number is not asked. */
export const form = (text) => Number(/\banswer: *-?\d/i.test(text));

/** Share of the written equations "a + b = c" and "a × b = c" that are true; 0 without one. Their use is not asked. */
export function trueSteps(text) {
  const steps = [...text.matchAll(/(\d+) *([+×]) *(\d+) *= *(\d+)/g)];
  const isTrue = ([, a, sign, b, c]) => (sign === "+" ? Number(a) + Number(b) : a * b) === Number(c);
  return steps.length && steps.filter(isTrue).length / steps.length;
}

/** Places in the order of the rewards, the highest is 1; equal rewards share a place: [1, 1, 3]. */
export const ranks = (rewards) => rewards.map((reward) => 1 + rewards.filter((other) => other > reward).length);

/** Whether an answer is paid as well as one that is worth more, or better. */
export const overpaid = (rewards, worth) =>
  rewards.map((reward, i) => rewards.some((other, j) => worth[j] > worth[i] && other <= reward));
