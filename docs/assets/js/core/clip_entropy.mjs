// What the upper end of the clip does to entropy (catalogue B16): runs of the ten-action bandit with real samples, from an even
// policy or from one that is sure of the second-best action.
import { entropy } from "./grpo.mjs";
import { expectedRewards } from "./many_runs.mjs";
import { VARIANTS, variantRun } from "./variants.mjs";

const SETTINGS = { groupSize: 8, lr: 0.5, innerSteps: 4 };

/** Rewards (10,), and logits (10,) at the start. */
export const STARTS = {
  even: { rewardTable: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], startLogits: Array(10).fill(0) },
  sure: { rewardTable: [0.8, 1, 0, 0, 0, 0, 0, 0, 0, 0], startLogits: [4, ...Array(9).fill(0)] },
};

/** One run: entropy in nats and expected reward before the first step and after each, (steps + 1,). */
export function entropyRun(name, clipEpsHigh, { steps, seed }) {
  const { policy } = variantRun({ ...VARIANTS.GRPO, clipEpsHigh }, { ...SETTINGS, ...STARTS[name], steps }, seed);
  return {
    entropy: policy.map((probabilities) => entropy(probabilities.map(Math.log))),
    reward: expectedRewards(policy, STARTS[name].rewardTable),
  };
}
