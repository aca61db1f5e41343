// Three reasons why an importance ratio leaves 1 (catalogue B12): updates since the rollout, a sampler whose weights are
// older, and a sampler that computes other probabilities. Exact gradients over three actions, without a clip.
import { logSoftmax } from "./grpo.mjs";
import { ascend } from "./policy_gradient.mjs";

export const START = [0.5, 0.3, 0.2];
export const REWARDS = [1, 0, 0];
const STEP = 0.1;
const SHIFT = 20; // of the logits: a softmax does not see it, bfloat16 does
const COARSE = 1 / 8; // between two numbers from 16 to 32 in bfloat16

/** What a sampler makes of the probabilities (A,) that its weights stand for. */
export const ENGINES = {
  same: (policy) => policy,
  bfloat16: (policy) => logSoftmax(policy.map((p) => COARSE * Math.round((SHIFT + Math.log(p)) / COARSE))).map(Math.exp),
  top2: (policy) => {
    const least = Math.min(...policy);
    return policy.map((p) => (p === least ? 0 : p / (1 - least)));
  },
};

/** The policy after a number of updates. */
function policyAfter(updates) {
  let policy = START;
  for (let i = 0; i < updates; i++) policy = ascend(policy, REWARDS, STEP);
  return policy;
}

/**
 * Probabilities (A,) when a token was drawn and scored: { sampler, old, now }, and the factors { engine, age, updates } (A,)
 * whose product is now / sampler. Where the sampler never draws an action, engine is Infinity.
 */
export function ratioSource({ age, updates, engine }) {
  const [stale, old, now] = [0, age, age + updates].map(policyAfter);
  const sampler = ENGINES[engine](stale);
  const over = (first, second) => first.map((p, a) => p / second[a]);
  return { sampler, old, now, factors: { engine: over(stale, sampler), age: over(old, stale), updates: over(now, old) } };
}
