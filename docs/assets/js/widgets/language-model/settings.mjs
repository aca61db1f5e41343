// The settings of the language model: names in the address, values, texts, and what a link says that is of no use.
import { MOST_TERMS, read as readReward, written } from "../../core/lm/reward.mjs";
import { NAMES, SUMS, rightSum } from "../../core/lm/task.mjs";
import { fixed } from "../../ui/format.mjs";

export const LARGEST_SEED = 999_999;
const MOST_LETTERS = 4096; // of a batch: completions times their longest length

const PIZZA = { reward: "4*is(pizza.)", prompt: "ravin", p: 4, lr: 7e-4, steps: 40, tokens: 12 };
export const TASKS = {
  pizza: { text: "Ravin's pizza", ...PIZZA },
  sums: { text: "Sums", reward: "1*right", prompt: "sums", p: 32, lr: 2e-3, steps: 150, tokens: 4 },
  own: { text: "Your own reward", ...PIZZA, reward: "0.1*length", tokens: 16 },
};

/** Each: a list of `values` (numbers) or `options` [name, text], and the default, where the task has none. */
export const SETTINGS = {
  task: { label: "Task", options: Object.entries(TASKS).map(([name, { text }]) => [name, text]), value: "pizza" },
  prompt: { label: "Prompt", options: [...NAMES.map((name) => [name, `${name} likes`]), ["sums", "sums such as 3+4="]] },
  g: { label: "Group size G", values: [1, 2, 4, 8, 16, 32, 64], value: 8 },
  p: { label: "Prompts per step P", values: [1, 2, 4, 8, 16, 32] },
  lr: { label: "Learning rate", values: [1e-4, 2e-4, 3e-4, 5e-4, 7e-4, 1e-3, 2e-3, 3e-3, 5e-3] },
  inner: { label: "Updates per batch", values: [1, 2, 3, 4, 6, 8], value: 1 },
  eps: { label: "Clip ε", values: [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1], value: 0.2 },
  high: { label: "Upper clip ε", values: [0, 0.05, 0.1, 0.2, 0.28, 0.4, 0.5, 1], value: 0, show: (x) => x || "same as ε" },
  beta: { label: "KL weight β", values: [0, 0.01, 0.02, 0.04, 0.1, 0.2, 0.3, 0.5, 1, 2], value: 0.04 },
  level: { label: "Mean of the loss", options: [["sequence", "by sequence"], ["token", "by token"]], value: "sequence" },
  ratio: { label: "Ratio", options: [["token", "one per token"], ["sequence", "one per completion"]], value: "token" },
  std: { label: "Advantage", options: [["yes", "divide by std"], ["no", "only subtract the mean"]], value: "yes" },
  t: { label: "Temperature", values: [0.5, 0.7, 1, 1.3, 1.6], value: 1, show: (x) => fixed(x, 1) },
  tokens: { label: "Longest completion", values: [4, 8, 12, 16, 20, 24] },
  steps: { label: "Steps", values: [10, 20, 40, 80, 150, 300] },
};
const OTHERS = ["reward", "watch", "seed", "step", "open", "guess"];

/** The default of a setting for a task. */
export const usual = (name, task) => TASKS[task][name] ?? SETTINGS[name].value;

/** { state, ignored } of an address, given its parameters as [name, value]; `ignored` are sentences. */
export function fromAddress(parameters) {
  const given = new Map(parameters);
  const ignored = [];
  const state = { task: "pizza" };
  for (const [name, { values, options }] of Object.entries(SETTINGS)) {
    state[name] = usual(name, state.task);
    if (!given.has(name)) continue;
    const text = given.get(name);
    const found = options ? options.find(([key]) => key === text)?.[0] : values.find((value) => text.trim() && value === Number(text));
    if (found === undefined) ignored.push(`${name} = ${short(text)} (${offered(SETTINGS[name])})`);
    else state[name] = found;
  }
  const { terms, ignored: parts } = readReward(state.task === "own" ? given.get("reward") ?? TASKS.own.reward : TASKS[state.task].reward);
  ignored.push(...parts.map((part) => `${short(part)} in the reward (at most ${MOST_TERMS} terms, of known blocks)`));
  state.terms = terms.length ? terms : readReward(TASKS.own.reward).terms;
  state.watch = watchable(given.get("watch")) ?? "pizza.";
  if (given.has("watch") && given.get("watch") !== state.watch) ignored.push(`watch = ${short(given.get("watch"))} (1 to 24 letters that the model knows)`);
  state.seed = given.has("seed") ? whole(given.get("seed"), LARGEST_SEED) : null;
  if (given.has("seed") && state.seed === null) ignored.push(`seed = ${short(given.get("seed"))} (0 to ${LARGEST_SEED})`);
  state.seed ??= 0;
  state.step = whole(given.get("step") ?? "", 300) ?? 0;
  if (given.has("step") && !state.step) ignored.push(`step = ${short(given.get("step"))} (1 to 300)`);
  for (const name of ["reward", "watch", "prompt"]) if (given.has(name) && state.task !== "own") ignored.push(`${name} (only with task = own)`);
  for (const name of given.keys()) if (!(name in SETTINGS) && !OTHERS.includes(name)) ignored.push(`${short(name)} (no such setting)`);
  const fitted = fit(state);
  if (fitted) ignored.push(fitted);
  return { state, ignored };
}

const short = (text) => (text.length > 30 ? `${text.slice(0, 30)}…` : text);
const offered = ({ values, options }) => `one of ${(values ?? options.map(([key]) => key)).join(", ")}`;
const whole = (text, most) => (/^\d{1,6}$/.test(text) && Number(text) <= most ? Number(text) : null);
export const watchable = (text) => (text && /^[a-z0-9 +=.]{1,24}$/.test(text) ? text : null);

/** Makes a batch small enough for a tab; returns what it changed, or "". */
export function fit(state) {
  const { prompt, task } = state;
  if (task !== "own") state.prompt = TASKS[task].prompt;
  if (prompt !== "sums" && state.tokens + `${prompt} likes `.length > 40) state.tokens = 24;
  const before = state.p;
  while (state.p > 1 && state.g * state.p * state.tokens > MOST_LETTERS) state.p = SETTINGS.p.values[SETTINGS.p.values.indexOf(state.p) - 1];
  return state.p === before ? "" : `p = ${before} (a batch of this tab has at most ${MOST_LETTERS} letters, so P is ${state.p})`;
}

/** What belongs into the address: whatever differs from the task's defaults. */
export function toAddress(state) {
  const written_ = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, state[name] === usual(name, state.task) ? null : state[name]]));
  const own = state.task === "own";
  return {
    ...written_, task: state.task === "pizza" ? null : state.task, prompt: own ? written_.prompt : null,
    reward: own ? written(state.terms) : null, watch: own && state.watch !== "pizza." ? state.watch : null,
    seed: state.seed || null, step: state.step || null,
  };
}

/** The text of a setting's value. */
export function shown(name, value) {
  const { options, show = String } = SETTINGS[name];
  return options ? options.find(([key]) => key === value)[1] : String(show(value));
}

/** What is different in two states, in words. */
export function difference(before, after) {
  const changed = Object.entries(SETTINGS).filter(([name]) => before[name] !== after[name]).map(([name, { label }]) => `${label} ${shown(name, after[name])}`);
  if (written(before.terms) !== written(after.terms)) changed.push(`reward ${written(after.terms)}`);
  if (before.seed !== after.seed) changed.push(`seed ${after.seed}`);
  return changed.join(", ");
}

export const prompts = ({ prompt }) => (prompt === "sums" ? SUMS : [`${prompt} likes `]);

/** What the first curve shows: { targets, name }. */
export function measured(state) {
  if (state.prompt === "sums") return { name: "probability of the right sum", targets: SUMS.map((prompt) => [prompt, `${rightSum(prompt)}.`]) };
  const text = state.task === "own" ? state.watch : "pizza.";
  return { name: `probability of “${text}”`, targets: [[prompts(state)[0], text]] };
}

/** The settings as core/lm/training.mjs takes them. */
export function toCore({ g, p, lr, inner, eps, high, beta, level, ratio, std, t, tokens, steps }) {
  return { g, p, lr, inner, eps, epsHigh: high || eps, beta, level, ratioLevel: ratio, divide: std === "yes", temperature: t, tokens, steps };
}
