// Fills tables from the runs that were sent from the simulation, and says what happened.
// Loaded when a run arrives or a seed is typed.
import { fieldsOf, isStarted, record } from "../../core/worksheet.mjs";
import { assign, cellOf, fits, measure, reason, seedProblem } from "../../core/worksheet_filling.mjs";
import { RUNS } from "../../core/worksheet_runs.mjs";
import { newRuns, sentRuns, takeRuns } from "../../ui/runs.mjs";
import { fieldName } from "./layouts.mjs";
import { changeState, readState } from "./state.mjs";

const FOLLOW_SEED = "1B.1"; // sixteen numbers are too many to type: they follow when a seed is typed

/** Fills the empty rows that ask for the runs that have just come; returns a sentence. */
export function fillFromNewRuns() {
  const arrived = newRuns();
  takeRuns();
  const asking = RUNS.filter((slot) => arrived.some((run) => fits(slot, run)));
  const questions = new Set(asking.map((slot) => slot.question));
  const filled = fill(RUNS.filter((slot) => questions.has(slot.question)));
  const seeds = (runs) => `${runs.length === 1 ? "Seed" : "Seeds"} ${[...new Set(runs.map(({ seed }) => seed))].join(", ")}`;
  if (filled.length) {
    const tables = [...new Set(filled.map(({ slot }) => slot.question))].map((name) => (name === "bonus" ? "the bonus" : name));
    return `${seeds(filled.map(({ run }) => run))}: filled ${tables.join(", ")}.`;
  }
  if (!arrived.length) return "";
  return asking.length ? `${seeds(arrived)}: no empty row asks for it.` : `${seeds(arrived)} fits no row: ${reason(RUNS, arrived.at(-1))}.`;
}

/** Fills the empty fields of slots; returns what it filled: [{ slot, run }]. */
function fill(slots) {
  const filled = assign(slots, readState().cells, sentRuns());
  changeState((state) => {
    for (const [id, { seed }] of Object.entries(filled)) {
      const slot = RUNS.find((each) => each.id === id);
      const typed = Object.entries(state.cells[id] ?? {}).filter(([, text]) => text.trim());
      state.cells[id] = { ...cellOf(seed, measure(slot, seed)), ...Object.fromEntries(typed) };
    }
  });
  return Object.entries(filled).map(([id, run]) => ({ slot: RUNS.find((each) => each.id === id), run }));
}

/** What is empty or wrong in cells that were begun: names of fields. */
export const openFields = (slots, cells) =>
  slots
    .filter((slot) => isStarted(cells[slot.id]))
    .flatMap((slot) => {
      const { missing, problems } = record(slot, cells[slot.id]);
      const open = fieldsOf(slot).filter((field) => missing.includes(field) || field in problems);
      return open.map((field) => fieldName(slot.id, field));
    });

/** After a seed was typed: fills its numbers in if they are too many to type; returns a sentence, "" if all is well. */
export function takeSeed(id, before, text) {
  const slot = RUNS.find((each) => each.id === id);
  if (fill([slot]).length) return `Filled in the run with seed ${text.trim()} that you sent.`;
  const cell = slot.question === FOLLOW_SEED && followSeed(slot, before, text);
  if (!cell) return seedProblem(slot.question, readState().cells);
  changeState((state) => void (state.cells[id] = cell));
  return `Filled in the step that seed ${text.trim()} gives. Compare it with the step detail of your run.`;
}

/**
 * The cell that a typed seed gives. Null if its values are somebody's typing: neither empty before, nor what the seed
 * gave that stood there before.
 */
function followSeed(slot, before, text) {
  const { seed: textBefore, ...values } = before;
  const seed = (typed) => record(slot, { seed: typed }).seed;
  const gives = (typed) => cellOf(seed(typed), measure(slot, seed(typed)));
  const follows =
    !isStarted(values) ||
    (seed(textBefore) !== null &&
      Object.entries(gives(textBefore)).every(([name, value]) => name === "seed" || values[name] === value));
  return follows ? gives(text) : null;
}
