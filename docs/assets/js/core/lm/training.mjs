// A training run of the language model: `train` of exercise 5, step by step. The same settings and seed give the same run.
import { groupAdvantages } from "../grpo.mjs";
import { makeRng } from "../rng.mjs";
import { exp } from "./exact.mjs";
import { grpoLoss } from "./loss.mjs";
import { END, decode, encode, isWellFormed } from "./task.mjs";
import { PrefixTree, TinyLM } from "./tiny_lm.mjs";
import { Adam } from "./weights.mjs";

const FINAL_LR = 0.1; // share of the learning rate that is left in the last step
const MOST_KNOWN = 1500; // prefixes that the reference policy remembers, 10 kB each
const IDLE = 10; // steps without any signal, after which a run stops

/** What stops a run; the message is a sentence for the reader. */
export class Stopped extends Error {}

/**
 * One run. `reward(prompt, completion)` is a number; settings are those of widgets/language-model/settings.mjs; `targets` are
 * [prompt, completion] whose mean probability is computed exactly after each step.
 */
export class Training {
  constructor({ weights, settings, prompts, reward, targets, seed }) {
    Object.assign(this, { settings, prompts, reward, targets });
    const { size } = weights;
    this.random = makeRng(seed);
    this.policy = new TinyLM({ size, parameters: weights.parameters.slice() }, settings.temperature);
    this.reference = new TinyLM(weights, settings.temperature);
    this.optimizer = new Adam(this.policy.parameters);
    this.gradients = new Float64Array(this.policy.parameters.length);
    [this.tree, this.refTree, this.probe] = [1, 2, 3].map(() => new PrefixTree(size));
    this.steps = 0;
    this.start = { exact: this.exact() };
  }

  /** Makes one step and returns its record { step, rows, ...metrics }; throws Stopped. */
  step() {
    const { settings } = this;
    const rows = this.sample();
    this.score(rows);
    let found;
    for (let update = 0; update < settings.inner; update++) {
      if (update) this.tree.forward(this.policy, true);
      rows.forEach((row) => (row.now = this.logp(this.tree, row)));
      found = grpoLoss(rows, settings);
      this.update(rows, found);
    }
    this.steps += 1;
    const record = this.record(rows, found);
    this.moved ||= record.zeroSignal < 1;
    if (!Number.isFinite(record.exact)) throw new Stopped(`After step ${this.steps} the weights are not finite numbers. Choose a smaller learning rate.`);
    return record;
  }

  /** Whether no group had anything to learn from in so many steps that none will. */
  get isIdle() {
    return !this.moved && this.steps >= IDLE;
  }

  /** Draws G completions of each of P prompts, one token at a time for all rows together. */
  sample() {
    const { g, p, tokens: most } = this.settings;
    this.tree.clear();
    const rows = this.draw(p).flatMap((prompt) => Array.from({ length: g }, () => ({ prompt, nodes: [], tokens: [] })));
    for (const row of rows) row.at = this.tree.nodes(encode(row.prompt)).at(-1);
    let running = rows;
    for (let t = 0; t < most && running.length; t++) {
      this.tree.forward(this.policy);
      for (const row of running) {
        const token = this.pick(row.at);
        row.nodes.push(row.at);
        row.tokens.push(token);
      }
      running = running.filter(({ tokens }) => tokens.at(-1) !== END);
      if (t + 1 < most) for (const row of running) row.at = this.tree.child(row.at, row.tokens.at(-1));
    }
    this.entropy = this.meanEntropy(rows);
    for (const row of rows) {
      row.text = decode(row.tokens);
      row.old = this.logp(this.tree, row);
      row.ref = this.refLogp(row);
    }
    return rows;
  }

  /** P prompts, each at most once while there are enough. */
  draw(count) {
    const chosen = [];
    while (chosen.length < count) {
      const left = [...this.prompts];
      while (left.length && chosen.length < count) chosen.push(...left.splice(Math.floor(this.random() * left.length), 1));
    }
    return chosen;
  }

  /** A token from the prediction of a node, by inverse transform sampling. */
  pick(node) {
    const { vocabulary } = this.tree.size;
    const u = this.random();
    let end = 0;
    for (let token = 0; token < vocabulary - 1; token++) {
      end += exp(this.tree.logp[node * vocabulary + token]);
      if (u < end) return token;
    }
    return vocabulary - 1;
  }

  logp({ logp, size: { vocabulary } }, { nodes, tokens }) {
    return Float64Array.from(tokens, (token, t) => logp[nodes[t] * vocabulary + token]);
  }

  /** The reference policy never changes, so it reads each prefix once. */
  refLogp({ prompt, tokens }) {
    if (this.refTree.count > MOST_KNOWN) this.refTree.clear();
    const before = encode(prompt);
    const nodes = this.refTree.nodes([...before, ...tokens.slice(0, -1)]).slice(before.length - 1);
    this.refTree.forward(this.reference);
    return this.logp(this.refTree, { nodes, tokens });
  }

  score(rows) {
    const { g, divide } = this.settings;
    for (const row of rows) {
      row.reward = this.reward(row.prompt, row.text);
      if (!Number.isFinite(row.reward)) throw new Stopped(`The reward of “${row.text}” is ${row.reward}, and a mean needs finite numbers. Change the reward.`);
    }
    for (let from = 0; from < rows.length; from += g) {
      const group = rows.slice(from, from + g);
      const { advantages, zeroSignal } = groupAdvantages(group.map(({ reward }) => reward), { divideByStd: divide });
      group.forEach((row, i) => Object.assign(row, { advantage: advantages[i], zeroSignal }));
    }
  }

  /** One step of Adam along the gradient of the loss. */
  update(rows, { tokens }) {
    const { lr, steps } = this.settings;
    this.gradients.fill(0);
    this.tree.backward(this.policy, this.gradients, logitSlopes(this.tree, rows, tokens, this.settings.temperature));
    this.optimizer.step(this.gradients, lr * (1 - (1 - FINAL_LR) * Math.min(1, this.steps / Math.max(1, steps - 1))));
  }

  /** Exact probability of the targets, mean over all. */
  exact() {
    this.probe.clear();
    const rows = this.targets.map(([prompt, text]) => {
      const [before, tokens] = [encode(prompt), encode(text)];
      return { tokens, nodes: this.probe.nodes([...before, ...tokens.slice(0, -1)]).slice(before.length - 1) };
    });
    this.probe.forward(this.policy);
    const probabilities = rows.map((row) => exp(this.logp(this.probe, row).reduce((a, b) => a + b, 0)));
    return probabilities.reduce((a, b) => a + b, 0) / rows.length;
  }

  /**
   * What is known of a step: the columns of metrics.csv of `run_charlm`, and every completion. `logps` holds, completion after
   * completion, one number for each letter, four times: old, now (in the last update), reference, and after the step.
   */
  record(rows, { loss, policyLoss, kl, clipFraction }) {
    this.tree.forward(this.policy, true);
    const mean = (value) => rows.reduce((total, row) => total + value(row), 0) / rows.length;
    const joined = (values) => Float64Array.from(rows.flatMap((row) => Array.from(values(row))));
    return {
      step: this.steps, loss, policyLoss, kl, clipFraction, exact: this.exact(), entropy: this.entropy,
      meanReward: mean(({ reward }) => reward), meanAdvantage: mean(({ advantage }) => advantage),
      zeroSignal: mean(({ zeroSignal }) => Number(zeroSignal)),
      length: mean(({ tokens }) => tokens.length), wellFormed: mean(({ text }) => Number(isWellFormed(text))),
      prompts: rows.filter((_, i) => i % this.settings.g === 0).map(({ prompt }) => prompt), texts: rows.map(({ text }) => text),
      rewards: joined(({ reward }) => [reward]), advantages: joined(({ advantage }) => [advantage]),
      logps: [({ old }) => old, ({ now }) => now, ({ ref }) => ref, (row) => this.logp(this.tree, row)].map(joined),
    };
  }

  /** Mean entropy of the predictions from which the tokens were drawn. */
  meanEntropy(rows) {
    const { logp, size: { vocabulary } } = this.tree;
    let [total, count] = [0, 0];
    for (const { nodes } of rows) {
      count += nodes.length;
      for (const node of nodes) {
        for (let k = node * vocabulary; k < (node + 1) * vocabulary; k++) total -= exp(logp[k]) * logp[k];
      }
    }
    return total / count;
  }
}

/** Slopes of the loss along the logits (count, vocabulary) of a tree, from the pushes on the tokens that were drawn at its nodes. */
export function logitSlopes(tree, rows, terms, temperature) {
  const { count, logp, size: { vocabulary } } = tree;
  const slopes = tree.scratch("slopes", count * vocabulary).fill(0);
  const sums = new Float64Array(count);
  rows.forEach(({ nodes, tokens }, b) => tokens.forEach((token, t) => {
    const slope = -terms[b][t].push / temperature;
    slopes[nodes[t] * vocabulary + token] += slope;
    sums[nodes[t]] += slope;
  }));
  for (let node = 0; node < count; node++) {
    if (sums[node] === 0) continue;
    for (let k = 0; k < vocabulary; k++) slopes[node * vocabulary + k] -= sums[node] * exp(logp[node * vocabulary + k]);
  }
  return slopes;
}
