// Whether a number that a reader has entered is the one that is meant.

/** "1.6", "1,6" and "+1.60 GB" are 1.6; NaN where no number is. */
export const parseNumber = (text) => parseFloat(text.trim().replace("\u2212", "-").replace(",", "."));

/** Whether a text is a number, with all its digits or rounded: to one place after the point at least. */
export function isAnswer(text, meant) {
  const [entered, target] = [text, meant].map(parseNumber);
  const [given, whole] = [text, meant].map((number) => Math.max(1, /[.,](\d*)/.exec(number)?.[1].length ?? 0));
  return Math.sign(entered) === Math.sign(target) && Math.abs(entered - target) <= 0.5000001 * 10 ** -Math.min(given, whole);
}
