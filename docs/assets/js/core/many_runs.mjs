// Many runs of the bandit with different seeds.
import { bestAction, run } from "./bandit.mjs";

export { firstAbove, median, summary } from "./curves.mjs";

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
