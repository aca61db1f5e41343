// The worksheet without its page: numbers against the golden vectors, rules for filling tables, and its files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { DEFAULTS, singlePeak } from "../../docs/assets/js/core/bandit.mjs";
import {
  fieldsOf,
  isComplete,
  progress,
  readField,
  record,
  slotsOf,
  tidy,
} from "../../docs/assets/js/core/worksheet.mjs";
import { escapeMarkdown, fromJson, toJson, toMarkdown } from "../../docs/assets/js/core/worksheet_files.mjs";
import {
  assign,
  cellOf,
  fits,
  measure,
  reason,
  seedProblem,
  wordsFor,
} from "../../docs/assets/js/core/worksheet_filling.mjs";
import { QUESTIONS, RUNS } from "../../docs/assets/js/core/worksheet_runs.mjs";

const golden = JSON.parse(readFileSync(new URL("../golden/simulation.json", import.meta.url), "utf8"));
const text = QUESTIONS.map((id) => ({ id, text: `What is ${id}?` }));
const empty = () => ({ answers: {}, cells: {}, handedIn: false });
const slotOf = (id) => RUNS.find((slot) => slot.id === id);
const full = { rewardTable: singlePeak(), ...DEFAULTS };
const sent = (seed, settings = {}, steps = 50) => ({ settings: { ...full, ...settings }, seed, steps });
const seedsOf = (filled) => Object.fromEntries(Object.entries(filled).map(([id, { seed }]) => [id, seed]));

/** A worksheet in which everything is filled in. */
function finished() {
  const state = empty();
  for (const id of QUESTIONS) state.answers[id] = `My own words about ${id}.`;
  for (const [i, slot] of RUNS.entries()) {
    const seed = slot.question === "1E.1" ? 7 : i;
    state.cells[slot.id] = cellOf(seed, measure(slot, seed));
  }
  return state;
}

// Numbers

/** The policies of a GRPO run with the default settings, from its actions alone: the formula, written out naively. */
function policiesOf(actions, { klCoef }) {
  const softmax = (logits) => logits.map((z) => Math.exp(z) / logits.reduce((total, y) => total + Math.exp(y), 0));
  const rewards = [0, 0, 0.2, 0.4, 0.6, 0.8, 1, 0.8, 0.6, 0.4];
  let logits = rewards.map(() => 0);
  const policies = [softmax(logits)];
  for (const group of actions) {
    const r = group.map((a) => rewards[a - 1]);
    const mean = r.reduce((total, x) => total + x) / 8;
    const std = Math.sqrt(r.reduce((total, x) => total + (x - mean) ** 2, 0) / 8);
    const pi = softmax(logits);
    const kl = pi.reduce((total, p) => total + p * Math.log(p / 0.1), 0);
    logits = logits.map(
      (z, j) =>
        z +
        0.5 *
          (group.reduce(
            (total, a, i) => total + (((r[i] - mean) / (std + 1e-8)) * (Number(a === j + 1) - pi[j])) / 8,
            0,
          ) -
            klCoef * pi[j] * (Math.log(pi[j] / 0.1) - kl)),
    );
    policies.push(softmax(logits));
  }
  return policies;
}

for (const [seed, klCoef] of [
  [0, 0],
  [3, 0.3],
]) {
  const run = golden.runs.find((each) => each.seed === seed && each.settings.kl_coef === klCoef);
  const actions = Array.from({ length: 200 }, (_, t) =>
    [...run.actions.slice(8 * t, 8 * t + 8)].map((digit) => Number(digit) + 1),
  );
  const policies = policiesOf(actions, { klCoef });
  const curve = policies.map((policy) => policy[6]);

  test(`the formula, written out, gives the golden policies with seed ${seed}`, () => {
    golden.after.forEach((t, row) => policies[t].forEach((p, j) => assert.ok(Math.abs(p - run.policy[row][j]) < 1e-9)));
  });

  if (klCoef) {
    test("the bonus records π(7) of the run with the KL penalty", () => {
      const { bestProbability } = measure(slotOf("bonus.run"), seed);
      assert.ok(Math.abs(bestProbability - curve[50]) < 1e-9);
    });
    continue;
  }

  test("1B records actions and advantages of the first step", () => {
    const { actions: drawn, advantages } = measure(slotOf("1B.first"), seed);
    assert.deepEqual(drawn, actions[0]);
    const rewards = drawn.map((a) => 1 - Math.min(Math.abs(a - 7), 5) / 5);
    const mean = rewards.reduce((total, r) => total + r) / 8;
    const std = Math.sqrt(rewards.reduce((total, r) => total + (r - mean) ** 2, 0) / 8);
    advantages.forEach((advantage, i) => assert.ok(Math.abs(advantage - (rewards[i] - mean) / std) < 1e-6));
  });

  test("1C records the first step over 0.5, and the policy after 50 steps", () => {
    const first = curve.findIndex((p) => p > 0.5);
    assert.ok(first > 1 && curve[first - 1] <= 0.5);
    assert.deepEqual(measure(slotOf("1C.try1"), seed), { stepsToHalf: first });
    measure(slotOf("1C.policy"), seed).policy.forEach((p, j) => assert.ok(Math.abs(p - policies[50][j]) < 1e-9));
  });

  test("1E records the largest probability after 200 steps, and the first step over 0.9", () => {
    const { maxProbability, stepsTo90 } = measure(slotOf("1E.grpo"), seed);
    assert.equal(
      stepsTo90,
      curve.findIndex((p) => p > 0.9),
    );
    assert.ok(Math.abs(maxProbability - Math.max(...policies[200])) < 1e-9);
  });
}

test("a step that never comes is null, and is written as never", () => {
  const slow = { ...slotOf("1C.try1"), settings: { lr: 0 } };
  assert.deepEqual(measure(slow, 5), { stepsToHalf: null });
  assert.deepEqual(cellOf(5, measure(slow, 5)), { seed: "5", stepsToHalf: "never" });
});

test("every slot can be measured and is complete then, in three decimals", () => {
  for (const slot of RUNS) {
    const cell = cellOf(8, measure(slot, 8));
    assert.deepEqual(Object.keys(cell), fieldsOf(slot));
    assert.ok(isComplete(slot, cell), slot.id);
    for (const [name, written] of Object.entries(cell)) {
      if (/advantages|policy|Probability/.test(name)) assert.match(written, /^([+\u2212]?\d\.\d{3}( {2}|$))+$/);
    }
  }
  assert.deepEqual(cellOf(1, { advantages: [-0.0001, 1.5, -1.25, 0.0001] }), {
    seed: "1",
    advantages: "0.000  +1.500  \u22121.250  0.000",
  });
});

// Fields

test("numbers may be written with a comma, a real minus sign or a plus", () => {
  for (const written of ["0.957", "0,957", " .957 ", "+0.957"])
    assert.equal(readField("bestProbability", written), 0.957);
  assert.equal(readField("seed", " 4294967295 "), 4294967295);
  assert.deepEqual(
    ["never", "-", "–", "None"].map((written) => readField("stepsToHalf", written)),
    [null, null, null, null],
  );
  for (const written of [
    "1,−1,0,0,2,−2,0,0",
    "1.0 −1.0 0 0 2.0 −2 0 0",
    "1; -1; 0; 0; 2; -2; 0; 0",
    "1,0 −1,0 0,0 0 2 −2 0 0",
    "1\t-1\n0, 0, 2, -2, 0, 0",
  ]) {
    assert.deepEqual(readField("advantages", written), [1, -1, 0, 0, 2, -2, 0, 0], written);
  }
  assert.deepEqual(readField("actions", "1 2 3 4 10 6 7 8"), [1, 2, 3, 4, 10, 6, 7, 8]);
});

test("numbers may be written with the digits and signs of other keyboards", () => {
  for (const written of ["０．９５", "0，95", "٠٫٩٥", "۰٫۹۵", " ＋．９５　"])
    assert.equal(readField("bestProbability", written), 0.95);
  assert.equal(readField("seed", "４２"), 42);
  assert.equal(readField("stepsToHalf", "ｎｅｖｅｒ"), null);
  for (const written of [
    "1、-1、0、0、2、-2、0、0",
    "1，−1，0，0，2，−2，0，0",
    "１；－１；０；０；２；－２；０；０",
    "١، -١، ٠، ٠، ٢، -٢، ٠، ٠",
    "١؛-١؛٠؛٠؛٢؛-٢؛٠؛٠",
    "1,0、-1,0、0、0、2、-2、0、0",
  ]) {
    assert.deepEqual(readField("advantages", written), [1, -1, 0, 0, 2, -2, 0, 0], written);
  }
  assert.throws(() => readField("bestProbability", "0.5²"), /a number/, "a superscript is no digit");
});

test("what is no number is refused with what is expected", () => {
  const cases = [
    ["bestProbability", "abc", /a number, not "abc"/],
    ["bestProbability", "1e999", /a number/],
    ["bestProbability", "1e", /a number/],
    ["seed", "1.5", /whole number/],
    ["seed", "4294967296", /from 0 to 4294967295/],
    ["seed", "-1", /whole number/],
    ["stepsToHalf", "0.5", /whole number/],
    ["actions", "1 2 3", /8 numbers .* not 3/],
    ["advantages", "1 2 3 4 5 6 7 x", /a number, not "x"/],
    ["bestProbability", "0x10", /a number/],
    ["bestProbability", ".", /a number/],
    ["bestProbability", "never", /a number/],
  ];
  for (const [name, written, message] of cases)
    assert.throws(() => readField(name, written), { name: "RangeError", message });
});

test("a policy counts only with all ten numbers", () => {
  const cell = cellOf(8, measure(slotOf("1C.policy"), 8));
  assert.equal(record(slotOf("1C.policy"), cell).values.policy.length, 10);
  delete cell["policy.4"];
  assert.deepEqual(record(slotOf("1C.policy"), cell), { seed: 8, values: {}, missing: ["policy.4"], problems: {} });
});

// Filling

test("a run fits a slot with the same settings and at least as many steps", () => {
  assert.ok(fits(slotOf("1D.G32.trial1"), sent(1, { groupSize: 32 })));
  assert.ok(fits(slotOf("1D.G32.trial1"), sent(1, { groupSize: 32 }, 80)), "its first 50 steps are the shorter run");
  const changed = [
    { groupSize: 8 },
    { lr: 0.3 },
    { klCoef: 0.1 },
    { rewardTable: singlePeak(3) },
    { clipEps: null },
    { startAction: 3 },
    { extra: 1 },
  ];
  for (const settings of changed)
    assert.ok(!fits(slotOf("1D.G32.trial1"), sent(1, { groupSize: 32, ...settings })), JSON.stringify(settings));
  assert.ok(!fits(slotOf("1D.G32.trial1"), sent(1, { groupSize: 32 }, 49)));
  const { lr, ...without } = sent(1, { groupSize: 32 }).settings;
  for (const settings of [{}, 5, null, "x", [], without])
    assert.ok(
      RUNS.every((slot) => !fits(slot, { settings, seed: 1, steps: 200 })),
      `${JSON.stringify(settings)} leaves settings out`,
    );
  assert.ok(!fits(slotOf("1D.G32.trial1"), sent(2 ** 32, { groupSize: 32 })));
});

test("a run that does not fit is refused with the reason", () => {
  const slots = slotsOf("1D.1");
  assert.match(reason(slots, sent(1, { groupSize: 16 })), /G is 16, but .* 2 or 8 or 32/);
  assert.match(reason(slots, sent(1, { groupSize: 2 }, 10)), /10 steps, but .* 50/);
  assert.match(reason(slots, sent(1, { groupSize: 2, lr: 0.3 })), /η is 0\.3, but .* 0\.5/);
  assert.match(reason(slots, sent(1, { groupSize: 2, rewardTable: singlePeak(3) })), /rewards/);
  assert.match(reason(slots, sent(1, { groupSize: 2, clipEps: null })), /ε/);
  assert.match(reason(slots, sent(1, { groupSize: 2, lr: undefined })), /η/);
});

test("runs fill the cells of their group size, older ones first", () => {
  const runs = [
    sent(5, { groupSize: 32 }),
    sent(9, { groupSize: 2 }),
    sent(6, { groupSize: 32 }),
    sent(1),
    sent(5, { groupSize: 2 }),
    sent(3, { groupSize: 16 }),
  ];
  assert.deepEqual(seedsOf(assign(slotsOf("1D.1"), {}, runs)), {
    "1D.G2.trial1": 9,
    "1D.G2.trial2": 5,
    "1D.G8.trial1": 1,
    "1D.G32.trial1": 5,
    "1D.G32.trial2": 6,
  });
});

test("with more runs than cells the newest win, and a run of the right length wins over a longer one", () => {
  const tries = slotsOf("1C.1");
  assert.deepEqual(
    seedsOf(
      assign(
        tries,
        {},
        [1, 2, 3, 4, 5].map((seed) => sent(seed)),
      ),
    ),
    { "1C.try1": 3, "1C.try2": 4, "1C.try3": 5 },
  );
  const longer = [sent(1), sent(2), sent(3), sent(4, {}, 200)];
  assert.deepEqual(seedsOf(assign(tries, {}, longer)), { "1C.try1": 1, "1C.try2": 2, "1C.try3": 3 });
  assert.deepEqual(seedsOf(assign(tries, {}, longer.slice(1))), { "1C.try1": 2, "1C.try2": 3, "1C.try3": 4 });
});

test("no seed fills two cells of a kind, and filled cells stay", () => {
  const tries = slotsOf("1C.1");
  const cells = { "1C.try2": cellOf(2, { stepsToHalf: 20 }) };
  const runs = [sent(2), sent(3), sent(3, {}, 60), sent(2, {}, 70)];
  assert.deepEqual(seedsOf(assign(tries, cells, runs)), { "1C.try1": 3 });
  assert.deepEqual(
    seedsOf(assign(tries, { "1C.try1": { stepsToHalf: "20" } }, [sent(3)])),
    { "1C.try2": 3 },
    "a begun cell is not empty",
  );
});

test("a cell that was begun takes the run with its seed, and no other", () => {
  const tries = slotsOf("1C.1");
  const cells = { "1C.try1": { seed: "2" }, "1C.try2": { seed: "7" }, "1C.try3": { seed: "3", stepsToHalf: "30" } };
  const runs = [sent(2), sent(3), sent(7, { lr: 0.3 }), sent(9)];
  assert.deepEqual(seedsOf(assign(tries, cells, runs)), { "1C.try1": 2 });
  const policy = { "1C.policy": { seed: "9", "policy.2": "0.1" } };
  assert.deepEqual(seedsOf(assign(slotsOf("1C.3"), policy, runs)), { "1C.policy": 9 });
  assert.deepEqual(assign(slotsOf("1C.3"), { "1C.policy": { "policy.2": "0.1" } }, runs), {});
});

test("a comparison is filled from runs that share a seed", () => {
  const slots = slotsOf("1E.1");
  const of = (seed, ...algorithms) => algorithms.map((algorithm) => sent(seed, { algorithm }, 200));
  const all = ["grpo", "reinforce", "reinforce_baseline"];
  assert.deepEqual(
    seedsOf(assign(slots, {}, [...of(4, ...all), ...of(5, "grpo", "reinforce")])),
    { "1E.grpo": 4, "1E.reinforce": 4, "1E.reinforce_baseline": 4 },
    "the whole comparison, not the newer part",
  );
  assert.deepEqual(seedsOf(assign(slots, {}, [...of(4, ...all), ...of(5, ...all)])), {
    "1E.grpo": 5,
    "1E.reinforce": 5,
    "1E.reinforce_baseline": 5,
  });
  assert.deepEqual(seedsOf(assign(slots, { "1E.grpo": { seed: "4" } }, [...of(4, ...all), ...of(5, ...all)])), {
    "1E.grpo": 4,
    "1E.reinforce": 4,
    "1E.reinforce_baseline": 4,
  });
  assert.deepEqual(assign(slots, { "1E.grpo": { seed: "9" } }, of(4, ...all)), {});
  assert.deepEqual(assign(slots, {}, of(4, "grpo", "reinforce")), {}, "part of a comparison waits for the rest");
});

test("one run may answer three questions, and all tables fill at once", () => {
  const runs = [sent(1, {}, 1), sent(2, {}, 1), sent(11), sent(12), sent(13), sent(14, { klCoef: 0.3 })];
  assert.deepEqual(seedsOf(assign(RUNS, {}, runs)), {
    "1B.first": 1,
    "1B.second": 2,
    "1C.try1": 11,
    "1C.try2": 12,
    "1C.try3": 13,
    "1C.policy": 13,
    "1D.G8.trial1": 11,
    "1D.G8.trial2": 12,
    "1D.G8.trial3": 13,
    "bonus.run": 14,
  });
});

test("a sent run is said in a few words", () => {
  assert.equal(wordsFor(sent(1)), "50 steps");
  assert.equal(wordsFor(sent(1, { groupSize: 32, klCoef: 0.3 }, 1)), "1 step, G = 32, β = 0.3");
  assert.equal(wordsFor(sent(1, { algorithm: "reinforce_baseline" }, 200)), "200 steps, REINFORCE + baseline");
  assert.equal(wordsFor(sent(1, { clipEps: null })), "50 steps, ε = off");
  const other = { innerSteps: 4, startAction: 2, rewardTable: singlePeak(3) };
  assert.equal(wordsFor(sent(1, other)), "50 steps, other settings");
});

test("seeds that the grader refuses are named", () => {
  const seeds = (ids, numbers) => Object.fromEntries(ids.map((id, i) => [id, { seed: String(numbers[i]) }]));
  const trials = ["1D.G2.trial1", "1D.G2.trial3", "1D.G32.trial1"];
  assert.match(seedProblem("1D.1", seeds(trials, [5, 5, 6])), /Seed 5.*G = 2/);
  assert.equal(seedProblem("1D.1", seeds(trials, [5, 6, 5])), "");
  assert.match(seedProblem("1C.1", seeds(["1C.try1", "1C.try3"], [1, 1])), /Seed 1/);
  assert.match(seedProblem("1E.1", seeds(["1E.grpo", "1E.reinforce"], [1, 2])), /same seed/);
  assert.equal(seedProblem("1E.1", seeds(["1E.grpo", "1E.reinforce"], [1, 1])), "");
  assert.equal(
    seedProblem("1B.1", seeds(["1B.first", "1B.second"], [1, 1])),
    "",
    "a locked seed is a fair answer to 1B.3",
  );
});

// State

test("progress counts what has points, and the steps of the page", () => {
  assert.deepEqual(progress(empty()).steps["1D"], { done: 0, of: 10 });
  const state = finished();
  assert.deepEqual([progress(state).done, progress(state).of], [30, 30]);
  state.answers["1A.1"] = "  \n";
  delete state.cells["1D.G2.trial1"].bestProbability;
  state.cells["bonus.run"] = {};
  const { done, answers, runs, steps } = progress(state);
  assert.deepEqual(
    [done, answers, runs, steps.bonus],
    [28, { done: 11, of: 12 }, { done: 17, of: 18 }, { done: 1, of: 2 }],
  );
});

test("what does not belong into a stored state is dropped", () => {
  const left = {
    answers: { "1A.1": "kept", "9Z": "no", "1A.2": 5 },
    cells: { "1C.try1": { seed: "4", toString: "x", stepsToHalf: 3 }, other: {} },
    handedIn: "yes",
    more: 1,
  };
  assert.deepEqual(tidy(left), { answers: { "1A.1": "kept" }, cells: { "1C.try1": { seed: "4" } }, handedIn: false });
  assert.equal(tidy({ ...left, handedIn: true }).handedIn, true);
  for (const rubbish of [null, 5, "x", [], { answers: null, cells: [1] }]) assert.deepEqual(tidy(rubbish), empty());
});

// Files

test("the JSON file has the form that the grader reads", () => {
  const state = empty();
  state.answers["1A.1"] = 'Uniform: "0.1" each.\n</script> \u{1F600}';
  state.cells["1D.G32.trial2"] = { seed: "7", bestProbability: "0,957" };
  state.cells["1E.reinforce"] = { seed: "3", maxProbability: "0.5", stepsTo90: "never" };
  const file = JSON.parse(toJson(state, text));
  assert.deepEqual([file.worksheet, file.version, file.answers.length], ["grpo-bandit", 1, 13]);
  assert.deepEqual(file.answers[0], { id: "1A.1", question: "What is 1A.1?", answer: state.answers["1A.1"] });
  const settings = golden.runs[0].settings; // the defaults, written by Python
  assert.deepEqual(file.runs, [
    {
      id: "1D.G32.trial2",
      seed: 7,
      steps: 50,
      settings: { ...settings, group_size: 32 },
      values: { best_probability: 0.957 },
    },
    {
      id: "1E.reinforce",
      seed: 3,
      steps: 200,
      settings: { ...settings, algorithm: "reinforce" },
      values: { max_probability: 0.5, steps_to_90: null },
    },
  ]);
});

test("the file holds what stands on the page, even if it is wrong, and leaves out what is no number", () => {
  const state = empty();
  state.cells["1D.G2.trial1"] = { seed: "7", bestProbability: "0.123" };
  state.cells["1D.G2.trial2"] = { seed: "7", bestProbability: "much" };
  state.cells["1D.G2.trial3"] = { bestProbability: "0.9" };
  const runs = JSON.parse(toJson(state, text)).runs.map(({ seed, values }) => [seed, values]);
  assert.deepEqual(runs, [
    [7, { best_probability: 0.123 }],
    [7, {}],
    [null, { best_probability: 0.9 }],
  ]);
});

test("what is no number comes back as well, from a part of the file that the grader leaves alone", () => {
  const state = empty();
  state.cells["1C.policy"] = { seed: "5", "policy.3": "0.012" };
  state.cells["1D.G2.trial1"] = { seed: "-5", bestProbability: "0.957" };
  state.cells["1B.first"] = { actions: "1 2 3", advantages: "later" };
  const { cells } = fromJson(toJson(state, text));
  assert.deepEqual(cells, state.cells);
  assert.deepEqual(JSON.parse(toJson(finished(), text)).typed, {}, "numbers are not written twice");
  for (const typed of [null, 5, "text", { "1B.first": "text" }, { "1B.first": { seed: 5, other: "x" } }]) {
    const file = { ...JSON.parse(toJson(state, text)), typed };
    assert.deepEqual(fromJson(JSON.stringify(file)).cells, {
      "1C.policy": { seed: "5" },
      "1D.G2.trial1": { bestProbability: "0.957" },
    });
  }
});

test("a number of a file is a number on the page", () => {
  const file = JSON.parse(toJson(finished(), text));
  for (const value of [1e-7, 1.5e300, -2e-9, 0.1 + 0.2]) {
    file.runs[6].values.best_probability = value;
    const { values } = record(RUNS[6], fromJson(JSON.stringify(file)).cells[RUNS[6].id]);
    assert.deepEqual(values, { bestProbability: value });
  }
});

test("a saved worksheet comes back as it was", () => {
  const state = finished();
  state.cells["1C.try2"].stepsToHalf = "never";
  state.cells["1D.G2.trial1"].bestProbability = "0.9568";
  state.answers["1F.1"] = 'Two lines\r\nand "quotes" \\ and \u2028.';
  assert.deepEqual(fromJson(toJson(state, text)), tidy(state));
  assert.deepEqual(fromJson(`\uFEFF${toJson(empty(), text)}`).cells, {});
});

test("a file that is not a worksheet is refused with the reason", () => {
  const change = (edit) => {
    const file = JSON.parse(toJson(finished(), text));
    edit(file);
    return JSON.stringify(file);
  };
  const cases = [
    ["{", /not JSON/],
    ["[]", /not a worksheet/],
    ["{}", /not a worksheet/],
    [change((file) => void (file.version = 2)), /version 2, but this page reads version 1/],
    [change((file) => void (file.answers = 1)), /lists of answers and runs/],
    [change((file) => void (file.answers[1].answer = 5)), /answers\[1\] \(1A\.2\): the answer is not text/],
    [change((file) => void (file.answers[1].id = "1A.1")), /answers\[1\]: 1A\.1 appears twice/],
    [change((file) => void (file.runs[0].id = "toString")), /runs\[0\]: .* no entry with that id/],
    [change((file) => void (file.runs[2].steps = 60)), /runs\[2\] \(1C\.try1\): it has 60 steps, but the worksheet asks for 50/],
    [
      change((file) => void (file.runs[6].settings.group_size = 8)),
      /runs\[6\] \(1D\.G2\.trial1\): G is 8, but the worksheet asks for 2/,
    ],
    [change((file) => delete file.runs[6].settings.lr), /runs\[6\] .*: η is missing/],
    [change((file) => void (file.runs[6].settings = {})), /runs\[6\] .*: the rewards are missing/],
    [change((file) => void (file.runs[6].seed = "7")), /its seed is not a whole number/],
    [change((file) => void (file.runs[6].values.best_probability = "x")), /value best_probability does not match/],
    [change((file) => void (file.runs[0].values.actions = [null])), /value actions does not match/],
    [change((file) => void (file.runs[0].values.more = 1)), /value more does not match/],
    [change((file) => void (file.runs[0] = null)), /runs\[0\]: .* no entry with that id/],
  ];
  for (const [file, message] of cases)
    assert.throws(() => fromJson(file), { name: "Error", message }, file.slice(0, 80));
});

test("text stays text in Markdown", () => {
  assert.equal(
    escapeMarkdown("<b>*a* & `b` [c](d) # | $x$ _e_"),
    "&lt;b&gt;\\*a\\* &amp; \\`b\\` \\[c\\](d) \\# \\| \\$x\\$ \\_e\\_",
  );
  assert.equal(escapeMarkdown("- item"), "\\- item");
  assert.equal(escapeMarkdown("12. item"), "12\\. item");
  const state = empty();
  state.answers["1A.1"] = "# one\n\n    two | three";
  state.cells["1D.G2.trial1"] = { seed: "7", bestProbability: "0.9|57\n" };
  state.answers["1A.2"] = "one\r# two\r\n- three";
  const markdown = toMarkdown(state, text);
  assert.ok(markdown.includes("> one  \n> \\# two  \n> \\- three\n"), "a carriage return alone ends a line");
  assert.ok(markdown.includes("> \\# one  \n>  \n> two \\| three"));
  assert.ok(markdown.includes("| 1D.G2.trial1 | 7 | 0.9\\|57 |"));
  assert.equal(markdown.match(/\*no answer\*/g).length, 11);
});
