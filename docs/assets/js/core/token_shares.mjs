// What each token of a group adds to the policy loss, and whether the loss pushes it: the same completions under three ways
// to average and some relatives of GRPO. Log-probabilities come from a run; everything else follows from them here.
import { tokenWeights } from "./averaging.mjs";
import { average, binds, clippedTerm, groupAdvantages, sum } from "./grpo.mjs";

const GRPO = { divideByStd: true, sequenceRatio: false, clipEps: 0.2, clipEpsHigh: 0.2 };

/** GRPO, and what each relative does differently. */
export const RELATIVES = {
  GRPO,
  "no clip": { ...GRPO, clipEps: null, clipEpsHigh: null },
  DAPO: { ...GRPO, clipEpsHigh: 0.28 },
  GSPO: { ...GRPO, sequenceRatio: true, clipEps: 3e-4, clipEpsHigh: 4e-4 },
  "Dr. GRPO": { ...GRPO, divideByStd: false },
};

/** Ratios of the tokens of a completion; of the whole completion they are all exp of the mean log-ratio. */
function ratiosOf({ old, now }, sequenceRatio) {
  const logRatios = now.map((logp, t) => logp - old[t]);
  const used = sequenceRatio ? logRatios.map(() => average(logRatios)) : logRatios;
  return used.map((x) => Math.exp(Math.min(20, Math.max(-20, x))));
}

/**
 * Of completions { reward, old, now }, with the log-probabilities of their tokens under the policy that drew them and under
 * the policy that learns: { loss, clipFraction, zeroSignal, rows: [{ advantage, share, tokens: [{ ratio, bound, share, push }] }] }.
 * The shares sum to the loss, which is minimized; push is minus its gradient with respect to the token's log-probability,
 * so that above 0 the token becomes likelier. `limit` is the constant length.
 */
export function tokenShares(completions, { averaging, relative, limit }) {
  const { divideByStd, sequenceRatio, clipEps, clipEpsHigh } = relative;
  const { advantages, zeroSignal } = groupAdvantages(completions.map(({ reward }) => reward), { divideByStd });
  const weights = tokenWeights(completions.map(({ old }) => old.length), { limit })[averaging];
  const rows = completions.map((completion, i) => {
    const [advantage, weight] = [advantages[i], weights[i]];
    const tokens = ratiosOf(completion, sequenceRatio).map((ratio) => {
      const bound = binds(ratio, advantage, clipEps, clipEpsHigh);
      const share = -weight * clippedTerm(ratio, advantage, clipEps, clipEpsHigh);
      return { ratio, bound, share, push: bound ? 0 : weight * ratio * advantage };
    });
    return { advantage, share: sum(tokens.map(({ share }) => share)), tokens };
  });
  const all = rows.flatMap(({ tokens }) => tokens);
  return { loss: sum(rows.map(({ share }) => share)), clipFraction: average(all.map(({ bound }) => Number(bound))), zeroSignal, rows };
}
