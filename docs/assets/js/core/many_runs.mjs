// Many runs of the bandit with different seeds, and what they have in common.
import { bestAction, run } from "./bandit.mjs";
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

/** One run for each seed from `seed` on: those of core/bandit.mjs, and `best`, the probability of the best action. */
export function manyRuns(settings, { seed = 0, seeds, steps }) {
  const best = bestAction(settings.rewardTable);
  return Array.from({ length: seeds }, (_, i) => {
    const found = run(settings, { seed: seed + i, steps });
    return { ...found, best: found.policy.map((p) => p[best]) };
  });
}

/** Mean reward that policies (each an array of K probabilities) can expect. */
export const expectedRewards = (policies, rewardTable) =>
  policies.map((policy) => policy.reduce((total, p, j) => total + p * rewardTable[j], 0));

/** Value (steps) of an actor-critic's critic before each step: it starts at 0 and follows the mean rewards (steps). */
export function criticValues(meanReward, criticLr) {
  let value = 0;
  return meanReward.map((mean) => {
    const before = value;
    value += criticLr * (mean - value);
    return before;
  });
}
