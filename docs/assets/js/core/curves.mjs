// What curves of many runs have in common.
import { average } from "./grpo.mjs";

/** The lower of the two middle values, so that a step is a whole number and Infinity stays what it is. */
export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)];

/** First step at which a curve is above a level; Infinity if none. */
export function firstAbove(curve, level) {
  const step = curve.findIndex((x) => x > level);
  return step < 0 ? Infinity : step;
}

/** Mean of many curves at every step, and a band { low, high } that leaves out the share `beyond` at each end. */
export function summary(curves, beyond = 0.1) {
  const line = { values: [], low: [], high: [] };
  for (let t = 0; t < curves[0].length; t++) {
    const at = curves.map((curve) => curve[t]).sort((a, b) => a - b);
    line.values.push(average(at));
    line.low.push(at[Math.floor(beyond * (at.length - 1))]);
    line.high.push(at[Math.ceil((1 - beyond) * (at.length - 1))]);
  }
  return line;
}
