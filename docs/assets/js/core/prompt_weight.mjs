// What an advantage does to prompts of different difficulty (catalogue B15): the weight of a prompt in the mean gradient, by
// the probability p that one of its answers is right. Rewards are 0 or 1, groups have G answers; exact, no samples.
import { binaryAdvantages, binomial } from "./binary_groups.mjs";

/** Advantages { right, wrong } of a group with `right` of G answers right; 0 where all are equal. */
export const METHODS = {
  "Dr. GRPO": (right, groupSize) => ({ right: 1 - right / groupSize, wrong: -right / groupSize }),
  GRPO: binaryAdvantages,
  MaxRL: (right, groupSize) => (right === 0 ? { right: 0, wrong: 0 } : { right: groupSize / right - 1, wrong: -1 }),
};

/**
 * The mean gradient is this weight times that of p: with right answers d(log p)/dp = 1 / p, with wrong ones -1 / (1 - p).
 * p is above 0 and below 1.
 */
export function promptWeight(method, p, groupSize) {
  return binomial(groupSize, p).reduce((total, chance, right) => {
    const advantages = METHODS[method](right, groupSize);
    const slope = (right * advantages.right) / p - ((groupSize - right) * advantages.wrong) / (1 - p);
    return total + (chance * slope) / groupSize;
  }, 0);
}
