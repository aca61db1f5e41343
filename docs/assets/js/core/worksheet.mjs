// The worksheet without its page: its fields, what is written in them, and how far the reader is (catalogue S0-*).
// Filling it from runs is in worksheet_filling.mjs, its files are in worksheet_files.mjs; both load when they are needed.
//
// A worksheet's state is what was typed, as text: { answers: { question id: text }, cells: { slot id: { field: text } } }
// A slot (RUNS in worksheet_runs.mjs) is one run that the worksheet asks for. Its fields are "seed" and its values,
// where a policy has a field for each action: "policy.1" to "policy.10".
import { QUESTIONS, RUNS } from "./worksheet_runs.mjs";

export const LONGEST_ANSWER = 20_000; // characters that `grade worksheet` reads
export const LARGEST_SEED = 2 ** 32 - 1;
const LISTS = { actions: 8, advantages: 8 }; // numbers in one field
export const WHOLE = ["seed", "actions", "stepsToHalf", "stepsTo90"];
const POLICY = Array.from({ length: 10 }, (_, j) => `policy.${j + 1}`);
const NEVER = /^(never|no|none|[-\u2013\u2014\u2212]+)$/i;

/** Slots of a question, such as "1D.1". */
export const slotsOf = (question) => RUNS.filter((slot) => slot.question === question);

/** Names of a slot's fields. */
export const fieldsOf = (slot) => ["seed", ...slot.values.flatMap((name) => (name === "policy" ? POLICY : name))];

// Fields

/** Value of a field's text: a number, a list, or null for "never". Throws a RangeError that says what is expected. */
export function readField(name, text) {
  const whole = WHOLE.includes(name);
  if (LISTS[name]) return readList(text, LISTS[name], whole);
  if (name.startsWith("stepsTo") && NEVER.test(text.trim())) return null;
  const value = readNumber(text, whole);
  if (name === "seed" && (value < 0 || value > LARGEST_SEED))
    throw new RangeError(`a whole number from 0 to ${LARGEST_SEED}`);
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
  const plain = text
    .trim()
    .replace(/[\u2212\u2013]/, "-")
    .replace(",", ".");
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
    const policy = POLICY.map((name) => read[name]);
    for (const name of POLICY) delete values[name];
    if (!policy.includes(undefined)) values.policy = policy; // all ten or none
  }
  return { seed, values, missing, problems };
}

/** Whether a cell holds all that its slot asks for. */
export function isComplete(slot, cell) {
  const { missing, problems } = record(slot, cell);
  return !missing.length && !Object.keys(problems).length;
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
 * How far the reader is: { done, of } for `answers`, `runs`, all together, and each of `steps` ("1A" to "1F"). The
 * bonus is only a step; it does not count elsewhere.
 */
export function progress(state) {
  const items = [
    ...QUESTIONS.map((id) => ({ kind: "answers", step: id.split(".")[0], done: isAnswered(state, id) })),
    ...RUNS.map((slot) => ({
      kind: "runs",
      step: slot.question.split(".")[0],
      done: isComplete(slot, state.cells[slot.id]),
    })),
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
