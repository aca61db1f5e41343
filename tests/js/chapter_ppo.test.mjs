// The numbers of chapter 2, against numbers worked out by hand and against laws.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Simulation, singlePeak } from "../../docs/assets/js/core/bandit.mjs";
import { criticValues, manyRuns } from "../../docs/assets/js/core/many_runs.mjs";
import { gigabytes, modelsOf } from "../../docs/assets/js/core/models.mjs";

/** Gigabytes of all models of 7 billion parameters. */
const total = (method, { rewardModel, training }) => Object.values(modelsOf({ method, rewardModel, reference: true }))
  .reduce((sum, state) => sum + gigabytes(state, 7, { training }), 0);

test("W02 seven billion parameters need what was counted by hand", () => {
  assert.deepEqual([total("ppo", { rewardModel: true }), total("grpo", { rewardModel: true })], [56, 42]);
  assert.deepEqual([total("ppo", { rewardModel: false }), total("grpo", { rewardModel: false })], [42, 28]);
  const training = (method, rewardModel) => total(method, { rewardModel, training: true });
  assert.deepEqual([training("ppo", true), training("grpo", true)], [252, 140]);
  assert.deepEqual([training("ppo", false), training("grpo", false)], [238, 126]);
});

test("W09 PPO and GRPO differ in the critic and in nothing else", () => {
  for (const rewardModel of [false, true]) {
    for (const reference of [false, true]) {
      const { critic, ...others } = modelsOf({ method: "ppo", rewardModel, reference });
      const { critic: none, ...same } = modelsOf({ method: "grpo", rewardModel, reference });
      assert.deepEqual([critic, none], ["trained", "none"]);
      assert.deepEqual(others, same);
    }
  }
  assert.deepEqual(modelsOf({ method: "grpo", rewardModel: false, reference: false }),
    { policy: "trained", critic: "none", reference: "none", reward: "none" });
});

test("W03 the critic's values are those of the simulation", () => {
  const settings = { rewardTable: singlePeak(), algorithm: "actor_critic", criticLr: 0.3 };
  const simulation = new Simulation(settings, { seed: 5 });
  const baselines = Array.from({ length: 30 }, () => simulation.step().baseline);
  const [{ meanReward }] = manyRuns(settings, { seed: 5, seeds: 1, steps: 30 });
  assert.deepEqual(criticValues(meanReward, 0.3), baselines);
  assert.deepEqual(criticValues([1, 1, 1], 0.5), [0, 0.5, 0.75]);
  assert.deepEqual(criticValues([1, 1], 0), [0, 0]);
});

test("W03 what is added to all rewards does nothing to GRPO and harms a critic that never learns", () => {
  const ends = (added, more) => {
    const rewardTable = singlePeak().map((reward) => reward + added);
    return manyRuns({ rewardTable, ...more }, { seed: 0, seeds: 20, steps: 200 }).map(({ best }) => best.at(-1));
  };
  const plain = ends(0, {});
  ends(4, {}).forEach((end, i) => assert.ok(Math.abs(end - plain[i]) < 1e-6));
  const found = (all) => all.filter((end) => end > 0.5).length;
  const fixed = { algorithm: "actor_critic", criticLr: 0 };
  assert.ok(found(ends(5, fixed)) < found(ends(0, fixed)) - 5);
});

test("W03 runs begin with one seed after the other", () => {
  const runs = manyRuns({ rewardTable: singlePeak() }, { seed: 3, seeds: 3, steps: 20 });
  const [last] = manyRuns({ rewardTable: singlePeak() }, { seed: 5, seeds: 1, steps: 20 });
  assert.deepEqual(runs[2].best, last.best);
  assert.notDeepEqual(runs[0].best, last.best);
});
