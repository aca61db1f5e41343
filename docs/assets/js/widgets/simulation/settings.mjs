// The settings of the simulation page (catalogue S1-C1 to S1-C13): their names in the address, values, texts, and what
// they mean for core/bandit.mjs. The names in the address are the symbols of the formulas.
import { DEFAULTS, doublePeak, linear, singlePeak } from "../../core/bandit.mjs";
import { nearest } from "../../ui/controls.mjs";
import { fixed } from "../../ui/format.mjs";

const range = (low, high, step) =>
  Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => Number((low + i * step).toFixed(2)));

export const LARGEST_SHOWN_SEED = 999_999; // short enough to read to a neighbor
export const MOST_STEPS = 2000;

/** Every setting: a list of `values` (numbers; null is "off") or of `options` [name, text], and the default. */
export const SETTINGS = {
  reward: {
    label: "Reward function",
    options: [["single", "Single peak"], ["double", "Peaks 3 and 8"], ["linear", "Linear: a / 10"]],
    value: "single",
  },
  peak: { label: "Peak at action", values: range(1, 10, 1), value: 7 },
  start: { label: "Policy at the start", options: [["uniform", "Uniform"], ["biased", "Biased to action 3"]], value: "uniform" },
  bump: { label: "Logit of action 3", values: range(0, 5, 0.5), value: 3, show: (x) => fixed(x, 1) },
  g: { label: "Group size G", values: [1, 2, 4, 8, 16, 32, 64], value: DEFAULTS.groupSize },
  lr: {
    label: "Learning rate η",
    values: [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2],
    value: DEFAULTS.lr,
  },
  k: { label: "Inner updates", values: range(1, 8, 1), value: DEFAULTS.innerSteps },
  eps: {
    label: "Clip ε",
    values: [...range(0.05, 0.5, 0.05), null],
    value: DEFAULTS.clipEps,
    show: (x) => (x === null ? "no clip" : fixed(x, 2)),
  },
  beta: { label: "KL weight β", values: range(0, 2, 0.01), value: DEFAULTS.klCoef, show: (x) => fixed(x, 2) },
  std: {
    label: "Standard deviation",
    options: [["population", "divide by G"], ["sample", "divide by G − 1"], ["none", "do not divide"]],
    value: "population",
  },
};

/** Settings, seed, lock and steps that an address describes. Values that no control can show become the nearest one. */
export function fromAddress(read) {
  const state = {};
  for (const [name, { values, options, value }] of Object.entries(SETTINGS)) {
    const given = read(name);
    if (given === null) state[name] = value;
    else if (options) state[name] = options.some(([option]) => option === given) ? given : value;
    else if (given === "off" && values.includes(null)) state[name] = null;
    else state[name] = given.trim() && Number.isFinite(Number(given)) ? values[nearest(values, Number(given))] : value;
  }
  state.seed = whole(read("seed"), 0, LARGEST_SHOWN_SEED, randomSeed());
  state.lock = read("lock") === "1";
  state.n = whole(read("n"), 1, 500, 50);
  state.steps = whole(read("steps"), 0, MOST_STEPS, 0);
  return state;
}

function whole(text, low, high, fallback) {
  const number = text === null || !text.trim() ? NaN : Number(text);
  return Number.isInteger(number) && number >= low && number <= high ? number : fallback;
}

/** A setting as people read it. */
function shown(name, value) {
  const { options, show = String } = SETTINGS[name];
  return options ? options.find(([option]) => option === value)[1] : show(value);
}

const differing = (a, b) => Object.entries(SETTINGS).filter(([name]) => a[name] !== b[name]);

/** What is different in two states: "Group size G 8 → 4". */
export const difference = (before, after) => differing(before, after).map(([name, { label }]) => `${label} ${shown(name, before[name])} → ${shown(name, after[name])}`).join(", ");

/** What a state has where another has something else: "Group size G 8". */
export const otherwise = (state, other) => differing(state, other).map(([name, { label }]) => `${label} ${shown(name, state[name])}`).join(", ");

/** All that determines a run, for paper. */
export const description = (state) => [`Seed ${state.seed}, ${steps(state.steps)}`, ...Object.entries(SETTINGS)
  .filter(([name]) => !unused(state).includes(name)).map(([name, { label }]) => `${label} ${shown(name, state[name])}`)].join("; ");

export const steps = (count) => `${count} ${count === 1 ? "step" : "steps"}`;
export const samples = (count) => `${count} ${count === 1 ? "sample" : "samples"}`;

/** Settings without an effect beside the others. */
export const unused = ({ reward, start }) => [reward === "single" ? "" : "peak", start === "biased" ? "" : "bump"];

/** What belongs into the address: the seed, and whatever differs from the defaults. */
export function toAddress(state) {
  const written = { seed: state.seed, lock: state.lock ? 1 : null, n: state.n === 50 ? null : state.n };
  written.steps = state.steps || null;
  for (const [name, { value }] of Object.entries(SETTINGS)) {
    written[name] = state[name] === value ? null : state[name] ?? "off";
  }
  return written;
}

export const randomSeed = () => Math.floor(Math.random() * (LARGEST_SHOWN_SEED + 1));

const REWARDS = { single: ({ peak }) => singlePeak(peak), double: () => doublePeak(), linear: () => linear() };

/** The settings for core/bandit.mjs. */
export function toCore(state) {
  const biased = state.start === "biased";
  return {
    ...DEFAULTS,
    rewardTable: REWARDS[state.reward](state),
    groupSize: state.g,
    lr: state.lr,
    clipEps: state.eps,
    klCoef: state.beta,
    innerSteps: state.k,
    divideByStd: state.std !== "none",
    correction: state.std === "sample" ? 1 : 0,
    startAction: biased ? 3 : null,
    startLogit: biased ? state.bump : 0,
  };
}

/** Settings worth a look, beside the defaults, and what to look at. */
export const EXAMPLES = [
  ["Defaults", {}, "Run: when does action 7 pass one half?"],
  ["Clip at work", { k: 4, eps: 0.05 }, "Make single steps: where in the step detail does the clip bind?"],
  ["Local optimum", { reward: "double", start: "biased", lr: 0.3, g: 4 }, "It starts with 0.69 on action 3, whose reward is 0.7. Does it find action 8? Try larger groups."],
  ["KL holds it back", { beta: 1 }, "Run 200 steps: how far does action 7 get?"],
  ["Dr. GRPO with KL", { std: "none", beta: 0.3, g: 32 }, "Run 200 steps: without the division, the policy settles long before it is certain."],
];
