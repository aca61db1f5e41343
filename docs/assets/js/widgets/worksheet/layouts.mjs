// How the tables of runs look: question id to { caption, columns, rows }. A row is its header and its cells, each a
// [slot id, field]. The page's Markdown has the same tables, empty, for readers without scripts.
import { RUNS } from "../../core/worksheet_runs.mjs";
import { fieldsOf, slotsOf } from "../../core/worksheet.mjs";

/** A table with a row for each run. */
function byRow(question, caption, names, headers) {
  const rows = slotsOf(question).map((slot, i) => [names[i], ...fieldsOf(slot).map((field) => [slot.id, field])]);
  return { caption, columns: ["Run", ...headers], rows };
}

const TRIALS = [1, 2, 3];
const SIZES = [2, 8, 32];
const trial = (number, words, field) => [
  `Trial ${number}, ${words}`,
  ...SIZES.map((size) => [`1D.G${size}.trial${number}`, field]),
];

export const LAYOUTS = {
  "1B.1": {
    caption: "The first step of two runs",
    columns: ["Value", "First run", "Second run"],
    rows: [
      ["Seed", "seed"],
      ["Actions", "actions"],
      ["Advantages", "advantages"],
    ].map(([header, field]) => [header, ["1B.first", field], ["1B.second", field]]),
  },
  "1C.1": byRow("1C.1", "Steps until π(7) > 0.5, in 50 steps", ["Try 1", "Try 2", "Try 3"], ["Seed", "Steps"]),
  "1C.3": byRow(
    "1C.3",
    "The policy after 50 steps",
    ["π(a)"],
    ["Seed", ...Array.from({ length: 10 }, (_, j) => `a = ${j + 1}`)],
  ),
  "1D.1": {
    caption: "π(7) after 50 steps",
    columns: ["Trial", ...SIZES.map((size) => `G = ${size}`)],
    rows: TRIALS.flatMap((number) => [trial(number, "seed", "seed"), trial(number, "π(7)", "bestProbability")]),
  },
  "1E.1": byRow(
    "1E.1",
    "Three algorithms after 200 steps",
    ["GRPO", "REINFORCE", "REINFORCE + baseline"],
    ["Seed", "max π", "Steps until π(7) > 0.9"],
  ),
  bonus: byRow("bonus", "β = 0.30, 50 steps", ["Bonus"], ["Seed", "π(7)"]),
};

/** What a field is called, for people: "1D: Trial 2, π(7), G = 16". */
export function fieldName(id, field) {
  const { question } = RUNS.find((slot) => slot.id === id);
  const { columns, rows } = LAYOUTS[question];
  for (const [header, ...cells] of rows) {
    const place = cells.findIndex(([slot, name]) => slot === id && name === field);
    if (place >= 0) return `${question.split(".")[0]}: ${header}, ${columns[place + 1]}`;
  }
  return `${id} ${field}`;
}
