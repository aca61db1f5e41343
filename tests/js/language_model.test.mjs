// The language model in the browser: the same numbers as torch, its own exponential, rewards from blocks, and runs that learn.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { groupAdvantages } from "../../docs/assets/js/core/grpo.mjs";
import { exp, expm1, log } from "../../docs/assets/js/core/lm/exact.mjs";
import { grpoLoss } from "../../docs/assets/js/core/lm/loss.mjs";
import { read as readReward, rewardOf, written } from "../../docs/assets/js/core/lm/reward.mjs";
import { encode } from "../../docs/assets/js/core/lm/task.mjs";
import { PrefixTree, TinyLM } from "../../docs/assets/js/core/lm/tiny_lm.mjs";
import { Stopped, Training, logitSlopes } from "../../docs/assets/js/core/lm/training.mjs";
import { Adam, layout, readWeights } from "../../docs/assets/js/core/lm/weights.mjs";
import { Run } from "../../docs/assets/js/widgets/language-model/run.mjs";
import { fromAddress, toAddress, toCore } from "../../docs/assets/js/widgets/language-model/settings.mjs";

const read = (path) => readFileSync(new URL(path, import.meta.url));
const GOLDEN = JSON.parse(read("../golden/language_model.json"));
const file = read("../../starter/given/charlm.safetensors");
const REAL = readWeights(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
const TOLERANCE = 1e-5; // relative

/** The largest difference of two lists, relative to the largest number in them. */
function apart(found, expected) {
  assert.equal(found.length, expected.length);
  const largest = Math.max(...expected.map(Math.abs), 1e-12);
  return Math.max(...expected.map((x, i) => Math.abs(found[i] - x))) / largest;
}

function small() {
  const { size, weights } = GOLDEN.small;
  const { parts, length } = layout(size);
  assert.deepEqual(Object.keys(parts), Object.keys(weights));
  const parameters = new Float64Array(length);
  for (const name in parts) parameters.set(weights[name], parts[name].at);
  return { size, parameters };
}

/** What the browser makes of a case of the golden file. */
function computed({ real, settings, size, every }) {
  const base = real ? REAL : small();
  const { temperature = 1 } = settings;
  const nudged = (by) => base.parameters.map((x, i) => x + by * ((i % 101) - 50));
  const model = (parameters) => new TinyLM({ size: base.size, parameters }, temperature);
  const [policy, old, reference] = [nudged(size), nudged(-size), base.parameters].map(model);
  const { advantages } = groupAdvantages(GOLDEN.rewards, { divideByStd: settings.divide_by_std ?? true });
  const trees = [policy, old, reference].map(() => new PrefixTree(base.size));
  const before = encode(GOLDEN.prompt);
  const rows = GOLDEN.texts.map((text) => ({ tokens: encode(text) }));
  const logps = [policy, old, reference].map((each, m) => {
    for (const row of rows) row.nodes = trees[m].nodes([...before, ...row.tokens.slice(0, -1)]).slice(before.length - 1);
    if (m === 0) rows[0].first = rows[0].nodes;
    trees[m].forward(each);
    const { vocabulary } = base.size;
    return rows.map(({ nodes, tokens }) => tokens.map((token, t) => trees[m].logp[nodes[t] * vocabulary + token]));
  });
  rows.forEach((row, b) => Object.assign(row, { now: logps[0][b], old: logps[1][b], ref: logps[2][b], advantage: advantages[b] }));
  const { clip_eps: eps = 0.2, clip_eps_high: epsHigh = eps, kl_coef: beta = 0.04, loss_level: level = "sequence", ratio_level: ratioLevel = "token" } = settings;
  const found = grpoLoss(rows, { eps, epsHigh, beta, level, ratioLevel });
  // The nodes of the other trees have the same numbers: prefixes come in the same order.
  const gradients = new Float64Array(policy.parameters.length);
  trees[0].backward(policy, gradients, logitSlopes(trees[0], rows, found.tokens, temperature));
  const norm = Math.hypot(...gradients);
  new Adam(policy.parameters).step(gradients, 7e-4);
  const thinned = (numbers) => numbers.filter((_, i) => i % every === 0);
  const { vocabulary } = base.size;
  const logits = rows[0].first.flatMap((node) => [...trees[0].logits.subarray(node * vocabulary, (node + 1) * vocabulary)]);
  return { ...found, logits, logp: logps[0], gradientNorm: norm, gradient: thinned(gradients), after: thinned(policy.parameters) };
}

for (const expected of GOLDEN.cases) {
  test(`torch: ${expected.name}`, (t) => {
    const found = computed(expected);
    const gaps = {
      logits: apart(found.logits, expected.logits),
      logp: apart(found.logp.flat(), expected.logp.flat()),
      loss: apart([found.loss, found.policyLoss, found.kl, found.clipFraction], [expected.loss, expected.policy_loss, expected.kl, expected.clip_fraction]),
      gradient: apart([...found.gradient], expected.gradient),
      gradientNorm: apart([found.gradientNorm], [expected.gradientNorm]),
      "one step of Adam": apart([...found.after], expected.after),
    };
    t.diagnostic(Object.entries(gaps).map(([name, gap]) => `${name} ${gap.toExponential(1)}`).join(", "));
    for (const [name, gap] of Object.entries(gaps)) assert.ok(gap < TOLERANCE, `${name} differs by ${gap}`);
  });
}

test("exponential and logarithm agree with those of the engine, at both ends too", () => {
  for (let x = -745; x < 709; x += 0.37) assert.ok(Math.abs(exp(x) - Math.exp(x)) <= 4e-16 * Math.exp(x) + 1e-322, `exp(${x})`);
  for (let x = -2; x < 2; x += 0.0137) assert.ok(Math.abs(expm1(x) - Math.expm1(x)) <= 1e-15 * Math.abs(Math.expm1(x)), `expm1(${x})`);
  for (let x = 1; x < 1e6; x *= 1.013) assert.ok(Math.abs(log(x) - Math.log(x)) <= 4e-16 * Math.log(x), `log(${x})`);
  assert.deepEqual([exp(0), exp(-1000), exp(1000), exp(NaN), expm1(0), log(1)], [1, 0, Infinity, NaN, 0, 0]);
});

const SETTINGS = { ...toCore(fromAddress([]).state), steps: 12 };
const training = (changes = {}) => new Training({
  weights: REAL, settings: SETTINGS, prompts: ["ravin likes "], reward: (_, text) => (text === "pizza." ? 4 : 0), targets: [["ravin likes ", "pizza."]], seed: 1, ...changes,
});

function finished(run) {
  const records = [];
  while (run.steps < run.settings.steps && !run.isIdle) records.push(run.step());
  return records;
}

test("a run learns, the same seed repeats it to the last bit, and another seed does not", () => {
  const [one, again, other] = [1, 1, 2].map((seed) => finished(training({ seed })));
  assert.ok(Math.abs(training().start.exact - 0.1089) < 1e-4);
  assert.ok(one.at(-1).exact > 0.8);
  assert.deepEqual(one, again);
  assert.notDeepEqual(one.at(-1).texts, other.at(-1).texts);
});

test("with several updates per batch ratios leave 1, and the record's letters add up to its loss", () => {
  const { state } = fromAddress([["inner", "4"], ["eps", "0.02"], ["level", "token"]]);
  const run = new Run(state);
  for (const record of finished(training({ settings: { ...toCore(state), steps: 3 } }))) run.add(record);
  const tokens = [0, 1, 2, 3].flatMap((group) => run.group(3, group)).flatMap((row) => row.tokens);
  const { loss, clipFraction } = run.records[2];
  assert.ok(Math.abs(tokens.reduce((sum, { term }) => sum + term, 0) - loss) < 1e-12);
  assert.ok(clipFraction > 0 && clipFraction === tokens.filter(({ bound }) => bound).length / tokens.length);
  assert.match(run.csv().split("\n")[0], /^step,mean_reward,rolling_mean_reward,.*,clip_fraction$/);
});

test("a reward that is no number stops a run, and one that never differs makes it idle", () => {
  for (const bad of [NaN, Infinity]) assert.throws(() => training({ reward: () => bad }).step(), Stopped);
  const records = finished(training({ reward: () => 1, settings: { ...SETTINGS, steps: 40 } }));
  assert.equal(records.length, 10);
  assert.ok(records.every(({ exact, zeroSignal }) => zeroSignal === 1 && exact === records[0].exact));
});

test("a reward survives its link, and what a link should not hold is named and not run", () => {
  const text = "4*is(pizza.),-0.5*!ends(8)*has(z),0.1*length,1*close";
  const { terms, ignored } = readReward(text);
  assert.deepEqual([written(terms), ignored], [text, []]);
  const worth = (completion) => rewardOf(terms, "3+4=", completion);
  assert.deepEqual(["pizza.", "zzzzzzzzz", "9."].map(worth), [4.6, 0.4, 1].map((x) => x));
  const hostile = ["alert(1)", "1*constructor", "1*__proto__", "1e9*length", "1*ends(0)", "1*has()", "Infinity*length", "1*is(<b>)", "1*!length", "1*has", "4*length(3)"];
  assert.deepEqual(readReward(hostile.join(",")), { terms: [], ignored: hostile });
});

test("a link says which settings are of no use, keeps the others, and comes back as it was", () => {
  const { state, ignored } = fromAddress(Object.entries({ task: "own", g: "7", beta: "1e400", seed: "-1", lr: "0.002", nonsense: "1", watch: "Ä", reward: "1*has(z),evil()" }));
  assert.equal(ignored.length, 6);
  assert.deepEqual([state.lr, state.g, state.beta, state.seed, state.watch, written(state.terms)], [0.002, 8, 0.04, 0, "pizza.", "1*has(z)"]);
  const link = Object.entries(toAddress(state)).filter(([, value]) => value !== null).map(([name, value]) => [name, String(value)]);
  assert.deepEqual(fromAddress(link), { state, ignored: [] });
  const { state: large, ignored: less } = fromAddress([["g", "64"], ["p", "32"], ["tokens", "24"]]);
  assert.ok(large.g * large.p * large.tokens <= 4096 && less.length === 1);
});
