// The files of a worksheet: JSON for `grade worksheet` and for another browser, Markdown for people.
// Loaded only when somebody saves or opens one.
import { fieldsOf, isStarted, record, slotsOf, tidy } from "./worksheet.mjs";
import { cellOf, fits, reason, settingsOf, threeDecimals } from "./worksheet_filling.mjs";
import { QUANTITIES, QUESTIONS, RUNS } from "./worksheet_runs.mjs";

const NAME = "grpo-bandit";
const VERSION = 1;

const snake = (name) => name.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`); // stepsTo90 is steps_to_90
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const rename = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [change(name), value]));

/**
 * The worksheet as JSON. `questions` is a list of { id, text }. A run is written with the settings that its slot asks
 * for and the numbers that stand on the page. `typed` keeps the other fields as text, { slot id: { field: text } }:
 * what is no number, and a part of a policy. The grader does not look at it; this page needs it to lose nothing.
 */
export function toJson(state, questions) {
  const typed = {};
  const runs = RUNS.filter((slot) => isStarted(state.cells[slot.id])).map((slot) => {
    const { seed, values } = record(slot, state.cells[slot.id]);
    const numbers = cellOf(seed, values);
    const others = Object.entries(state.cells[slot.id]).filter(([name, text]) => text.trim() && !numbers[name]);
    if (others.length) typed[slot.id] = Object.fromEntries(others);
    return {
      id: slot.id,
      seed,
      steps: slot.steps,
      settings: rename(settingsOf(slot), snake),
      values: rename(values, snake),
    };
  });
  const answers = questions.map(({ id, text }) => ({ id, question: text, answer: state.answers[id] ?? "" }));
  return `${JSON.stringify({ worksheet: NAME, version: VERSION, answers, runs, typed }, null, 1)}\n`;
}

// Opening a saved worksheet

function expect(condition, words) {
  if (!condition) throw new Error(words);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The state that a file of toJson holds, which does not say whether it was handed in. Throws an Error that says what is wrong and where. */
export function fromJson(text) {
  let file;
  try {
    file = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new Error('This is not JSON. Choose the file that "Download answers (JSON)" wrote.');
  }
  expect(isObject(file) && file.worksheet === NAME, "This JSON file is not a worksheet of this course.");
  expect(
    file.version === VERSION,
    `This worksheet has version ${JSON.stringify(file.version)}, but this page reads version ${VERSION}.`,
  );
  expect(
    Array.isArray(file.answers) && Array.isArray(file.runs),
    "This file lacks the lists of answers and runs.",
  );
  const state = { answers: {}, cells: {} };
  for (const [i, entry] of file.answers.entries()) {
    const where = `answers[${i}]`;
    expectId(entry, QUESTIONS, state.answers, where);
    expect(typeof entry.answer === "string", `${where} (${entry.id}): the answer is not text.`);
    state.answers[entry.id] = entry.answer;
  }
  for (const [i, entry] of file.runs.entries()) {
    expectId(
      entry,
      RUNS.map((slot) => slot.id),
      state.cells,
      `runs[${i}]`,
    );
    const numbers = Object.entries(cellFrom(entry, `runs[${i}] (${entry.id})`)).filter(([, text]) => text);
    state.cells[entry.id] = { ...file.typed?.[entry.id], ...Object.fromEntries(numbers) };
  }
  return tidy(state);
}

function expectId(entry, known, seen, where) {
  expect(isObject(entry) && known.includes(entry.id), `${where}: this worksheet has no entry with that id.`);
  expect(!Object.hasOwn(seen, entry.id), `${where}: ${entry.id} appears twice in this file.`);
}

function cellFrom({ id, seed, steps, settings, values }, where) {
  const slot = RUNS.find((each) => each.id === id);
  expect(isObject(settings) && isObject(values), `${where}: the settings or the values are missing.`);
  expect(steps === slot.steps, `${where}: it has ${JSON.stringify(steps)} steps, but the worksheet asks for ${slot.steps}.`);
  const sent = { settings: rename(settings, camel), seed: seed ?? 0, steps };
  if (!fits(slot, sent)) throw new Error(`${where}: ${reason([slot], sent)}.`);
  const given = rename(values, camel);
  const isNumber = (x) => typeof x === "number" || x === null;
  for (const name of Object.keys(given)) {
    const right = QUANTITIES[name]?.length
      ? Array.isArray(given[name]) && given[name].every((x) => typeof x === "number")
      : isNumber(given[name]);
    expect(
      slot.values.includes(name) && right,
      `${where}: the value ${snake(name)} does not match what this worksheet asks for.`,
    );
  }
  const asTyped = (x) => (Number(x.toFixed(3)) === x ? threeDecimals(x) : String(x));
  return cellOf(seed ?? null, given, asTyped);
}

// Markdown

/** Text as CommonMark shows it unchanged: entities for HTML, backslashes for the rest. */
export function escapeMarkdown(text) {
  const safe = text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/[\\`*_[\]#|~$!]/g, "\\$&");
  return safe.replace(/^([-+=])/, "\\$1").replace(/^(\d+)([.)])(?=\s|$)/, "$1\\$2");
}

const quote = (text) =>
  text
    .trim()
    .split(/\r\n?|\n/)
    .map((line) => `> ${escapeMarkdown(line.trim())}`.trimEnd())
    .join("  \n");

const MEANING = {
  seed: "seed",
  actions: "actions",
  advantages: "advantages",
  bestProbability: "π(7)",
  maxProbability: "max π",
  stepsToHalf: "steps until π(7) > 0.5",
  stepsTo90: "steps until π(7) > 0.9",
};

function runsAsTable(slots, cells) {
  const fields = fieldsOf(slots[0]);
  const row = (texts) => `| ${texts.join(" | ")} |`;
  const text = (slot, name) => escapeMarkdown((cells[slot.id]?.[name] ?? "").replace(/\s+/g, " ").trim());
  return [
    row(["run", ...fields.map((name) => MEANING[name] ?? name.replace(/policy\.(\d+)/, "π($1)"))]),
    row(["---", ...fields.map(() => "---")]),
    ...slots.map((slot) => row([escapeMarkdown(slot.id), ...fields.map((name) => text(slot, name))])),
  ].join("\n");
}

/** The worksheet as Markdown for people: every question, answered or not, and the tables of the runs. */
export function toMarkdown(state, questions) {
  const parts = ["# GRPO worksheet: the ten-action bandit"];
  const ids = [...new Set([...questions.map(({ id }) => id), ...RUNS.map((slot) => slot.question)])].sort();
  for (const id of ids) {
    const asked = questions.find((question) => question.id === id);
    parts.push(`## ${id}`);
    if (slotsOf(id).length) parts.push(runsAsTable(slotsOf(id), state.cells));
    if (asked)
      parts.push(escapeMarkdown(asked.text), state.answers[id]?.trim() ? quote(state.answers[id]) : "*no answer*");
  }
  return `${parts.join("\n\n")}\n`;
}
