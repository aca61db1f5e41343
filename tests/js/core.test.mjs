// The browser's simulation against the golden vectors of its twin in Python, and against laws of its own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as bandit from "../../docs/assets/js/core/bandit.mjs";
import * as grpo from "../../docs/assets/js/core/grpo.mjs";
import { makeRng, sampleCategorical } from "../../docs/assets/js/core/rng.mjs";

const { DEFAULTS, Simulation, doublePeak, linear, run, singlePeak } = bandit;
const golden = JSON.parse(readFileSync(new URL("../golden/simulation.json", import.meta.url), "utf8"));

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const camelKeys = (object) => Object.fromEntries(Object.entries(object).map(([name, value]) => [camel(name), value]));
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

function assertClose(found, expected, tolerance, what) {
  assert.equal(found.length, expected.length, what);
  found.forEach((x, i) => {
    assert.ok(Math.abs(x - expected[i]) <= tolerance, `${what} ${i}: ${x} instead of ${expected[i]}`);
  });
}

// Golden vectors

test("random numbers are bit for bit those of Python", () => {
  assert.equal(golden.rng.length, 5);
  for (const { seed, draws, values } of golden.rng) {
    const next = makeRng(seed);
    const numbers = Array.from({ length: Math.max(...draws) }, () => next());
    assert.deepEqual(draws.map((draw) => numbers[draw - 1]), values);
  }
});

test("reward tables are exactly those of Python", () => {
  for (const { table, peak, rewards, ...options } of golden.tables) {
    assert.deepEqual(bandit[camel(table)](peak, options), rewards);
  }
});

test("advantages are those of Python", () => {
  assert.ok(golden.advantages.length >= 20);
  for (const { rewards, advantages, ...options } of golden.advantages) {
    assertClose(grpo.groupAdvantages(rewards, camelKeys(options)).advantages, advantages, 1e-12, "advantage");
  }
});

test("the settings and their defaults are those of Python", () => {
  const { rewardTable, ...defaults } = camelKeys(golden.runs[0].settings);
  assert.deepEqual(rewardTable, singlePeak());
  assert.deepEqual(DEFAULTS, defaults);
});

for (const { seed, settings, actions, policy, ...columns } of golden.runs) {
  const changed = Object.entries(camelKeys(settings)).filter(([name, value]) => DEFAULTS[name] !== value);
  const title = changed.map(([name, value]) => (name === "rewardTable" ? "" : ` ${name}=${value}`)).join("");
  test(`the run with seed ${seed} is that of Python:${title}`, () => {
    const steps = golden.after.at(-1);
    const found = run(camelKeys(settings), { seed, steps });
    assert.equal(found.actions.flat().map((action) => action - 1).join(""), actions);
    golden.after.forEach((step, row) => assertClose(found.policy[step], policy[row], 1e-9, `policy after ${step}`));
    for (const [name, expected] of Object.entries(columns)) {
      const ofPolicies = expected.length === golden.after.length;
      const rows = ofPolicies ? golden.after : golden.after.slice(1).map((step) => step - 1);
      assertClose(rows.map((row) => found[camel(name)][row]), expected, 1e-9, name);
    }
  });
}

// Laws

const LOGITS = [0.3, -0.7, 0.1, 0.9, 0];
const REFERENCE = [0, 0.5, -0.2, 0.1, 0.4];
const ACTIONS = [0, 3, 3, 1];
const WEIGHTS = [1.2, -0.4, 0.3, -1.1]; // advantages that do not sum to 0

test("a uniform number draws the action into whose piece it falls", () => {
  const drawn = [0, 0.24, 0.25, 0.5, 0.99999].map((u) => sampleCategorical([0.25, 0.25, 0, 0.5], u));
  assert.deepEqual(drawn, [0, 0, 1, 3, 3]);
  assert.equal(sampleCategorical([0.3, 0.3, 0.3], 0.95), 2); // the last piece ends at 1 whatever rounding does
});

test("log-probabilities stand large logits", () => {
  const logp = grpo.logSoftmax([1000, 0, -1000]);
  assert.deepEqual(logp, [0, -1000, -2000]);
  assert.equal(grpo.entropy(logp), 0);
  assert.equal(grpo.klDivergence(logp, [0, -1000, -2000]), 0);
  assert.ok(Math.abs(grpo.entropy(grpo.logSoftmax([5, 5, 5])) - Math.log(3)) < 1e-15);
});

test("equal rewards and a group of one are exactly 0", () => {
  for (const rewards of [Array(8).fill(0.7), [0.3]]) {
    for (const options of [{}, { correction: 1 }, { divideByStd: false }]) {
      const { mean, std, advantages, zeroSignal } = grpo.groupAdvantages(rewards, options);
      assert.deepEqual({ mean, std, advantages, zeroSignal }, {
        mean: rewards[0], std: 0, advantages: rewards.map(() => 0), zeroSignal: true,
      });
    }
  }
});

test("the clip binds on one side only, and its term is the smaller one", () => {
  const cases = [[1.5, 1, true], [1.5, -1, false], [0.5, 1, false], [0.5, -1, true], [1.1, 1, false], [1.5, 0, false]];
  for (const [ratio, advantage, bound] of cases) {
    assert.equal(grpo.binds(ratio, advantage, 0.2), bound);
    assert.equal(grpo.binds(ratio, advantage, null), false);
    const smaller = Math.min(ratio * advantage, Math.min(Math.max(ratio, 0.8), 1.2) * advantage);
    assertClose([grpo.clippedTerm(ratio, advantage, 0.2)], [smaller], 1e-15, "term");
    assert.equal(grpo.clippedTerm(ratio, advantage, null), ratio * advantage);
  }
});

/** The objective at some logits, written out without the functions under test. */
function objective(logits, { clipEps, klCoef, temperature }) {
  const policy = (x) => {
    const weights = x.map((logit) => Math.exp(logit / temperature));
    return weights.map((weight) => weight / sum(weights));
  };
  const [pi, old, reference] = [logits, LOGITS, REFERENCE].map(policy);
  const terms = ACTIONS.map((action, i) => {
    const ratio = pi[action] / old[action];
    return Math.min(ratio * WEIGHTS[i], Math.min(Math.max(ratio, 1 - clipEps), 1 + clipEps) * WEIGHTS[i]);
  });
  return sum(terms) / terms.length - klCoef * sum(pi.map((p, j) => p * Math.log(p / reference[j])));
}

for (const temperature of [1, 0.5, 2]) {
  for (const innerSteps of [1, 3]) {
    test(`update ${innerSteps} follows the gradient of the objective at temperature ${temperature}`, () => {
      const options = { lr: 0.7, clipEps: 0.1, klCoef: 0.3, temperature };
      const before = grpo.policyStep(LOGITS, ACTIONS, WEIGHTS, REFERENCE, { ...options, innerSteps: innerSteps - 1 });
      const after = grpo.policyStep(LOGITS, ACTIONS, WEIGHTS, REFERENCE, { ...options, innerSteps });
      const differences = LOGITS.map((_, j) => {
        const at = (h) => objective(before.logits.map((logit, k) => logit + (k === j ? h : 0)), options);
        return (at(1e-5) - at(-1e-5)) / 2e-5;
      });
      assertClose(after.logits.map((x, j) => (x - before.logits[j]) / options.lr), differences, 1e-8, "gradient");
      assertClose([after.updates.at(-1).objective], [objective(before.logits, options)], 1e-14, "objective");
      assert.equal(after.updates.length, innerSteps);
      assert.equal(after.updates.at(-1).clipped.includes(true), innerSteps > 1);
    });
  }
}

test("the clip never binds in the first update, however narrow it is", () => {
  const { clipFraction, kl } = run({ rewardTable: singlePeak(), clipEps: 0, lr: 2 }, { seed: 5, steps: 50 });
  assert.deepEqual(clipFraction, Array(50).fill(0));
  assert.ok(kl.at(-1) > 1);
});

test("a group without signal leaves the policy exactly as it was", () => {
  const found = run({ rewardTable: singlePeak(), groupSize: 1, innerSteps: 3 }, { seed: 1, steps: 20 });
  assert.deepEqual(found.policy.at(-1), found.policy[0]);
  assert.deepEqual(found.zeroSignal, Array(20).fill(true));
});

test("a step tells what happened, in numbers that fit together", () => {
  const settings = { rewardTable: doublePeak(), innerSteps: 4, clipEps: 0.05, lr: 2, startAction: 3, startLogit: 1 };
  const simulation = new Simulation(settings, { seed: 3 });
  assert.ok(Math.abs(simulation.maxProbability - Math.E / (Math.E + 9)) < 1e-15);
  assert.equal(simulation.kl, 0);
  const { logits } = simulation;
  const first = simulation.step();
  assert.equal(first.steps, 1);
  assert.ok(first.actions.every((action) => Number.isInteger(action) && action >= 1 && action <= 10));
  assert.deepEqual(first.rewards, first.actions.map((action) => settings.rewardTable[action - 1]));
  assert.equal(first.baseline, first.meanReward);
  assertClose([first.meanReward, sum(first.advantages)], [sum(first.rewards) / 8, 0], 1e-12, "mean, sum");
  const ratios = first.actions.map((action) => first.policy[action - 1] / first.policyBefore[action - 1]);
  assertClose(first.ratios, ratios, 1e-12, "ratio");
  assert.deepEqual(first.updates[0].ratios, Array(8).fill(1));
  assert.deepEqual(first.clipped, first.updates.at(-1).clipped);
  assert.equal(first.clipFraction, sum(first.clipped) / 8);
  assert.ok(first.clipFraction > 0);
  assert.equal(first.maxProbability, Math.max(...first.policy));
  const drawn = first.actions.map((action) => action - 1);
  const again = grpo.policyStep(logits, drawn, first.advantages, logits, simulation.settings);
  assert.deepEqual(again.logits, simulation.logits);
  assert.deepEqual(simulation.step().policyBefore, first.policy);
});

test("a baseline is known before the group is drawn", () => {
  const steps = (algorithm) => {
    const simulation = new Simulation({ rewardTable: linear(), algorithm, criticLr: 0.25 }, { seed: 8 });
    return [simulation.step(), simulation.step(), simulation.step()];
  };
  const baselines = (found) => found.map(({ baseline }) => baseline);
  const means = (found) => found.map(({ meanReward }) => meanReward);
  assert.deepEqual(baselines(steps("reinforce")), [0, 0, 0]);
  const running = steps("reinforce_baseline");
  const [first, second] = means(running);
  assertClose(baselines(running), [0, first, (first + second) / 2], 1e-15, "baseline");
  const critic = steps("actor_critic");
  const [value] = means(critic).map((mean) => 0.25 * mean);
  assertClose(baselines(critic), [0, value, value + 0.25 * (means(critic)[1] - value)], 1e-15, "baseline");
  assert.equal(critic[1].value, critic[2].baseline);
  assert.deepEqual(critic[2].advantages, critic[2].rewards.map((reward) => reward - critic[2].baseline));
});

test("a run is what its steps are, and a shorter one is its beginning", () => {
  const settings = { rewardTable: singlePeak(3), groupSize: 4, innerSteps: 2 };
  const long = run(settings, { seed: 21, steps: 12 });
  const simulation = new Simulation(settings, { seed: 21 });
  for (let step = 0; step < 12; step++) {
    const { actions, policy, zeroSignal } = simulation.step();
    assert.deepEqual([actions, policy, zeroSignal], [long.actions[step], long.policy[step + 1], long.zeroSignal[step]]);
  }
  const short = run(settings, { seed: 21, steps: 5 });
  for (const name in short) assert.deepEqual(short[name], long[name].slice(0, short[name].length));
  assert.equal(run(settings, { seed: 21, steps: 0 }).policy.length, 1);
});

test("a setting out of range is refused by name", () => {
  for (const [name, settings] of [
    ["no setting clip", { clip: 0.2 }],
    ["algorithm", { algorithm: "ppo" }],
    ["reward", { rewardTable: [0, NaN] }],
    ["groupSize", { groupSize: 2.5 }],
    ["innerSteps", { innerSteps: -1 }],
    ["lr", { lr: null }],
    ["clipEps", { clipEps: -0.1 }],
    ["klCoef", { klCoef: NaN }],
    ["correction", { correction: 2 }],
    ["criticLr", { criticLr: Infinity }],
    ["temperature", { temperature: 0 }],
    ["startAction", { startAction: 11 }],
  ]) {
    const refused = { name: "RangeError", message: new RegExp(name) };
    assert.throws(() => new Simulation({ rewardTable: linear(), ...settings }, { seed: 0 }), refused);
  }
});

test("a seed or a number of steps out of range is refused", () => {
  for (const seed of [-1, 2 ** 32, 0.5, undefined]) {
    assert.throws(() => run({ rewardTable: linear() }, { seed, steps: 1 }), { name: "RangeError", message: /^seed/ });
  }
  const refused = { name: "RangeError", message: /^steps/ };
  assert.throws(() => run({ rewardTable: linear() }, { seed: 0, steps: -1 }), refused);
});
