// How much of a policy gradient is signal: exact mean and spread over all groups that a policy can draw.
import { groupAdvantages, sum } from "./grpo.mjs";

const size = (vector) => Math.sqrt(sum(vector.map((x) => x * x)));

/** Ways to score the rewards (G,) of a group; `expected` is the expected reward of the policy. */
export const SCORES = {
  none: (rewards) => rewards,
  mean: (rewards) => groupAdvantages(rewards, { divideByStd: false }).advantages,
  others: (rewards) => rewards.map((reward) => reward - (sum(rewards) - reward) / (rewards.length - 1)),
  std: (rewards) => groupAdvantages(rewards).advantages,
  critic: (rewards, expected) => rewards.map((reward) => reward - expected),
};

const expectedReward = (policy, rewardTable) => sum(policy.map((p, a) => p * rewardTable[a]));

/** Gradient (K,) of the expected reward by the logits. */
export function trueGradient(policy, rewardTable) {
  const expected = expectedReward(policy, rewardTable);
  return policy.map((p, a) => p * (rewardTable[a] - expected));
}

/** Gradient (K,) by the logits that a group of actions gives. */
export function groupGradient(policy, rewardTable, actions, score) {
  const scores = score(actions.map((action) => rewardTable[action]), expectedReward(policy, rewardTable));
  const pulls = policy.map(() => 0);
  actions.forEach((action, i) => (pulls[action] += scores[i] / actions.length));
  const total = sum(pulls);
  return pulls.map((pull, a) => pull - policy[a] * total);
}

/** How far a gradient reaches in the direction of the true one. */
export const along = (gradient, truth) => sum(gradient.map((x, a) => x * truth[a])) / size(truth);

/**
 * Signal: size of the mean gradient with respect to the logits. Noise: root of the summed variances of its parts. Cosine:
 * between the mean gradient and the true gradient of the expected reward. policy and rewardTable are (K,), the policy is a softmax.
 */
export function gradientNoise(policy, rewardTable, groupSize, score) {
  const truth = trueGradient(policy, rewardTable);
  const mean = policy.map(() => 0);
  let squares = 0;
  forEachGroup(policy, groupSize, (actions, probability) => {
    groupGradient(policy, rewardTable, actions, score).forEach((gradient, a) => {
      mean[a] += probability * gradient;
      squares += probability * gradient * gradient;
    });
  });
  const signal = size(mean);
  const noise = Math.sqrt(squares - signal * signal);
  return { signal, noise, cosine: along(mean, truth) / signal };
}

/** visit(actions, probability) for every group, whatever its order: 24310 groups of 8 from ten actions. */
export function forEachGroup(policy, groupSize, visit) {
  const actions = [];
  const extend = (least, alike, probability) => { // `alike`: how often `least` is in the group already
    if (actions.length === groupSize) return visit(actions, probability);
    for (let action = least; action < policy.length; action++) {
      const times = action === least ? alike + 1 : 1;
      actions.push(action);
      extend(action, times, (probability * policy[action] * actions.length) / times);
      actions.pop();
    }
  };
  extend(0, 0, 1);
}
