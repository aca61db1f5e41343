// The policy gradient of a softmax policy over K actions, with respect to its logits: exact, and as the groups that a
// policy may draw would estimate it. Policies and rewards are (K,), probabilities sum to 1.
import { forEachGroup, SCORES } from "./gradient_noise.mjs";
import { logSoftmax, sum } from "./grpo.mjs";

/** The reward that a sample of the policy earns on average: J. */
export const expectedReward = (policy, rewards) => sum(policy.map((p, a) => p * rewards[a]));

/** The gradient of the expected reward with respect to the logits: pi_j (r_j - J). */
export function policyGradient(policy, rewards) {
  const expected = expectedReward(policy, rewards);
  return policy.map((p, a) => p * (rewards[a] - expected));
}

/** The policy after one step of gradient ascent on the expected reward; `lr` is its size. */
export function ascend(policy, rewards, lr) {
  const gradient = policyGradient(policy, rewards);
  return logSoftmax(policy.map((p, a) => Math.log(p) + lr * gradient[a])).map(Math.exp);
}

/** What may be subtracted from the rewards (G,) of a group; `number` is the fixed one. */
export const BASELINES = {
  number: (rewards, number) => rewards.map((reward) => reward - number),
  group: SCORES.mean,
  others: SCORES.others, // not a number for a group of one
};

/**
 * Every group that the policy may draw, whatever its order, with the gradient by which it would move the logits:
 * [{ actions, probability, gradient }], the gradient being the mean of (reward - baseline) * grad log pi.
 */
export function groupGradients(policy, rewards, groupSize, baseline, number = 0) {
  const found = [];
  forEachGroup(policy, groupSize, (actions, probability) => {
    const scores = BASELINES[baseline](actions.map((action) => rewards[action]), number);
    const pulls = policy.map(() => 0);
    actions.forEach((action, i) => (pulls[action] += scores[i] / groupSize));
    const total = sum(pulls);
    found.push({ actions: [...actions], probability, gradient: pulls.map((pull, a) => pull - policy[a] * total) });
  });
  return found;
}

/** Mean (K,) of gradients with probabilities, and their variance: the mean squared distance from it. */
export function spread(gradients) {
  const mean = gradients[0].gradient.map((_, a) => sum(gradients.map(({ probability, gradient }) => probability * gradient[a])));
  const variance = sum(gradients.map(({ probability, gradient }) =>
    probability * sum(gradient.map((x, a) => (x - mean[a]) ** 2))));
  return { mean, variance };
}

/** Three numbers that sum to 0 (a gradient), or to 1 (a policy), in a plane, without changing any distance between them. */
export const flat = ([first, second, third]) =>
  ({ x: (third - second) / Math.SQRT2, y: (2 * first - second - third) / Math.sqrt(6) });

/** The policy at a place of that plane; some of its numbers are negative outside the triangle. */
export function unflat({ x, y }) {
  const first = 1 / 3 + (2 * y) / Math.sqrt(6);
  return [first, (1 - first) / 2 - x / Math.SQRT2, (1 - first) / 2 + x / Math.SQRT2];
}

/** The two policies at which an edge of the triangle has this expected reward: none, or both ends of a straight line. */
export function levelLine(rewards, level) {
  const edges = [[0, 1], [1, 2], [2, 0]].filter(([from, to]) => rewards[from] !== rewards[to]);
  const ends = edges.map(([from, to]) => [from, to, (level - rewards[from]) / (rewards[to] - rewards[from])])
    .filter(([, , share]) => share >= 0 && share <= 1)
    .map(([from, to, share]) => [0, 1, 2].map((a) => (a === from ? 1 - share : a === to ? share : 0)));
  const far = ends.filter((end) => Math.hypot(...end.map((p, a) => p - ends[0][a])) > 1e-9);
  return far.length ? [ends[0], far[0]] : [];
}
