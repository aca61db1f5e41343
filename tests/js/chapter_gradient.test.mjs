// The numbers of chapter 4, against finite differences, laws, and numbers worked out by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { logSoftmax } from "../../docs/assets/js/core/grpo.mjs";
import { ascend, expectedReward, flat, groupGradients, levelLine, policyGradient, spread, unflat } from "../../docs/assets/js/core/policy_gradient.mjs";

const POLICY = [0.5, 0.3, 0.2];
const REWARDS = [1, 0, 0];
const near = (found, wanted, what) => found.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) < 1e-9, `${what}: ${found}`));

test("B09 the gradient is that of small differences, and that worked out by hand", () => {
  near(policyGradient(POLICY, REWARDS), [0.25, -0.15, -0.1], "by hand");
  for (const [logits, rewards] of [[[0.5, 0, -0.5], [1, 0, 0.2]], [[2, -1, 0], [6, 5, 5]]]) {
    const at = (j, h) => expectedReward(logSoftmax(logits.map((x, i) => x + (i === j ? h : 0))).map(Math.exp), rewards);
    const slopes = logits.map((_, j) => (at(j, 1e-5) - at(j, -1e-5)) / 2e-5);
    policyGradient(logSoftmax(logits).map(Math.exp), rewards).forEach((g, j) => assert.ok(Math.abs(g - slopes[j]) < 1e-8));
  }
});

test("B09 a small step raises the expected reward, and a number added to all rewards changes nothing", () => {
  for (const policy of [POLICY, [0.02, 0.96, 0.02], [0.1, 0.5, 0.4]]) {
    const next = ascend(policy, [1, 0, 0.8], 1);
    assert.ok(expectedReward(next, [1, 0, 0.8]) > expectedReward(policy, [1, 0, 0.8]));
    near(ascend(policy, [6, 5, 5.8], 1), next, "6, 5, 5.8");
  }
});

test("B09 the triangle keeps distances, and a place in it is its policy", () => {
  for (const policy of [POLICY, [1, 0, 0], [0.05, 0.05, 0.9]]) near(unflat(flat(policy)), policy, "there and back");
  const { x, y } = flat([0.25, -0.15, -0.1]);
  assert.ok(Math.abs(Math.hypot(x, y) - Math.hypot(0.25, 0.15, 0.1)) < 1e-12);
});

test("B09 both ends of a line have its expected reward and lie on the rim", () => {
  for (const rewards of [REWARDS, [1, 0, 0.8], [6, 5, 5]]) {
    for (let level = Math.min(...rewards) + 0.05; level < Math.max(...rewards); level += 0.1) {
      const ends = levelLine(rewards, level);
      assert.equal(ends.length, 2);
      for (const end of ends) {
        near([expectedReward(end, rewards), Math.min(...end), expectedReward(end, [1, 1, 1])], [level, 0, 1], level);
      }
    }
  }
  assert.deepEqual(levelLine(REWARDS, 2), []);
});

test("B10 a fixed baseline leaves the mean as it is and changes the variance", () => {
  const variances = [[0, 0.095], [0.25, 0.03875], [0.5, 0.06], [1, 0.335], [5, 13.695]];
  for (const [b, wanted] of variances) {
    const { mean, variance } = spread(groupGradients(POLICY, REWARDS, 1, "number", b));
    near([...mean, variance], [0.25, -0.15, -0.1, wanted], b);
  }
});

test("B10 the mean of the group shortens the mean gradient by (G - 1) / G; the mean of the others does not", () => {
  for (const size of [1, 2, 3, 4]) {
    const of = (kind) => spread(groupGradients(POLICY, [6, 5, 5.8], size, kind)).mean;
    const truth = policyGradient(POLICY, [6, 5, 5.8]);
    near(of("group"), truth.map((x) => (x * (size - 1)) / size), size);
    if (size > 1) near(of("others"), truth, size);
    else assert.ok(of("others").every(Number.isNaN));
  }
});
