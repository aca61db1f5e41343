// What the estimators k1, k2 and k3 do on average, as a value and as a loss. Nothing is sampled: the average runs over all
// K actions with the probabilities of the policy. Arguments are log-probabilities (K,).
import { klDivergence, sum } from "./grpo.mjs";
import { klEstimates } from "./loss.mjs";

/** Gradient of an estimate by log pi of its sample, with x = log ref - log pi. */
const SLOPES = { k1: () => 1, k2: (x) => -x, k3: (x) => -Math.expm1(x) };

/** Mean of the estimator `kind` and standard deviation of one sample of it. */
export function estimatorValue(kind, logp, refLogp) {
  const average = (f) => logp.reduce((total, x, j) => total + Math.exp(x) * f(klEstimates(Math.exp(x), Math.exp(refLogp[j]))[kind]), 0);
  const mean = average((k) => k);
  return { mean, std: Math.sqrt(average((k) => (k - mean) ** 2)) };
}

/** Mean gradient (K,) by the logits of the estimator as a loss: the samples are drawn, so their weights stay as they are. */
export function estimatorGradient(kind, logp, refLogp) {
  const pulls = logp.map((x, j) => Math.exp(x) * SLOPES[kind](refLogp[j] - x)); // probability times slope of each action
  const pull = sum(pulls);
  return pulls.map((x, j) => x - Math.exp(logp[j]) * pull);
}

/** Gradient (K,) of KL(pi || ref) by the logits of pi. */
export function klGradient(logp, refLogp) {
  const kl = klDivergence(logp, refLogp);
  return logp.map((x, j) => Math.exp(x) * (x - refLogp[j] - kl));
}

/** Gradient (K,) of KL(ref || pi), the other direction, by the logits of pi. */
export const reverseKlGradient = (logp, refLogp) => logp.map((x, j) => Math.exp(x) - Math.exp(refLogp[j]));
