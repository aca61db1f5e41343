// What the tools do with the whole worksheet. Each returns a sentence for the reader. Loaded when a button is pressed.
import { amount, fieldsOf, isStarted, record } from "../../core/worksheet.mjs";
import { fromJson, toJson, toMarkdown } from "../../core/worksheet_files.mjs";
import { RUNS } from "../../core/worksheet_runs.mjs";
import { ask } from "../../ui/dialog.mjs";
import { download } from "../../ui/files.mjs";
import { clearRuns, sentRuns } from "../../ui/runs.mjs";
import { fill } from "./filling.mjs";
import { fieldName } from "./layouts.mjs";
import { changeState, clearState, readState } from "./state.mjs";

const LARGEST_FILE = 512_000; // bytes; a worksheet takes a few thousand
const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

export const fillAll = () => fill(RUNS);

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

function saved(name) {
  const state = readState();
  const { answers, runs } = amount(state);
  const open = RUNS.filter((slot) => isStarted(state.cells[slot.id])).flatMap((slot) => {
    const { missing, problems } = record(slot, state.cells[slot.id]);
    const first = fieldsOf(slot).find((field) => missing.includes(field) || field in problems);
    return first ? [fieldName(slot.id, first)] : [];
  });
  const sentence = `Downloaded ${name} with ${count(answers, "answer")} and ${count(runs, "run")}.`;
  return open.length ? `${sentence} Not complete yet: ${open.join("; ")}.` : sentence;
}

export async function clear() {
  const { answers, runs } = amount(readState());
  const sent = sentRuns().length;
  if (!answers && !runs && !sent) return "There is nothing to clear.";
  const question =
    `Delete ${count(answers, "answer")}, ${count(runs, "run")} in the tables and ${count(sent, "sent run")} ` +
    "from this browser? Nobody can bring them back. A file that you downloaded stays.";
  if (!(await ask({ question, yes: "Delete everything", no: "Keep everything" }))) return "Nothing was deleted.";
  clearState();
  clearRuns();
  return "The worksheet is empty.";
}

/** Replaces the worksheet by that of a file of saveJson. */
export async function open(file) {
  try {
    if (file.size > LARGEST_FILE) throw new Error("The file is too large for a worksheet.");
    const opened = fromJson(await file.text());
    const [now, then] = [amount(readState()), amount(opened)];
    const holds = ({ answers, runs }) => `${count(answers, "answer")} and ${count(runs, "run")}`;
    const question = `Replace the ${holds(now)} on this page by those of ${file.name} (${holds(then)})?`;
    const isEmpty = !now.answers && !now.runs;
    if (!isEmpty && !(await ask({ question, yes: "Replace them", no: "Keep what is here" })))
      return "Nothing was changed.";
    changeState((state) => Object.assign(state, opened));
    return `Opened ${file.name}: ${holds(then)}.`;
  } catch (error) {
    return `${file.name} was not opened. ${error.message}`;
  }
}
