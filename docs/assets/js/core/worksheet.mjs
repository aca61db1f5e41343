// The worksheet without its page: its fields, what is written in them, and how far the reader is (catalogue S0-*).
// Filling it from runs (worksheet_filling.mjs) and its files (worksheet_files.mjs) load when they are needed.
//
// A worksheet's state is what was typed, as text, and whether it was downloaded once:
// { answers: { question id: text }, cells: { slot id: { field: text } }, handedIn }
// A slot (RUNS in worksheet_runs.mjs) is one run that the worksheet asks for. Its fields are "seed" and its values,
// where a policy has a field for each action: "policy.1" to "policy.10".
import { QUANTITIES, QUESTIONS, RUNS } from "./worksheet_runs.mjs";

export const LARGEST_SEED = 2 ** 32 - 1;
const POLICY = Array.from({ length: QUANTITIES.policy.length }, (_, j) => `policy.${j + 1}`);
const NEVER = /^(never|no|none|[-\u2014]+)$/i;

/** Slots of a question, such as "1D.1". */
export const slotsOf = (question) => RUNS.filter((slot) => slot.question === question);

/** Names of a slot's fields. */
export const fieldsOf = (slot) => ["seed", ...slot.values.flatMap((name) => (name === "policy" ? POLICY : name))];

// Fields

/** What a field holds: { length of a list, whole, never }. */
export function kindOf(name) {
  if (name === "seed") return { whole: true };
  return QUANTITIES[name] ?? {}; // one number of a policy
}

/** A text with the digits and signs of a Latin keyboard: people write numbers with other ones, too. */
const plain = (text) =>
  text
    .trim()
    .replace(/[\uff01-\uff5e]/g, (sign) => sign.normalize("NFKC")) // full width
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => digit.charCodeAt(0) % 16) // Arabic, Persian
    .replace(/[\u2212\u2013]/g, "-")
    .replace(/[\u060c\u066b]/g, ",")
    .replace(/[\u3001\u061b]/g, ";");

/** Value of a field's text: a number, a list, or null for "never". Throws a RangeError that says what is expected. */
export function readField(name, text) {
  const { length, whole, never } = kindOf(name);
  const written = plain(text);
  if (length) return readList(written, length, whole);
  if (never && NEVER.test(written)) return null;
  const value = readNumber(written, whole);
  if (name === "seed" && (value < 0 || value > LARGEST_SEED))
    throw new RangeError(`a whole number from 0 to ${LARGEST_SEED}`);
  return value;
}

/** Numbers between spaces, commas or semicolons. A comma inside of a number is a decimal point. */
function readList(text, length, whole) {
  const bySpaces = text.split(/[,;]?\s+|;/);
  const parts = bySpaces.length === length ? bySpaces : text.split(/[\s,;]+/);
  if (parts.length !== length) throw new RangeError(`${length} numbers with spaces between them, not ${parts.length}`);
  return parts.map((part) => readNumber(part, whole));
}

function readNumber(text, whole) {
  const point = text.replace(",", ".");
  const pattern = whole ? /^\+?\d{1,15}$/ : /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
  if (!pattern.test(point) || !Number.isFinite(Number(point)))
    throw new RangeError(`a ${whole ? "whole " : ""}number, not "${text.slice(0, 20)}"`);
  return Number(point);
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
  const values = {};
  for (const name of slot.values) {
    const value = name === "policy" ? POLICY.map((part) => read[part]) : read[name];
    if (![value].flat().includes(undefined)) values[name] = value; // all ten or none
  }
  return { seed: read.seed ?? null, values, missing, problems };
}

/** Whether a cell holds all that its slot asks for. */
export function isComplete(slot, cell) {
  const { missing, problems } = record(slot, cell);
  return !missing.length && !Object.keys(problems).length;
}

// State

/** A state without what does not belong there: another version of this page or a person's hand may have left it. */
export function tidy(state) {
  const clean = { answers: {}, cells: {}, handedIn: state?.handedIn === true };
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

/**
 * How far the reader is: { done, of } for `answers`, `runs`, all together, and each of `steps` ("1A" to "1F"). The
 * bonus is only a step; it does not count elsewhere.
 */
export function progress(state) {
  const items = [
    ...QUESTIONS.map((id) => ["answers", id, state.answers[id]?.trim()]),
    ...RUNS.map((slot) => ["runs", slot.question, isComplete(slot, state.cells[slot.id])]),
  ].map(([kind, question, done]) => ({ kind, step: question.split(".")[0], done }));
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
