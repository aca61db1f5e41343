// Five runs that surprise. Each asks for a guess before it runs, and its verdict is computed from the run.
import { fixed, percent } from "../../ui/format.mjs";

const last = (run) => run.records.at(-1);
const top = (run) => Math.max(...run.curve("exact"));

/**
 * { name, settings, ask, choices: [text], right(run, before), verdict(run, before), then }: `right` is the number of the choice
 * that came true, -1 for none, or null if a second run decides; `then` are its settings, and `before` is the first run then.
 */
export const OPENINGS = {
  length: {
    name: "Length pays", settings: { task: "own", reward: "0.1*length" },
    ask: "Each letter earns 0.1. What does the model write after 40 steps?",
    choices: ["its longest food, ice cream", "long text that is no word", "what it wrote before"],
    right: (run) => (last(run).wellFormed < 0.2 ? 1 : last(run).length > 9.5 ? 0 : 2),
    verdict: (run) => `Completions grew from ${fixed(run.records[0].length, 1)} to ${fixed(last(run).length, 1)} letters, of at most ${run.state.tokens}. `
      + `${percent(last(run).wellFormed)} of them are well-formed. The last step wrote “${last(run).texts[0]}”. The reward never asked for a word.`,
  },
  hard: {
    name: "Too hard", settings: { task: "own", reward: "1*is(zebra.)", watch: "zebra." },
    ask: "Only “zebra.” earns a reward, and the model never writes it. What happens?",
    choices: ["it tries until it finds it", "nothing: it stays as it is", "it forgets its foods"],
    right: (run) => (run.records.every(({ zeroSignal }) => zeroSignal === 1) ? 1 : -1),
    verdict: (run) => `All ${run.steps * run.state.p} groups had equal rewards: every advantage was 0, and no weight moved. `
      + "GRPO learns from what the policy already does sometimes.",
  },
  two: {
    name: "G = 2", settings: { task: "pizza", g: 2, p: 16 }, then: { g: 8, p: 4 },
    ask: "Groups of two, but still 32 completions per step. How likely is “pizza.” after 40 steps?",
    choices: ["below 50 %", "50 to 90 %", "above 90 %"],
    right: (run) => (last(run).exact < 0.5 ? 0 : last(run).exact < 0.9 ? 1 : 2),
    verdict: (run, before) => (before ? `G = 2 ended at ${percent(last(before).exact, 1)} (dashed), G = 8 at ${percent(last(run).exact, 1)}, with as many completions.`
      : `It ends at ${percent(last(run).exact, 1)}. In the last step ${percent(last(run).zeroSignal)} of the groups agree and teach nothing, yet the others suffice.`),
    next: "Now with G = 8",
  },
  leash: {
    name: "β = 0.5", settings: { task: "pizza", beta: 0.5 }, then: { beta: 0 },
    ask: "The KL weight is 0.5. What does the probability of “pizza.” do over 40 steps?",
    choices: ["it rises to 95 % or more", "it rises, then falls back", "it hardly rises"],
    right: (run) => (top(run) >= 0.95 ? 0 : top(run) > last(run).exact + 0.05 ? 1 : top(run) < 0.4 ? 2 : -1),
    verdict: (run, before) => (before ? `β = 0.5 ended at ${percent(last(before).exact, 1)} (dashed), β = 0 at ${percent(last(run).exact, 1)}. The penalty pulls back to a model that likes eight foods.`
      : `It rose to ${percent(top(run), 1)} and ended at ${percent(last(run).exact, 1)}: the penalty grew with the distance from the reference.`),
    next: "Now without KL",
  },
  mean: {
    name: "By token", settings: { task: "pizza", level: "token" }, then: { level: "sequence" },
    ask: "The loss averages by token. Compared with a mean by sequence, “pizza.” is after 40 steps …",
    choices: ["clearly less likely", "as likely, give or take 3 points", "clearly more likely"],
    right: (run, before) => { // the second run decides
      if (!before) return null;
      const more = last(before).exact - last(run).exact;
      return Math.abs(more) <= 0.03 ? 1 : more < 0 ? 0 : 2;
    },
    verdict: (run, before) => (before ? `By token it ended at ${percent(last(before).exact, 1)} (dashed), by sequence at ${percent(last(run).exact, 1)}. Completions of 5 to 10 letters have similar weights.`
      : `It ends at ${percent(last(run).exact, 1)}. The policy loss of a fresh batch, always 0 by sequence, was up to ${fixed(Math.max(...run.records.map(({ policyLoss }) => Math.abs(policyLoss))), 3)}.`),
    next: "Now by sequence",
  },
};
