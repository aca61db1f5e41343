// pass@k before and after training (catalogue B14): one policy for many problems chooses between two ways to solve them, and
// a reward for right answers trains the choice, not the ways. Everything is exact: GRPO's mean gradient, no samples.
import { binaryAdvantages, binomial } from "./binary_groups.mjs";

const LR = 0.5;
const START = 0.5; // share of the first way

/** Kinds of problems: the share of all, and the chance that a sample is right, by the first way and by the second. */
export const PROBLEMS = [
  { share: 0.6, chances: [0.5, 0.1] },
  { share: 0.2, chances: [0, 0.2] },
  { share: 0.2, chances: [0, 0] },
];

const solved = (share, [first, second]) => share * first + (1 - share) * second;

/** The mean over the problems of the chance that one of k samples is right; `share` is how often the first way is taken. */
export const passAtK = (share, k) =>
  PROBLEMS.reduce((total, { share: part, chances }) => total + part * (1 - (1 - solved(share, chances)) ** k), 0);

/** GRPO's mean gradient with respect to the logit of the first way, for one kind of problem: mean of A (taken - share). */
function pull(share, chances, groupSize) {
  const p = solved(share, chances);
  if (p === 0) return 0;
  const ofRight = (share * chances[0]) / p - share; // how much more often the first way is among the right answers
  const ofWrong = (share * (1 - chances[0])) / (1 - p) - share;
  return binomial(groupSize, p).reduce((total, chance, right) => {
    const advantages = binaryAdvantages(right, groupSize);
    return total + (chance * (right * advantages.right * ofRight + (groupSize - right) * advantages.wrong * ofWrong)) / groupSize;
  }, 0);
}

/** How often the first way is taken before the first step and after each: (steps + 1,). klCoef is the weight of KL(pi || start). */
export function shares({ steps, klCoef, groupSize = 8 }) {
  const logit = (share) => Math.log(share / (1 - share));
  const found = [START];
  while (found.length <= steps) {
    const share = found.at(-1);
    const reward = PROBLEMS.reduce((total, { share: part, chances }) => total + part * pull(share, chances, groupSize), 0);
    const penalty = klCoef * share * (1 - share) * (logit(share) - logit(START));
    found.push(1 / (1 + Math.exp(-(logit(share) + LR * (reward - penalty)))));
  }
  return found;
}
