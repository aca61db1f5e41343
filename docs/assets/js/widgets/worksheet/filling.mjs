// Fills tables from the runs that were sent from the simulation, and says what happened.
import { assign, cellOf, fits, measure, reason, seedProblem, stillMissing } from "../../core/worksheet.mjs";
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
  const missing = stillMissing(slots.filter((slot) => !slot.optional || slots.every((each) => each.optional)), cells);
  const ids = Object.keys(filled);
  const seeds = [...new Set(ids.map((id) => filled[id].seed))];
  const longer = slots.find((slot) => filled[slot.id]?.steps > slot.steps);
  const sentences = [ids.length
    ? `Filled ${ids.length} ${ids.length === 1 ? "run" : "runs"} (seed ${seeds.join(", ")}).`
    : missing.length ? "Nothing was filled." : "Nothing to fill: no run is missing."];
  if (longer) sentences.push(`Seed ${filled[longer.id].seed} ran for longer: its beginning counts, ${longer.steps === 1 ? "1 step" : `${longer.steps} steps`}.`);
  if (missing.length) {
    const misfit = runs.findLast((sent) => !slots.some((slot) => fits(slot, sent)));
    if (!ids.length && misfit) sentences.push(`The sent run with seed ${misfit.seed} does not fit: ${reason(slots, misfit)}.`);
    sentences.push(`Missing: ${missing.join("; ")}. ${runs.length ? "Make them" : "No run was sent yet: make them"} in the simulation and press Send to worksheet.`);
  }
  for (const question of new Set(slots.map((slot) => slot.question))) sentences.push(seedProblem(question, cells));
  return sentences.filter(Boolean).join(" ");
}
