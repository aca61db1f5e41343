// "Read your run": logs in the formats of many programs, and what the rules say about them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { readLog } from "../../docs/assets/js/core/run_log.mjs";
import { quantity } from "../../docs/assets/js/core/run_metrics.mjs";
import { asText, read } from "../../docs/assets/js/core/run_reading.mjs";
import { page, written } from "./run_examples.mjs";

const at = (path) => new URL(`../../docs/assets/${path}`, import.meta.url);
const log = (name) => readFileSync(at(`run-logs/${name}.txt`), "utf8");
const { readings, names } = JSON.parse(readFileSync(at("readings.json"), "utf8"));
const ids = (text, settings) => read(text, settings).findings.map(({ id }) => id);
const values = (text, name) => readLog(text).records.map((record) => record.values.get(name));

/** Lines of a run: each is made from its place. */
const lines = (n, line) => Array.from({ length: n }, (_, i) => line(i)).join("\n");
const wave = (i) => Math.sin(7 * i) + Math.sin(3.3 * i);

const FORMATS = {
  "a dictionary behind a progress bar": "  3%|▎     | 3/100 [00:12<01:00]{'loss': 0.1, 'reward': 0.5, 'kl': nan}\r  4%|▎ | 4/100{'loss': 0.2, 'reward': 0.6, 'kl': 0.1}",
  "quoted numbers": "{'loss': '0.1', 'reward': '0.5', 'kl': 'nan'}\n{'loss': '0.2', 'reward': '0.6', 'kl': '0.1'}",
  "JSON lines": '{"step": 1, "loss": 0.1, "reward": 0.5, "kl": NaN, "_wandb": {"runtime": 3}}\n{"step": 2, "loss": 0.2, "reward": 0.6, "kl": 0.1}',
  "pretty JSON, broken off": '{"log_history": [\n {\n "loss": 0.1,\n "reward": 0.5,\n "step": 1\n },\n {\n "loss": 0.2,\n "reward": 0.6,\n "st',
  "trainer_state.json": JSON.stringify({ global_step: 2, log_history: [{ loss: 0.1, reward: 0.5, step: 1 }, { loss: 0.2, reward: 0.6, step: 2 }, { train_runtime: 3, train_loss: 0.15, step: 2 }] }),
  "columns in JSON": JSON.stringify({ settings: { lr: 1 }, loss: [0.1, 0.2], reward: [0.5, 0.6] }),
  "a table with tabs": "Step\tTraining Loss\treward\n1\t0.100000\t0.500000\n2\t0.200000\t0.600000",
  "a table with pipes": "| Step | loss | reward |\n|---|---:|---:|\n| 1 | 0.1 | 0.5 |\n| 2 | 0.2 | 0.6 |",
  "a data frame": "   step  loss  reward\n0     1   0.1     0.5\n1     2   0.2     0.6",
  "HTML of a notebook": "<table><tr><th>Step</th><th>loss</th><th>reward</th></tr><tr><td>1</td><td>0.1</td><td>0.5</td></tr><tr><td>2</td><td>0.2</td><td>0.6</td></tr></table>",
  "CSV of wandb": '"Step","run-7 - train/loss","run-7 - train/loss__MIN","run-7 - train/reward"\n1,0.1,0.1,0.5\n2,0.2,0.2,0.6',
  "CSV with semicolons": "step;loss;reward\n1;0,1;0,5\n2;0,2;0,6",
  "name=value": "step 1: loss=0.1 reward=0.5\nstep 2: loss=0.2 reward=0.6",
  "one number per line": "=== Step 1/9 ===\n• Loss: 0.1\n• Reward: 0.5\n=== Step 2/9 ===\n• Loss: 0.2\n• Reward: 0.6",
  "colors and Ray prefixes": "\u001b[36m(TaskRunner pid=7, ip=10.0.0.2)\u001b[0m step:1 - train/loss:0.1 - reward:0.5 - kl:0.1\n[36m(main_task pid=9)[0m step:2 - train/loss:np.float64(0.2) - reward:0.6 - kl:-8e-06",
};
for (const [name, text] of Object.entries(FORMATS)) {
  test(`the numbers of ${name} are read`, () => {
    const { records } = readLog(text);
    const found = (key) => records.map((record) => [...record.values].find(([each]) => quantity(each)?.key === key)?.[1]);
    assert.deepEqual(found("loss"), [0.1, 0.2]);
    assert.deepEqual(found("reward"), [0.5, 0.6]);
  });
}

test("repeated and resumed steps, another run, and metrics of one step in two lines become one run", () => {
  const line = (step, reward) => `{"step": ${step}, "reward": ${reward}, "loss": 0.5}`;
  assert.deepEqual(values([line(1, 1), line(2, 2), line(2, 2), line(3, 3), line(2, 9), line(3, 8)].join("\n"), "reward"), [1, 9, 8]);
  const two = `${lines(8, (i) => line(i + 1, 0))}\n${lines(6, (i) => line(i + 1, 5))}`;
  assert.equal(readLog(two).runs, 2);
  assert.deepEqual(values(two, "reward"), [5, 5, 5, 5, 5, 5]);
  const parts = "rollout 3: {'rollout/raw_reward': 0.5, 'rollout/x': 1}\nstep 3: {'train/kl_loss': 0.1, 'train/pg_loss': 0.2}";
  assert.equal(readLog(parts).records.length, 1);
});

test("what is not the log of GRPO gets a sentence and no finding", () => {
  const refusals = {
    nothing: ["", "Hello, my run is bad.", "step,time\n1,2", "actor:\n  clip_ratio: 0.2\n  kl_coef: 0.001\n  lr: 1e-6", '{"learning_rate": 1e-6, "beta": 0.04, "num_generations": 8}'],
    other: [lines(9, (i) => `{'loss': ${2 - 0.1 * i}, 'grad_norm': 0.5, 'epoch': 0.${i}}`), lines(9, () => "{'loss': 0.6, 'rewards/chosen': 0.1, 'rewards/rejected': 0}"),
      lines(9, (i) => `step:${i} - critic/vf_loss:0.3 - actor/pg_loss:0.1 - critic/score/mean:0.4`)],
  };
  for (const [refusal, texts] of Object.entries(refusals)) {
    for (const text of texts) assert.deepEqual([read(text).refusal, ids(text)], [refusal, []], text);
  }
});

test("each sick run gets its finding, and not those that it explains", () => {
  const trl = (values) => `{${Object.entries(values).map(([name, value]) => `'${name}': ${value}`).join(", ")}}`;
  assert.equal(ids(log("collapse"))[0], "collapse");
  assert.equal(ids(log("no-gradient"))[0], "grad_zero");
  assert.deepEqual(ids(log("truncation")), ["truncation"]);
  assert.deepEqual(ids(log("held-out")).slice(0, 2), ["overtrained", "entropy_low"]);
  const sick = {
    nan: (i) => ({ loss: i < 5 ? 0.1 : "nan", grad_norm: i < 5 ? 1 : "nan", reward: i < 5 ? 0.5 : 0, "completions/clipped_ratio": i < 5 ? 0 : 1 }),
    no_signal: (i) => ({ loss: 0, grad_norm: 0, reward: 0, frac_reward_zero_std: 1, entropy: 0.3 + 0.01 * wave(i) }),
    saturated: (i) => ({ loss: 0, grad_norm: 0, reward: 1, frac_reward_zero_std: 1, entropy: 0.3 + 0.01 * wave(i) }),
    format_only: (i) => ({ reward: 0.3 + 0.03 * i, "rewards/format_reward": 0.3 + 0.03 * i, "rewards/accuracy_reward": 0 }),
    small_std: (i) => ({ reward: 0.9 + 0.001 * wave(i), "rewards/judge/mean": 0.9, "rewards/judge/std": 0.002, reward_std: 0.002, frac_reward_zero_std: 0.1 }),
    pair: (i) => ({ reward: (i * 7) % 3 / 2, reward_std: (i * 7) % 3 === 1 ? 0.7071 : 0, completion_length: 300 + 9 * wave(i) }),
    kl_start: (i) => ({ reward: 0.3 + 0.01 * wave(i), kl: 0.6 + 0.01 * wave(i) }),
    entropy_high: (i) => ({ reward: 0.3 + 0.01 * wave(i), entropy: 0.6 + 0.1 * i }),
    sampler: (i) => ({ reward: 0.3 + 0.01 * i, "sampling/sampling_logp_difference/mean": 0.2 }),
    plateau: (i) => ({ reward: 0.3 + 0.02 * wave(i), reward_std: 0.4 }),
  };
  for (const [id, line] of Object.entries(sick)) assert.equal(ids(lines(24, (i) => trl(line(i))))[0], id);
});

test("the first line with nan is named, and a gradient of nan that goes away is no reason to stop", () => {
  const text = lines(12, (i) => `{'loss': ${i === 4 ? "nan" : 0.1}, 'reward': 0.${i + 10}, 'step': ${10 * i}}`);
  const [found] = read(text).findings;
  assert.deepEqual([found.id, found.level], ["nan_once", "look"]);
  assert.match(found.facts[0], /step 40/);
});

test("healthy runs, shown and recorded, raise no alarm", () => {
  const recorded = ["charlm-pizza", "charlm-pizza-token", "charlm-pizza-sequence", "charlm-pizza-kl", "charlm-arithmetic"].map((name) => at(`runs/${name}/metrics.csv`));
  for (const file of [...recorded, at("runs/llm-sums/run.json"), at("run-logs/healthy.txt"), at("run-logs/loss-zero.txt")]) {
    assert.deepEqual(read(readFileSync(file, "utf8")).findings.filter(({ level }) => level !== "normal"), [], file.pathname);
  }
});

test("under eight lines only the rules are used that need no trend", () => {
  const short = log("collapse").split("\n").slice(14, 21).join("\n");
  assert.deepEqual(ids(short).filter((id) => ["collapse", "falling", "plateau", "rising"].includes(id)), []);
});

test("an excerpt from the middle of a run says nothing about the KL at the start", () => {
  const text = lines(20, (i) => `{'reward': ${0.3 + 0.01 * i}, 'kl': 0.6, 'epoch': ${0.5 + 0.01 * i}}`);
  assert.ok(!ids(text).includes("kl_start"));
  assert.ok(ids(text.replaceAll("'epoch': 0.5", "'epoch': 0.0").replaceAll("'epoch': 0.6", "'epoch': 0.1")).includes("kl_start"));
});

test("reward_std of TRL is inside groups up to 0.26 and over the batch since then", () => {
  assert.match(read(log("healthy")).summary, /TRL 0\.27 or later.*β = 0.*over the batch/);
  assert.match(read(log("loss-zero")).summary, /0\.16 or earlier.*inside groups/);
  assert.match(read(log("no-gradient")).summary, /ms-swift.*inside groups/);
});

test("settings sharpen a reading", () => {
  const text = lines(20, (i) => `{'step': ${10 * i}, 'reward': ${0.5 + 0.001 * wave(i)}, 'learning_rate': 1e-06, 'kl': 1e-05}`);
  assert.ok(!ids(text).includes("lr_low"));
  assert.ok(ids(text, { lora: "yes" }).includes("lr_low"));
});

test("every finding has a text, and a copied reading has numbers, causes and what to look at", () => {
  const source = ["run_rules", "run_harmless"].map((name) => readFileSync(at(`js/core/${name}.mjs`), "utf8")).join("\n");
  const used = [...source.matchAll(/\b(?:finding|normal)\("(\w+)"|\? "(\w+)" : (?:isCollapse|"no_signal")/g)].map((match) => match[1] ?? match[2]);
  assert.ok(used.length > 30);
  for (const id of used) assert.ok(readings[id], id);
  const copied = asText(read(log("collapse")), readings);
  for (const part of [/STOP/, /halfway down in line 18/, /Probable causes/, /learning rate is too high/, /Look at next/]) assert.match(copied, part);
});

test("the dictionary knows the names by which the rules read a log", () => {
  for (const [written, , meaning] of names) assert.ok(written && meaning.length > 10, written);
  for (const name of ["reward_std", "completions/clipped_ratio", "actor/kl_loss", "mismatch_kl", "critic/score/mean"]) {
    assert.ok(quantity(name) && names.some(([entry]) => entry.split(", ").includes(name)), name);
  }
});

test("the page of examples shows what the rules say today", () => {
  assert.equal(written(), page(), "node tests/js/run_examples.mjs");
});
