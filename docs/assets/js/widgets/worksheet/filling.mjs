// Fills tables from the runs that were sent from the simulation, and says what happened.
// Loaded when somebody asks for it.
import { isStarted, record } from "../../core/worksheet.mjs";
import { assign, cellOf, fits, measure, reason, seedProblem, stillMissing } from "../../core/worksheet_filling.mjs";
import { RUNS } from "../../core/worksheet_runs.mjs";
import { sentRuns } from "../../ui/runs.mjs";
import { changeState, readState } from "./state.mjs";

/** Fills the empty cells of slots; returns what it did and what is missing, in sentences. */
export function fill(slots) {
  const runs = sentRuns();
  const filled = assign(slots, readState().cells, runs);
  changeState((state) => {
    for (const [id, { seed }] of Object.entries(filled)) {
      const slot = RUNS.find((each) => each.id === id);
      state.cells[id] = cellOf(seed, measure(slot, seed));
    }
  });
  return report(slots, filled, runs);
}

function report(slots, filled, runs) {
  const { cells } = readState();
  const missing = stillMissing(
    slots.filter((slot) => !slot.optional || slots.every((each) => each.optional)),
    cells,
  );
  const ids = Object.keys(filled);
  const seeds = [...new Set(ids.map((id) => filled[id].seed))];
  const longer = slots.find((slot) => filled[slot.id]?.steps > slot.steps);
  const sentences = [
    ids.length
      ? `Filled ${ids.length} ${ids.length === 1 ? "run" : "runs"} (seed ${seeds.join(", ")}).`
      : missing.length
        ? "Nothing was filled."
        : "Nothing to fill: no run is missing.",
  ];
  if (longer) {
    const beginning = longer.steps === 1 ? "1 step" : `${longer.steps} steps`;
    sentences.push(`Seed ${filled[longer.id].seed} ran for longer: its beginning counts, ${beginning}.`);
  }
  if (missing.length) {
    const misfit = runs.findLast((sent) => !slots.some((slot) => fits(slot, sent)));
    if (!ids.length && misfit)
      sentences.push(`The sent run with seed ${misfit.seed} does not fit: ${reason(slots, misfit)}.`);
    sentences.push(
      `Missing: ${missing.join("; ")}.`,
      runs.length ? "" : "No run was sent yet.",
      "Make what is missing in the simulation and press Send to worksheet there.",
    );
    const half = slots.every((slot) => slot.steps === 1) && slots.some((slot) => isStarted(cells[slot.id]));
    if (half) sentences.push("Did both runs have the same seed? Then type it in both places.");
  }
  for (const question of new Set(slots.map((slot) => slot.question))) sentences.push(seedProblem(question, cells));
  return sentences.filter(Boolean).join(" ");
}

/** What the seeds of a question's runs have wrong, as a sentence; "" if nothing. */
export const checkSeeds = (question) => seedProblem(question, readState().cells);

/**
 * The cell that a typed seed gives. Null if its values are somebody's typing: neither empty before, nor what the seed
 * gave that stood there before.
 */
export function followSeed(slot, before, text) {
  const { seed: textBefore, ...values } = before;
  const seed = (typed) => record(slot, { seed: typed }).seed;
  const gives = (typed) => cellOf(seed(typed), measure(slot, seed(typed)));
  const follows =
    !isStarted(values) ||
    (seed(textBefore) !== null &&
      Object.entries(gives(textBefore)).every(([name, value]) => name === "seed" || values[name] === value));
  return follows ? gives(text) : null;
}
