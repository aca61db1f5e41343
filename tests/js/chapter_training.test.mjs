// The numbers of chapter 7, against laws, numbers worked out by hand and gradients taken by small differences.
import assert from "node:assert/strict";
import { test } from "node:test";

import { freshLoss, tokenWeights } from "../../docs/assets/js/core/averaging.mjs";
import { Simulation, singlePeak } from "../../docs/assets/js/core/bandit.mjs";
import { logSoftmax } from "../../docs/assets/js/core/grpo.mjs";
import { lossCurve } from "../../docs/assets/js/core/loss_curve.mjs";
import { balanceKl } from "../../docs/assets/js/core/kl_balance.mjs";
import { expectedRewards, firstAbove, manyRuns, median, summary } from "../../docs/assets/js/core/many_runs.mjs";

const close = (found, expected, tolerance = 1e-12) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);

test("W18 the balance of reward and KL is where no small change of the policy pays", () => {
  const rewardTable = singlePeak();
  const share = 7 / 8;
  for (const klCoef of [0.1, 0.3, 1]) {
    // Climb share * E[R] - klCoef * KL from the uniform start, by differences.
    const value = (logits) => {
      const logp = logSoftmax(logits);
      const kl = logp.reduce((total, x) => total + Math.exp(x) * (x + Math.log(10)), 0);
      const reward = logp.reduce((total, x, j) => total + Math.exp(x) * rewardTable[j], 0);
      return { objective: share * reward - klCoef * kl, kl };
    };
    let logits = Array(10).fill(0);
    const h = 1e-5;
    const moved = (j, by) => logits.map((logit, i) => (i === j ? logit + by : logit));
    for (let step = 0; step < 4000; step++) {
      const slope = logits.map((_, j) => (value(moved(j, h)).objective - value(moved(j, -h)).objective) / (2 * h));
      logits = logits.map((logit, j) => logit + (5 / klCoef) * slope[j]);
    }
    close(balanceKl(rewardTable, { groupSize: 8, klCoef }), value(logits).kl, 1e-4);
  }
});

test("W18 runs without the division settle at the balance, and those with it go past it", () => {
  const end = (settings) => {
    const runs = manyRuns({ rewardTable: singlePeak(), groupSize: 8, klCoef: 0.3, ...settings }, { seeds: 5, steps: 600 });
    return summary(runs.map(({ kl }) => kl)).values.at(-1);
  };
  const balance = balanceKl(singlePeak(), { groupSize: 8, klCoef: 0.3 });
  close(end({ divideByStd: false }), balance, 0.1);
  assert.ok(end({ divideByStd: true }) > 5 * balance);
});

test("a median of steps is one of them, and never counts as the largest", () => {
  assert.equal(median([9, 2, Infinity, 4]), 4);
  assert.equal(median([3, Infinity, Infinity]), Infinity);
  assert.equal(firstAbove([0.1, 0.5, 0.6, 0.4, 0.9], 0.5), 2);
  assert.equal(firstAbove([0.1, 0.5], 0.5), Infinity);
  assert.deepEqual(summary([[1, 5], [3, 1], [2, 3]], 0), { values: [2, 3], low: [1, 1], high: [3, 5] });
  assert.deepEqual(expectedRewards([[0.25, 0.75], [1, 0]], [4, 8]), [7, 4]);
});

test("B03 weights are those worked out by hand, and the loss of fresh samples is 0 by sequence only", () => {
  const lengths = [1, 3];
  const weights = tokenWeights(lengths, { limit: 5 });
  assert.deepEqual(weights, { sequence: [1 / 2, 1 / 6], token: [1 / 4, 1 / 4], constant: [1 / 10, 1 / 10] });
  close(freshLoss(weights.sequence, lengths, [1, -1]), 0);
  close(freshLoss(weights.token, lengths, [1, -1]), 0.5); // (3 - 1) / 4
  close(freshLoss(weights.constant, lengths, [1, -1]), 0.2); // (3 - 1) / 10
});

test("B03 means by sequence and by token give all tokens together the weight 1, a constant does not", () => {
  for (const lengths of [[4, 10, 4, 20], [8, 8, 8, 8], [1, 20]]) {
    const total = (weights) => weights.reduce((sum, weight, i) => sum + weight * lengths[i], 0);
    const { sequence, token, constant } = tokenWeights(lengths, { limit: 20 });
    close(total(sequence), 1);
    close(total(token), 1);
    assert.ok(total(constant) < 1);
  }
});

test("B04 the gradient is that of the loss, taken by small differences", () => {
  const rewardTable = singlePeak();
  const settings = { rewardTable, klCoef: 0.3 };
  const simulation = new Simulation(settings, { seed: 0 });
  for (let t = 0; t < 4; t++) simulation.step();
  const { logits } = simulation;
  const { actions, advantages } = simulation.step();
  const old = logSoftmax(logits);
  const loss = (at) => {
    const logp = logSoftmax(at);
    const surrogate = actions.reduce((total, a, i) => total + Math.exp(logp[a - 1] - old[a - 1]) * advantages[i], 0) / actions.length;
    return -surrogate + 0.3 * logp.reduce((total, x) => total + Math.exp(x) * (x + Math.log(10)), 0);
  };
  const h = 1e-5;
  const slope = logits.map((_, j) =>
    (loss(logits.map((x, i) => (i === j ? x + h : x))) - loss(logits.map((x, i) => (i === j ? x - h : x)))) / (2 * h));
  const curve = lossCurve(settings, { seed: 0, steps: 5 });
  close(curve.gradient[4], Math.hypot(...slope), 1e-6);
  close(curve.loss[4], loss(logits), 1e-9);
});

test("B04 fresh groups have a loss of 0 while the policy learns; a KL penalty makes the loss rise", () => {
  const curve = lossCurve({ rewardTable: singlePeak() }, { seed: 0, steps: 60 });
  assert.ok(Math.max(...curve.loss.map(Math.abs)) < 1e-12);
  assert.ok(curve.gradient[0] > 0.3 && curve.reward.at(-1) - curve.reward[0] > 0.4);
  const held = lossCurve({ rewardTable: singlePeak(), klCoef: 0.3 }, { seed: 0, steps: 60 });
  assert.ok(held.loss.at(-1) > 0.3 && held.reward.at(-1) > held.reward[0]);
});
