// The numbers of chapter 1: what the recorded runs must hold, and the scores of a paper.
import assert from "node:assert/strict";
import { test } from "node:test";

import { gains } from "../../docs/assets/js/core/gains.mjs";
import { RUNS } from "../../docs/assets/runs/charlm.mjs";

const PLAYED = ["arithmetic", "pizza", "pizza-kl"];

test("W01 each played run has eleven checkpoints, one for every tenth of the training", () => {
  for (const name of PLAYED) {
    const steps = RUNS[name].points.map(({ step }) => step);
    assert.deepEqual(steps, Array.from({ length: 11 }, (_, i) => (i * RUNS[name].settings.steps) / 10));
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

test("W01 the samples agree with the exact probability, as far as sixteen samples can", () => {
  for (const name of PLAYED) {
    for (const { exact, samples } of RUNS[name].points) {
      const share = samples.filter(([, , reward]) => reward > 0).length / samples.length;
      assert.ok(Math.abs(share - exact) < 4 * Math.sqrt(0.25 / samples.length), `${name}: ${share} and ${exact}`);
    }
  }
});

test("W23 points and mistakes are those worked out by hand", () => {
  const [gsm8k, math] = gains("words");
  assert.deepEqual([gsm8k.before, gsm8k.after, math.before, math.after], [82.9, 88.2, 46.8, 51.7]);
  assert.ok(Math.abs(gsm8k.points - 5.3) < 1e-9);
  assert.ok(Math.abs(gsm8k.mistakesGone - 53 / 171) < 1e-9); // of 17.1 % wrong answers 11.8 % are left
  assert.ok(Math.abs(math.mistakesGone - 49 / 532) < 1e-9);
});

test("W23 mistakes that are gone and mistakes that are left make up all mistakes", () => {
  for (const way of ["words", "tools"]) {
    assert.equal(gains(way).length, 4);
    for (const { before, after, mistakesGone } of gains(way)) {
      assert.ok(Math.abs((100 - before) * (1 - mistakesGone) - (100 - after)) < 1e-9);
    }
  }
});
