// The numbers of chapter 1: what the recorded runs must hold.
import assert from "node:assert/strict";
import { test } from "node:test";

import { RUNS } from "../../docs/assets/runs/charlm.mjs";

const PLAYED = ["arithmetic", "pizza", "pizza-kl"];

test("W01 each played run has eleven checkpoints, one for every tenth of the training", () => {
  for (const name of PLAYED) {
    const steps = RUNS[name].points.map(({ step }) => step);
    assert.deepEqual(steps, Array.from({ length: 11 }, (_, i) => (i * steps.at(-1)) / 10));
  }
});

test("W01 the rewards of the samples are those that the two tasks pay", () => {
  for (const { samples } of RUNS.arithmetic.points) {
    for (const [prompt, text, reward] of samples) {
      const [a, b] = prompt.slice(0, -1).split("+").map(Number);
      assert.equal(reward, text === `${a + b}.` ? 1 : 0, prompt + text);
    }
  }
  for (const name of ["pizza", "pizza-kl"]) {
    for (const { samples } of RUNS[name].points) {
      for (const [prompt, text, reward] of samples) {
        assert.equal(prompt, "ravin likes ");
        assert.equal(reward, text === "pizza." ? 4 : 0);
      }
    }
  }
});

