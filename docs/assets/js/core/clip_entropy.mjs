// What the upper end of the clip does to entropy (catalogue B16): runs of the ten-action bandit with real samples, from an even
// policy or from one that is sure of the second-best action.
import { entropy, groupAdvantages, logSoftmax, policyStep, sum } from "./grpo.mjs";
import { makeRng, sampleCategorical } from "./rng.mjs";

const OPTIONS = { clipEps: 0.2, lr: 0.5, innerSteps: 4 };
const GROUP = 8;

/** Rewards (10,) and logits (10,) at the start. */
export const STARTS = {
  even: { rewards: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], logits: Array(10).fill(0) },
  sure: { rewards: [0.8, 1, 0, 0, 0, 0, 0, 0, 0, 0], logits: [4, ...Array(9).fill(0)] },
};

/** One run: entropy in nats and expected reward before the first step and after each, (steps + 1,). */
export function entropyRun(name, clipEpsHigh, { steps, seed }) {
  const { rewards, logits: start } = STARTS[name];
  const random = makeRng(seed);
  const found = { entropy: [], reward: [] };
  let logits = start;
  for (let step = 0; ; step++) {
    const logp = logSoftmax(logits);
    const policy = logp.map(Math.exp);
    found.entropy.push(entropy(logp));
    found.reward.push(sum(policy.map((p, a) => p * rewards[a])));
    if (step === steps) return found;
    const actions = Array.from({ length: GROUP }, () => sampleCategorical(policy, random()));
    const { advantages } = groupAdvantages(actions.map((action) => rewards[action]), { divideByStd: true });
    logits = policyStep(logits, actions, advantages, start, { ...OPTIONS, clipEpsHigh, divideByStd: true }).logits;
  }
}
