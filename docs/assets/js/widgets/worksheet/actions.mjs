// What the buttons do. Each returns a sentence for the reader. Loaded when one is pressed, or a seed is typed.
import { isStarted, tidy } from "../../core/worksheet.mjs";
import { fromJson, toJson, toMarkdown } from "../../core/worksheet_files.mjs";
import { count } from "../../core/worksheet_filling.mjs";
import { LIMITS, QUESTIONS, RUNS } from "../../core/worksheet_runs.mjs";
import { ask } from "../../ui/dialog.mjs";
import { download } from "../../ui/files.mjs";
import { clearRuns, sentRuns } from "../../ui/runs.mjs";
import { fillFromNewRuns, openFields, takeSeed } from "./filling.mjs";
import { changeState, readState } from "./state.mjs";

/** How much slots and answers of a state hold: { answers, runs }. */
const amount = ({ answers, cells }, slots = RUNS) => ({
  answers: QUESTIONS.filter((id) => answers[id]?.trim()).length,
  runs: slots.filter((slot) => isStarted(cells[slot.id])).length,
});

export { fillFromNewRuns, takeSeed };

/** The questions of the page: [{ id, text }]. */
const questions = () => [...document.querySelectorAll("grpo-question")].map(({ name, text }) => ({ id: name, text }));

export function saveJson() {
  download("worksheet.json", toJson(readState(), questions()), "application/json");
  return saved("worksheet.json");
}

export function saveMarkdown() {
  download("worksheet.md", toMarkdown(readState(), questions()), "text/markdown");
  return saved("worksheet.md");
}

/** After a download the worksheet counts as handed in: from now on each question shows what the numbers say. */
function saved(name) {
  changeState((state) => void (state.handedIn = true));
  const state = readState();
  const { answers, runs } = amount(state);
  const unanswered = QUESTIONS.filter((id) => id !== "bonus" && !state.answers[id]?.trim());
  const open = [...openFields(RUNS, state.cells), ...(unanswered.length ? [`no answer to ${unanswered.join(", ")}`] : [])];
  return [
    `Downloaded ${name} with ${count(answers, "answer")} and ${count(runs, "run")}.`,
    ...(open.length ? [`Not complete yet: ${open.join("; ")}.`] : []),
    "What the numbers show is now below each question.",
  ].join(" ");
}

/** Asks, and asks again with new numbers if another tab has changed something until `yes` was pressed. */
async function isSure(question, options) {
  const snapshot = () => JSON.stringify([readState(), sentRuns()]);
  for (let again = ""; ; again = "Meanwhile, another tab has changed something. ") {
    const asked = snapshot();
    if (!(await ask({ ...options, question: again + question() }))) return false;
    if (snapshot() === asked) return true;
  }
}

export async function clear({ signal }) {
  const { handedIn, ...state } = readState();
  const { answers, runs } = amount(state);
  if (!answers && !runs && !sentRuns().length && !handedIn) return "There is nothing to clear.";
  const question = () => {
    const { answers, runs } = amount(readState());
    return (
      `Delete ${count(answers, "answer")}, ${count(runs, "run")} in the tables and ` +
      `${count(sentRuns().length, "sent run")} from this browser? ` +
      "You cannot undo this. Files that you downloaded stay."
    );
  };
  const sure = await isSure(question, { yes: "Delete everything", no: "Keep everything", signal });
  if (!sure) return "Nothing was deleted.";
  clearRuns();
  changeState((state) => Object.assign(state, tidy(null)));
  return "The worksheet is empty.";
}

/** Empties the table of some slots. */
export async function emptyTable({ slots, signal }) {
  const { runs } = amount(readState(), slots);
  if (!runs) return "The table is already empty.";
  const question =
    `Delete the ${runs === 1 ? "run" : `${runs} runs`} in this table? ` +
    "Sent runs stay: type the seed of one to fill its row again.";
  if (!(await ask({ question, yes: "Empty this table", no: "Keep it", signal }))) return "Nothing was deleted.";
  changeState((state) => slots.forEach((slot) => delete state.cells[slot.id]));
  return "The table is empty.";
}

/** Replaces the worksheet by that of a file of saveJson. */
export async function open({ file, signal }) {
  try {
    if (file.size > LIMITS.largestFile) throw new Error("The file is too large for a worksheet.");
    const opened = fromJson(await file.text());
    const holds = ({ answers, runs }) => `${count(answers, "answer")} and ${count(runs, "run")}`;
    const then = holds(amount(opened));
    const question = () => `Replace the ${holds(amount(readState()))} on this page with those of ${file.name} (${then})?`;
    const { answers, runs } = amount(readState());
    const isEmpty = !answers && !runs;
    if (!isEmpty && !(await isSure(question, { yes: "Replace them", no: "Keep what is here", signal })))
      return "Nothing was changed.";
    changeState((state) => Object.assign(state, opened, { handedIn: state.handedIn }));
    return [`Opened ${file.name}: ${then}.`, ...tooLong(opened)].join(" ");
  } catch (error) {
    return `Could not open ${file.name}. ${error.message}`;
  }
}

/** A sentence about answers that the grader does not read. */
function tooLong({ answers }) {
  const ids = QUESTIONS.filter((id) => answers[id]?.length > LIMITS.longestAnswer);
  const limit = LIMITS.longestAnswer.toLocaleString("en");
  return ids.length ? [`Too long for the grader (more than ${limit} characters): ${ids.join(", ")}.`] : [];
}
