// Relatives of GRPO as switches of one bandit run: the same task, start, seeds and learning rate for all of them.
//
// A sample of the bandit is one action, as if every completion had one token. What a method changes for completions of
// several tokens (how tokens are averaged, the ratio of a whole sequence) cannot show here and is no switch. RLOO itself
// makes one update without a ratio; here it makes as many as the others, with a ratio, so that it can be compared.
import { average, groupAdvantages, logSoftmax, policyStep } from "./grpo.mjs";
import { makeRng, sampleCategorical } from "./rng.mjs";
import { firstAbove, median, summary } from "./curves.mjs";

const GRPO = { divideByStd: true, leaveOneOut: false, clipEps: 0.2, clipEpsHigh: 0.2, dynamicSampling: false };

export const VARIANTS = {
  GRPO,
  "Dr. GRPO": { ...GRPO, divideByStd: false },
  RLOO: { ...GRPO, divideByStd: false, leaveOneOut: true, clipEps: null, clipEpsHigh: null },
  DAPO: { ...GRPO, clipEpsHigh: 0.28, dynamicSampling: true },
};

/**
 * Dynamic sampling gives up after so many groups with equal rewards, or a finished policy would never make a step. DAPO
 * itself draws other prompts; a bandit has only one.
 */
export const MOST_DRAWS = 20;

/** Advantages as groupAdvantages has them; leaveOneOut compares each reward with the mean of the other ones. */
export function variantAdvantages(rewards, variant) {
  const { advantages, zeroSignal } = groupAdvantages(rewards, variant);
  const factor = variant.leaveOneOut ? rewards.length / (rewards.length - 1) : 1;
  return { advantages: advantages.map((advantage) => factor * advantage), zeroSignal };
}

/**
 * A run, from the uniform policy or from startLogits (K,): { policy, lost, samples, clipFraction }. Row t of policy (K,) comes after t steps; lost
 * counts the steps whose group had equal rewards, samples all that were drawn; clipFraction is the mean over the steps.
 */
export function variantRun(variant, { rewardTable, startLogits, groupSize, lr, innerSteps, steps }, seed) {
  const random = makeRng(seed);
  const start = startLogits ?? rewardTable.map(() => 0);
  const options = { ...variant, lr, innerSteps };
  const found = { policy: [logSoftmax(start).map(Math.exp)], lost: 0, samples: 0, clipFraction: 0 };
  let logits = start;
  for (let step = 0; step < steps; step++) {
    let draws = 0;
    let actions, group;
    do {
      actions = Array.from({ length: groupSize }, () => sampleCategorical(found.policy[step], random()));
      group = variantAdvantages(actions.map((action) => rewardTable[action]), variant);
      draws += 1;
    } while (variant.dynamicSampling && group.zeroSignal && draws < MOST_DRAWS);
    const update = policyStep(logits, actions, group.advantages, start, options);
    logits = update.logits;
    found.policy.push(update.logp.map(Math.exp));
    found.lost += Number(group.zeroSignal);
    found.samples += draws * groupSize;
    found.clipFraction += update.clipFraction / steps;
  }
  return found;
}

/**
 * What many runs come to, for the action at place `best`: the curve of its probability, where it ends, the first step over
 * 0.5 (median; Infinity: never), and means of the counts.
 */
export function outcome(runs, best) {
  const curves = runs.map(({ policy }) => policy.map((probabilities) => probabilities[best]));
  const mean = (name) => average(runs.map((run) => run[name]));
  const curve = summary(curves, 0);
  return {
    curve,
    end: curve.values.at(-1),
    half: median(curves.map((each) => firstAbove(each, 0.5))),
    clipFraction: mean("clipFraction"),
    lost: mean("lost"),
    samples: mean("samples"),
  };
}
