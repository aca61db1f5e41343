// The worksheet without its page: what a slot asks for, which sent runs may fill it, how far the reader is. (Catalogue
// S0-*; files are in worksheet_files.mjs.)
//
// A worksheet's state is what was typed, as text: { answers: { question id: text }, cells: { slot id: { field: text } } }.
// A slot (RUNS in worksheet_runs.mjs) is one run that the worksheet asks for. Its fields are "seed" and its values, where
// a policy has a field for each action: "policy.1" to "policy.10".
import { DEFAULTS, run as simulate, singlePeak } from "./bandit.mjs";
import { groupAdvantages } from "./grpo.mjs";
import { QUESTIONS, RUNS } from "./worksheet_runs.mjs";

export const LONGEST_ANSWER = 20_000; // characters that `grade worksheet` reads
const LARGEST_SEED = 2 ** 32 - 1;
const LISTS = { actions: 8, advantages: 8 }; // numbers in one field
const WHOLE = ["seed", "actions", "stepsToHalf", "stepsTo90"];
const NEVER = /^(never|no|none|[-\u2013\u2014\u2212]+)$/i;
const SEEDS = { "1C.1": "different", "1D.1": "different", "1E.1": "same" }; // as in grader/worksheet_questions.py

const same = (x, y) => JSON.stringify(x) === JSON.stringify(y);
const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

// What a slot asks for

/** Slots of a question, such as "1D.1". */
export const slotsOf = (question) => RUNS.filter((slot) => slot.question === question);

/** All settings of a slot, as core/bandit.mjs takes them. */
export const settingsOf = (slot) => ({ rewardTable: singlePeak(), ...DEFAULTS, ...slot.settings });

/** Names of a slot's fields. */
export const fieldsOf = (slot) =>
  ["seed", ...slot.values.flatMap((name) => (name === "policy" ? singlePeak().map((_, j) => `policy.${j + 1}`) : name))];

/** The values of a slot's run with a seed. A step that never comes is null. */
export function measure(slot, seed) {
  const settings = settingsOf(slot);
  const { actions, policy } = simulate(settings, { seed, steps: slot.steps }); // row t of policy: after t steps
  const { rewardTable } = settings;
  const best = rewardTable.indexOf(Math.max(...rewardTable));
  const firstOver = (threshold) => {
    const step = policy.findIndex((probabilities) => probabilities[best] > threshold);
    return step < 0 ? null : step;
  };
  const all = {
    actions: actions[0],
    advantages: groupAdvantages(actions[0].map((action) => rewardTable[action - 1]), settings).advantages,
    policy: policy.at(-1),
    bestProbability: policy.at(-1)[best],
    maxProbability: Math.max(...policy.at(-1)),
    stepsToHalf: firstOver(0.5),
    stepsTo90: firstOver(0.9),
  };
  return Object.fromEntries(slot.values.map((name) => [name, all[name]]));
}

// Fields

/** A cell with a run's seed and values: the text of each field, three decimals as the simulation shows them. */
export function cellOf(seed, values, write = threeDecimals) {
  const cell = { seed: seed === null ? "" : String(seed) };
  for (const [name, value] of Object.entries(values)) {
    const text = (x) => (x === null ? "never" : WHOLE.includes(name) ? String(x) : write(x).replace("-", "\u2212"));
    if (name === "policy") value.forEach((x, j) => void (cell[`policy.${j + 1}`] = text(x)));
    else cell[name] = Array.isArray(value) ? value.map(text).join("  ") : text(value);
  }
  return cell;
}

/** 0.5 is "0.500", and there is no "-0.000". */
export const threeDecimals = (x) => x.toFixed(3).replace(/^-(?=0\.000$)/, "");

/** Value of a field's text: a number, a list, or null for "never". Throws a RangeError that says what is expected. */
export function readField(name, text) {
  const whole = WHOLE.includes(name);
  if (LISTS[name]) return readList(text, LISTS[name], whole);
  if (name.startsWith("stepsTo") && NEVER.test(text.trim())) return null;
  const value = readNumber(text, whole);
  if (name === "seed" && (value < 0 || value > LARGEST_SEED)) throw new RangeError(`a whole number from 0 to ${LARGEST_SEED}`);
  return value;
}

/** Numbers between spaces, commas or semicolons. A comma inside of a number is a decimal point. */
function readList(text, length, whole) {
  const bySpaces = text.trim().split(/[,;]?\s+|;/);
  const parts = bySpaces.length === length ? bySpaces : text.trim().split(/[\s,;]+/);
  if (parts.length !== length) throw new RangeError(`${length} numbers with spaces between them, not ${parts.length}`);
  return parts.map((part) => readNumber(part, whole));
}

function readNumber(text, whole) {
  const plain = text.trim().replace(/[\u2212\u2013]/, "-").replace(",", ".");
  const pattern = whole ? /^\+?\d{1,15}$/ : /^[-+]?(\d{1,15}\.?\d{0,15}|\.\d{1,15})$/;
  if (!pattern.test(plain)) throw new RangeError(`a ${whole ? "whole " : ""}number, not "${text.trim().slice(0, 20)}"`);
  return Number(plain);
}

/** Whether anything is written in a cell. */
export const isStarted = (cell) => Object.values(cell ?? {}).some((text) => text.trim());

/** A cell as numbers: { seed, values, missing, problems }; the last two name fields, problems with what is expected. */
export function record(slot, cell = {}) {
  const read = {};
  const missing = [];
  const problems = {};
  for (const name of fieldsOf(slot)) {
    if (!cell[name]?.trim()) {
      missing.push(name);
      continue;
    }
    try {
      read[name] = readField(name, cell[name]);
    } catch (error) {
      problems[name] = error.message;
    }
  }
  const { seed = null, ...values } = read;
  if (slot.values.includes("policy")) {
    const policy = fieldsOf(slot).slice(1).map((name) => read[name]);
    for (const name of Object.keys(values)) delete values[name];
    if (!policy.includes(undefined)) values.policy = policy; // all ten or none
  }
  return { seed, values, missing, problems };
}

/** Whether a cell holds all that its slot asks for. */
export function isComplete(slot, cell) {
  const { missing, problems } = record(slot, cell);
  return !missing.length && !Object.keys(problems).length;
}

/** What the seeds of a question's cells have wrong, as a sentence; "" if nothing. */
export function seedProblem(question, cells) {
  const seeds = slotsOf(question).map((slot) => ({ slot, seed: record(slot, cells[slot.id]).seed }))
    .filter(({ seed }) => seed !== null);
  if (SEEDS[question] === "same" && new Set(seeds.map(({ seed }) => seed)).size > 1) {
    return "The three runs must have the same seed.";
  }
  if (SEEDS[question] !== "different") return "";
  const twice = seeds.find(({ slot, seed }, i) =>
    seeds.slice(0, i).some((other) => other.seed === seed && same(other.slot.settings, slot.settings)));
  return twice ? `Seed ${twice.seed} stands twice${wordsFor(twice.slot)}: every trial needs a seed of its own.` : "";
}

// Sent runs

const WORDS = { rewardTable: "the rewards", algorithm: "the algorithm", groupSize: "G", lr: "η", clipEps: "ε", klCoef: "β",
  innerSteps: "K", divideByStd: "the division by the standard deviation", correction: "the standard deviation",
  temperature: "the temperature", startAction: "the policy at the start", startLogit: "the policy at the start" };

/** What a sent run has other than a slot asks for: a list of { name, given, asked }. */
function differences(slot, sent) {
  const asked = settingsOf(slot);
  const given = { ...asked, ...sent.settings };
  const found = Object.keys(given).filter((name) => !same(given[name], asked[name]))
    .map((name) => ({ name, given: given[name], asked: asked[name] }));
  if (sent.steps < slot.steps) found.push({ name: "steps", given: sent.steps, asked: slot.steps });
  if (!(Number.isInteger(sent.seed) && sent.seed >= 0 && sent.seed <= LARGEST_SEED)) found.push({ name: "seed" });
  return found;
}

/**
 * Whether a sent run may fill a slot: it has the settings that are asked for, and at least as many steps. A longer run
 * will do, because its beginning is the shorter run: same settings, same seed, same random numbers.
 */
export const fits = (slot, sent) => differences(slot, sent).length === 0;

/** Why a sent run fits no slot of a list, as the end of a sentence. */
export function reason(slots, sent) {
  const all = slots.map((slot) => differences(slot, sent));
  const fewest = Math.min(...all.map((each) => each.length));
  const [{ name, given }] = all.find((each) => each.length === fewest);
  const asked = new Set(all.filter((each) => each.length === fewest).flatMap((each) =>
    each.filter((one) => one.name === name).map((one) => one.asked)));
  if (name === "seed") return "its seed is no whole number";
  if (name === "steps") return `it has ${count(given, "step")}, and ${[...asked].join(" or ")} are asked for`;
  const plain = (x) => ["number", "string"].includes(typeof x);
  const words = WORDS[name] ?? name;
  if (!plain(given) || ![...asked].every(plain)) return `${words} ${words.endsWith("s") ? "are" : "is"} not as asked for`;
  return `${words} is ${given}, and ${[...asked].join(" or ")} is asked for`;
}

/**
 * Puts sent runs (oldest first) into the empty cells of slots, and returns the filled ones: { slot id: run }. Newer runs
 * win, and stand below older ones; runs of exactly the right length win over longer ones. No seed fills two cells of the
 * same kind. The cells of a comparison (1E) are filled from runs that share a seed.
 */
export function assign(slots, cells, runs) {
  const filled = {};
  for (const question of new Set(slots.map((slot) => slot.question))) {
    const of = slots.filter((slot) => slot.question === question);
    if (SEEDS[question] === "same") Object.assign(filled, assignSameSeed(of, cells, runs));
    else {
      const kinds = new Set(of.map((slot) => JSON.stringify(slot.settings)));
      for (const kind of kinds) {
        Object.assign(filled, assignOwnSeeds(of.filter((slot) => JSON.stringify(slot.settings) === kind), cells, runs));
      }
    }
  }
  return filled;
}

function assignOwnSeeds(slots, cells, runs) {
  const free = slots.filter((slot) => !isStarted(cells[slot.id]));
  if (!free.length) return {};
  const taken = new Set(slots.map((slot) => record(slot, cells[slot.id]).seed));
  const candidates = runs.filter((sent) => fits(free[0], sent) && !taken.has(sent.seed));
  const exact = (sent) => Number(sent.steps === free[0].steps);
  const best = [...candidates].sort((a, b) => exact(a) - exact(b)) // stable: among equals the newest stays last
    .filter((sent, i, sorted) => !sorted.slice(i + 1).some((later) => later.seed === sent.seed))
    .slice(-free.length)
    .sort((a, b) => runs.indexOf(a) - runs.indexOf(b));
  return Object.fromEntries(best.map((sent, i) => [free[i].id, sent]));
}

function assignSameSeed(slots, cells, runs) {
  const free = slots.filter((slot) => !isStarted(cells[slot.id]));
  const given = slots.map((slot) => record(slot, cells[slot.id]).seed).find((seed) => seed !== null);
  const seeds = given === undefined ? [...new Set(runs.map((sent) => sent.seed).reverse())] : [given]; // newest first
  let most = {};
  for (const seed of seeds) {
    const found = free.map((slot) => [slot.id, runs.findLast((sent) => sent.seed === seed && fits(slot, sent))])
      .filter(([, sent]) => sent);
    if (found.length > Object.keys(most).length) most = Object.fromEntries(found);
  }
  return most;
}

/** The runs that are still missing, in words: ["2 runs with G = 16 and 50 steps"]. */
export function stillMissing(slots, cells) {
  const empty = slots.filter((slot) => !isStarted(cells[slot.id]));
  const kinds = new Map();
  for (const slot of empty) {
    const words = `${wordsFor(slot) || " with the default settings"} and ${count(slot.steps, "step")}`;
    kinds.set(words, (kinds.get(words) ?? 0) + 1);
  }
  return [...kinds].map(([words, n]) => `${count(n, "run")}${words}`);
}

function wordsFor({ question, settings }) {
  if (question === "1E.1") return ` of ${{ reinforce: "REINFORCE", reinforce_baseline: "REINFORCE + baseline" }[settings.algorithm] ?? "GRPO"}`;
  const [[name, value] = []] = Object.entries(settings);
  return name ? ` with ${WORDS[name]} = ${value}` : "";
}

// State

/** A state without what does not belong there: another version of this page or a person's hand may have left it. */
export function tidy(state) {
  const clean = { answers: {}, cells: {} };
  for (const id of QUESTIONS) {
    const text = state?.answers?.[id];
    if (typeof text === "string") clean.answers[id] = text;
  }
  for (const slot of RUNS) {
    const fields = fieldsOf(slot).map((name) => [name, state?.cells?.[slot.id]?.[name]]);
    const texts = fields.filter(([, text]) => typeof text === "string" && text !== "");
    if (texts.length) clean.cells[slot.id] = Object.fromEntries(texts);
  }
  return clean;
}

const isAnswered = (state, id) => Boolean(state.answers[id]?.trim());

/**
 * How far the reader is: { done, of } for `answers`, `runs`, all together, and each of `steps` ("1A" to "1F"). The bonus
 * is only a step; it does not count elsewhere.
 */
export function progress(state) {
  const items = [
    ...QUESTIONS.map((id) => ({ kind: "answers", step: id.split(".")[0], done: isAnswered(state, id) })),
    ...RUNS.map((slot) => ({ kind: "runs", step: slot.question.split(".")[0], done: isComplete(slot, state.cells[slot.id]) })),
  ];
  const tally = (some) => ({ done: some.filter((item) => item.done).length, of: some.length });
  const required = items.filter((item) => item.step !== "bonus");
  const steps = [...new Set(items.map((item) => item.step))];
  return {
    ...tally(required),
    answers: tally(required.filter((item) => item.kind === "answers")),
    runs: tally(required.filter((item) => item.kind === "runs")),
    steps: Object.fromEntries(steps.map((step) => [step, tally(items.filter((item) => item.step === step))])),
  };
}

/** How much a state holds, bonus included: { answers, runs }. */
export const amount = (state) => ({
  answers: QUESTIONS.filter((id) => isAnswered(state, id)).length,
  runs: RUNS.filter((slot) => isStarted(state.cells[slot.id])).length,
});
