// Which models PPO and GRPO need, and what these take in memory.

/** State of each model: "trained", "frozen", or "none" where there is no such model. */
export const modelsOf = ({ method, rewardModel, reference }) => ({
  policy: "trained",
  critic: method === "ppo" ? "trained" : "none",
  reference: reference ? "frozen" : "none",
  reward: rewardModel ? "frozen" : "none",
});

/** Bytes of a parameter: 2 as a weight in bfloat16, 16 with all that Adam needs to train it in mixed precision. */
export const BYTES = { weight: 2, trained: 16 };

/** Gigabytes (10^9 bytes) of a model with so many billions of parameters; `training` counts more than weights. */
export function gigabytes(state, billions, { training }) {
  if (state === "none") return 0;
  return billions * (training && state === "trained" ? BYTES.trained : BYTES.weight);
}
