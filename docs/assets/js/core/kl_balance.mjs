// Where reward and KL penalty balance in the bandit (catalogue W18).
import { klDivergence } from "./grpo.mjs";

/**
 * KL to the uniform start at which, on average, reward and KL penalty pull equally hard, for advantages that are not
 * divided by the standard deviation: the KL of softmax(c * reward / klCoef). Subtracting the group's own mean leaves
 * c = 1 - 1 / G of the pull.
 */
export function balanceKl(rewardTable, { groupSize, klCoef }) {
  const scores = rewardTable.map((reward) => ((1 - 1 / groupSize) * reward) / klCoef);
  const top = Math.max(...scores);
  const logTotal = top + Math.log(scores.reduce((total, score) => total + Math.exp(score - top), 0));
  return klDivergence(scores.map((score) => score - logTotal), scores.map(() => -Math.log(scores.length)));
}
