// A run as the page knows it: its records, its curves, and the terms of the loss of any of its tokens.
import { grpoLoss } from "../../core/lm/loss.mjs";
import { toCore } from "./settings.mjs";

/** Column of metrics.csv (as `run_charlm` writes it) to field of a record. */
const COLUMNS = {
  mean_reward: "meanReward", rolling_mean_reward: "rolling", mean_advantage: "meanAdvantage", zero_signal_fraction: "zeroSignal", entropy: "entropy",
  completion_length: "length", well_formed: "wellFormed", loss: "loss", policy_loss: "policyLoss", kl: "kl", clip_fraction: "clipFraction",
};
const ROLLING = 10;

export class Run {
  constructor(state) {
    this.state = { ...state };
    this.records = [];
    this.start = null; // exact probability before the first step
  }

  get steps() {
    return this.records.length;
  }

  get isFull() {
    return this.steps >= this.state.steps;
  }

  add(record) {
    const last = [...this.records.slice(-(ROLLING - 1)), record].map(({ meanReward }) => meanReward);
    this.records.push({ ...record, rolling: last.reduce((a, b) => a + b, 0) / last.length });
  }

  /** Values of a field, from step 0 on, for which only the exact probability is known. */
  curve(field) {
    return [field === "exact" ? this.start : null, ...this.records.map((record) => record[field])];
  }

  /** The completions of a group, counted from 0, of a step, with the term of the loss of each of their letters. */
  group(step, number) {
    const record = this.records[step - 1];
    record.rows ??= rowsOf(record);
    record.found ??= grpoLoss(record.rows, toCore(this.state));
    const { g } = this.state;
    return record.rows.slice(number * g, (number + 1) * g).map((row, i) => ({ ...row, tokens: record.found.tokens[number * g + i] }));
  }

  /** The first group of a step whose rewards differ, or else the first. */
  telling(step) {
    const { rewards } = this.records[step - 1] ?? { rewards: [] };
    const { g } = this.state;
    const place = rewards.findIndex((reward, i) => reward !== rewards[i - (i % g)]);
    return Math.max(0, Math.floor(place / g));
  }

  /** The run as metrics.csv. */
  csv() {
    const rows = this.records.map((record) => [record.step, ...Object.values(COLUMNS).map((field) => record[field])]);
    return [["step", ...Object.keys(COLUMNS)], ...rows].map((row) => row.join(",")).join("\n") + "\n";
  }
}

/** Rows of a record: each completion with its log-probabilities. */
function rowsOf({ prompts, texts, rewards, advantages, logps }) {
  const size = texts.length / prompts.length;
  let end = 0;
  return texts.map((text, b) => {
    const start = end;
    end += text.length;
    const [old, now, ref, after] = logps.map((values) => values.subarray(start, end));
    return { prompt: prompts[Math.floor(b / size)], text, reward: rewards[b], advantage: advantages[b], old, now, ref, after };
  });
}
