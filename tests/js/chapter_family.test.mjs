// The numbers of the page on the family: gradient weights against finite differences of the losses themselves.
import assert from "node:assert/strict";
import { test } from "node:test";

import { CAP, METHODS } from "../../docs/assets/js/core/token_weight.mjs";

const close = (found, expected, tolerance = 1e-8) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);
const slope = (f, x, h = 1e-6) => (f(x + h) - f(x - h)) / (2 * h);
const clip = (ratio, low, high) => Math.min(1 + high, Math.max(1 - low, ratio));
const temperature = (advantage) => (advantage > 0 ? 1 : 1.05);

/** What each method maximizes for one token, by its ratio; of CISPO with the weight held still at another ratio. */
const OBJECTIVES = {
  GRPO: (ratio, advantage) => Math.min(ratio * advantage, clip(ratio, 0.2, 0.2) * advantage),
  DAPO: (ratio, advantage) => Math.min(ratio * advantage, clip(ratio, 0.2, 0.28) * advantage),
  SAPO: (ratio, advantage) =>
    ((4 / temperature(advantage)) * advantage) / (1 + Math.exp(-temperature(advantage) * (ratio - 1))),
};

test("B11 the weight is the slope of the objective by log pi, divided by the advantage", () => {
  for (const advantage of [1, -1, 2.5]) {
    for (let ratio = 0.055; ratio < 6; ratio += 0.05) { // never on a corner
      for (const [name, objective] of Object.entries(OBJECTIVES)) {
        const found = slope((logRatio) => objective(Math.exp(logRatio), advantage), Math.log(ratio));
        close(METHODS[name](ratio, advantage), found / advantage);
      }
      const held = Math.min(ratio, CAP);
      close(METHODS.CISPO(ratio, advantage), slope((logp) => held * advantage * logp, Math.log(ratio)) / advantage, 1e-7);
      close(METHODS.REINFORCE(ratio, advantage), slope((logp) => advantage * logp, Math.log(ratio)) / advantage, 1e-7);
    }
  }
});

test("B11 at ratio 1 all methods are one, and GRPO's edge is at 1.2", () => {
  for (const [name, weight] of Object.entries(METHODS)) for (const advantage of [1, -1]) close(weight(1, advantage), 1, 1e-12, name);
  assert.deepEqual([1.2, 1.21].map((ratio) => METHODS.GRPO(ratio, 1)), [1.2, 0]);
  assert.deepEqual([1.28, 1.29].map((ratio) => METHODS.DAPO(ratio, 1)), [1.28, 0]);
});
