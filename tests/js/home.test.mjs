// The film of the home page: its rounds are those of GRPO, by the formulas of the chapters.
import assert from "node:assert/strict";
import test from "node:test";
import { ANSWERS, RIGHT } from "../../docs/assets/js/core/answers.mjs";
import { GROUP, rounds } from "../../docs/assets/js/core/film.mjs";

const near = (found, wanted) => found.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) < 1e-6, `${found} is not ${wanted}`));

test("a draw chooses the answer into whose piece of the strip it falls, and a rule scores it", () => {
  for (const { before, draws, actions, rewards } of rounds()) {
    assert.equal(draws.length, GROUP);
    draws.forEach((u, i) => {
      const edge = before.slice(0, actions[i]).reduce((a, b) => a + b, 0);
      assert.ok(edge <= u && u < edge + before[actions[i]] + 1e-12);
      assert.equal(rewards[i], ANSWERS[actions[i]] === 2 + 2 * 6 ? 1 : 0);
    });
  }
});

test("an advantage is the distance from the mean in standard deviations", () => {
  for (const { rewards, advantages, mean, zeroSignal } of rounds()) {
    const average = rewards.reduce((a, b) => a + b) / GROUP;
    const spread = Math.sqrt(rewards.reduce((total, r) => total + (r - average) ** 2, 0) / GROUP);
    assert.equal(mean, average);
    assert.equal(zeroSignal, spread === 0);
    near(advantages, rewards.map((r) => (spread ? (r - average) / spread : 0)));
  }
});

test("the policy takes a step along the policy gradient, and the next round draws from it", () => {
  const all = rounds();
  all.forEach(({ before, after, actions, advantages }, round) => {
    const scores = before.map((p, j) => {
      const pushes = actions.map((action, i) => advantages[i] * ((action === j ? 1 : 0) - p));
      return p * Math.exp((0.9 / GROUP) * pushes.reduce((a, b) => a + b));
    });
    const total = scores.reduce((a, b) => a + b);
    near(after, scores.map((score) => score / total));
    if (all[round + 1]) near(all[round + 1].before, after);
  });
});

test("the film ends with a group that has nothing left to teach", () => {
  const all = rounds();
  assert.deepEqual(all.map(({ zeroSignal }) => zeroSignal), [false, false, false, false, false, true]);
  near([all[0].before[RIGHT]], [0.25]);
  assert.ok(all.at(-1).after[RIGHT] > 0.85);
});
