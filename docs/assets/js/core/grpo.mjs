// The arithmetic of GRPO, as in grader/simulation.py. Pure functions on arrays of numbers.
// K actions, counted from 0 here; G samples in a group; entropy and KL in nats.

const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

/** Log-probabilities (K,) of softmax(logits / temperature). */
export function logSoftmax(logits, temperature = 1) {
  const top = Math.max(...logits);
  const shifted = logits.map((logit) => logit / temperature - top / temperature);
  const logTotal = Math.log(sum(shifted.map(Math.exp)));
  return shifted.map((x) => x - logTotal);
}

/** Entropy, from log-probabilities (K,). */
export const entropy = (logp) => sum(logp.map((x) => -Math.exp(x) * x));

/** KL(pi || pi_ref), from log-probabilities (K,). */
export const klDivergence = (logp, refLogp) => sum(logp.map((x, j) => Math.exp(x) * (x - refLogp[j])));

/**
 * Advantages of rewards (G,), with mean and standard deviation. Equal rewards (zeroSignal) give exactly 0. The variance
 * divides by G - correction; without divideByStd the advantages are reward - mean (Dr. GRPO).
 */
export function groupAdvantages(rewards, { divideByStd = true, correction = 0 } = {}) {
  const zeroSignal = rewards.every((reward) => reward === rewards[0]);
  const mean = zeroSignal ? rewards[0] : sum(rewards) / rewards.length;
  const centred = rewards.map((reward) => reward - mean);
  const std = Math.sqrt(sum(centred.map((x) => x * x)) / Math.max(rewards.length - correction, 1));
  const advantages = divideByStd ? centred.map((x) => x / (std + 1e-8)) : centred;
  return { mean, std, advantages, zeroSignal };
}

/**
 * Is the ratio beyond the band, on the side to which the advantage pushes? clipEps null: never. The band ends at
 * 1 + clipEpsHigh, which is another number in DAPO only.
 */
export const binds = (ratio, advantage, clipEps, clipEpsHigh = clipEps) =>
  clipEps !== null && (advantage > 0 ? ratio > 1 + clipEpsHigh : advantage < 0 && ratio < 1 - clipEps);

/** min(ratio * A, clip(ratio) * A), which is constant where the clip binds. */
export const clippedTerm = (ratio, advantage, clipEps, clipEpsHigh = clipEps) =>
  advantage * (binds(ratio, advantage, clipEps, clipEpsHigh) ? 1 + (advantage > 0 ? clipEpsHigh : -clipEps) : ratio);

/**
 * Gradient ascent on mean(clipped term) - klCoef * KL, from the logits (K,) that drew the actions (G,). With
 * w_i = ratio_i * A_i, or 0 where the clip binds, the gradient by logit j is, divided by the temperature,
 *
 *     mean over i of w_i * ([a_i = j] - pi_j)  -  klCoef * pi_j * (log pi_j - log ref_j - KL)
 *
 * Returns the new logits and logp (K,), the ratios (G,) after the step, where (G,) and how often the clip bound in the
 * last update, and for every update what it started from: ratios, clipped (G,), kl, objective.
 */
export function policyStep(logits, actions, advantages, refLogits, options) {
  const { lr, clipEps = null, clipEpsHigh = clipEps, klCoef = 0, innerSteps = 1, temperature = 1 } = options;
  const oldLogp = logSoftmax(logits, temperature);
  const refLogp = logSoftmax(refLogits, temperature);
  let logp = oldLogp;
  let ratios = actions.map(() => 1);
  let clipped = actions.map(() => false);
  const updates = [];
  while (updates.length < innerSteps) {
    clipped = ratios.map((ratio, i) => binds(ratio, advantages[i], clipEps, clipEpsHigh));
    const pulls = logits.map(() => 0); // (K,): mean over i of w_i * [a_i = j]
    let objective = 0;
    actions.forEach((action, i) => {
      objective += clippedTerm(ratios[i], advantages[i], clipEps, clipEpsHigh) / actions.length;
      if (!clipped[i]) pulls[action] += (ratios[i] * advantages[i]) / actions.length;
    });
    const pull = sum(pulls);
    const kl = klDivergence(logp, refLogp);
    updates.push({ ratios, clipped, kl, objective: objective - klCoef * kl });
    logits = logits.map((logit, j) => {
      const gradient = pulls[j] - Math.exp(logp[j]) * (pull + klCoef * (logp[j] - refLogp[j] - kl));
      return logit + (lr / temperature) * gradient;
    });
    logp = logSoftmax(logits, temperature);
    const change = logp.map((x, j) => Math.exp(x - oldLogp[j])); // (K,)
    ratios = actions.map((action) => change[action]);
  }
  const clipFraction = sum(clipped) / actions.length;
  return { logits, logp, ratios, clipped, clipFraction, updates };
}
