// The GRPO loss of completions and its gradient along every token's log-probability: `grpo_loss` of exercise 5, and the two
// settings of exercise 2 that it leaves out (the upper clip range, advantages without the standard deviation).
import { binds, clippedTerm } from "../grpo.mjs";
import { exp, expm1 } from "./exact.mjs";

const LARGEST = 20; // importance_ratio clamps the log-ratio to this before exp

/**
 * Terms of rows [{ old, now, ref, advantage }], whose log-probabilities have one entry for each token of the completion.
 * Settings: eps, epsHigh, beta, level and ratioLevel ("token" or "sequence").
 *
 * Returns loss, policyLoss, kl, clipFraction, and for each row its tokens { ratio, bound, k3, weight, term, push }: `term` is
 * what the token adds to the loss, `push` minus the slope of the loss along its log-probability.
 */
export function grpoLoss(rows, { eps, epsHigh = eps, beta, level, ratioLevel }) {
  const count = rows.reduce((total, { now }) => total + now.length, 0);
  let policyLoss = 0, kl = 0, bounds = 0;
  const tokens = rows.map(({ old, now, ref, advantage }) => {
    const weight = level === "token" ? 1 / count : 1 / (rows.length * now.length);
    let mean = 0;
    for (let t = 0; t < now.length; t++) mean += (now[t] - old[t]) / now.length;
    return Array.from(now, (logp, t) => {
      const change = ratioLevel === "sequence" ? mean : logp - old[t];
      const ratio = exp(Math.min(LARGEST, Math.max(-LARGEST, change)));
      const bound = binds(ratio, advantage, eps, epsHigh);
      const surrogate = clippedTerm(ratio, advantage, eps, epsHigh);
      const x = ref[t] - logp;
      const k3 = expm1(x) - x;
      const follows = !bound && Math.abs(change) <= LARGEST;
      policyLoss -= weight * surrogate;
      kl += weight * k3;
      bounds += bound;
      return { ratio, bound, k3, weight, surrogate, term: weight * (beta * k3 - surrogate), push: weight * ((follows ? ratio * advantage : 0) + beta * expm1(x)) };
    });
  });
  return { loss: policyLoss + beta * kl, policyLoss, kl, clipFraction: bounds / (count || 1), tokens };
}
