// How much of its advantage a token contributes to the gradient of its log-probability, by its ratio (catalogue B11).
// The gradient of each method's loss is -weight * A times that of log pi; the page docs/2026/family.md has the losses.
import { binds } from "./grpo.mjs";

const EPS = 0.2;
const EPS_HIGH = 0.28; // of DAPO
export const CAP = 5; // 1 + eps_high of CISPO, in ScaleRL
const TEMPERATURE = { up: 1, down: 1.05 }; // of SAPO, for A > 0 and A < 0

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** Name to weight(ratio, advantage), which is not negative. */
export const METHODS = {
  REINFORCE: () => 1,
  GRPO: (ratio, advantage) => (binds(ratio, advantage, EPS) ? 0 : ratio),
  DAPO: (ratio, advantage) => (binds(ratio, advantage, EPS, EPS_HIGH) ? 0 : ratio),
  CISPO: (ratio) => Math.min(ratio, CAP),
  SAPO: (ratio, advantage) => {
    const temperature = TEMPERATURE[advantage > 0 ? "up" : "down"];
    const gate = sigmoid(temperature * (ratio - 1));
    return 4 * gate * (1 - gate) * ratio;
  },
};
