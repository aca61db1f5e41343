// What the film of the home page shows: rounds of GRPO on one question. Each draws a group of eight answers from the
// policy, scores them with 1 or 0, and takes a step; the next round draws from the policy that came out.
import { answerLogp, RIGHT } from "./answers.mjs";
import { groupAdvantages, logSoftmax, policyStep } from "./grpo.mjs";
import { makeRng, sampleCategorical } from "./rng.mjs";

export const GROUP = 8;
const SEED = 247; // its groups have from one to eight right answers
const ROUNDS = 6;
const RATE = 0.9;

/**
 * The rounds: { before, after } are probabilities of the five answers, `draws` the uniform numbers that chose `actions`
 * (places in ANSWERS), and rewards and what groupAdvantages says of them; all four lists have GROUP entries.
 */
export function rounds() {
  const random = makeRng(SEED);
  const start = answerLogp(1);
  let logits = start;
  return Array.from({ length: ROUNDS }, () => {
    const before = logSoftmax(logits).map(Math.exp);
    const draws = Array.from({ length: GROUP }, () => random());
    const actions = draws.map((u) => sampleCategorical(before, u));
    const rewards = actions.map((action) => Number(action === RIGHT));
    const group = groupAdvantages(rewards);
    logits = policyStep(logits, actions, group.advantages, start, { lr: RATE }).logits;
    return { before, after: logSoftmax(logits).map(Math.exp), draws, actions, rewards, ...group };
  });
}
