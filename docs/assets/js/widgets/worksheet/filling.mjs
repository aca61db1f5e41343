// Fills tables from the runs that were sent from the simulation, and says what happened.
// Loaded when somebody asks for it.
import { fieldsOf, isStarted, record } from "../../core/worksheet.mjs";
import {
  assign,
  cellOf,
  count,
  fits,
  measure,
  reason,
  seedProblem,
  stillMissing,
} from "../../core/worksheet_filling.mjs";
import { RUNS } from "../../core/worksheet_runs.mjs";
import { sentRuns } from "../../ui/runs.mjs";
import { fieldName } from "./layouts.mjs";
import { changeState, readState } from "./state.mjs";

const FOLLOW_SEED = "1B.1"; // sixteen numbers are too many to type: they follow when a seed is typed

/** Fills the empty fields of slots; returns what it did and what is missing, in sentences. */
export function fill(slots) {
  const runs = sentRuns();
  const filled = assign(slots, readState().cells, runs);
  changeState((state) => {
    for (const [id, { seed }] of Object.entries(filled)) {
      const slot = RUNS.find((each) => each.id === id);
      const typed = Object.entries(state.cells[id] ?? {}).filter(([, text]) => text.trim());
      state.cells[id] = { ...cellOf(seed, measure(slot, seed)), ...Object.fromEntries(typed) };
    }
  });
  return report(slots, filled, runs);
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

function report(slots, filled, runs) {
  const { cells } = readState();
  const open = openFields(slots, cells);
  const missing = stillMissing(
    slots.filter((slot) => !slot.optional || slots.every((each) => each.optional)),
    cells,
  );
  const ids = Object.keys(filled);
  const used = new Set(Object.values(filled));
  const seeds = [...new Set(ids.map((id) => filled[id].seed))];
  const longer = slots.find((slot) => filled[slot.id]?.steps > slot.steps);
  const sentences = [
    ids.length
      ? `Filled ${count(ids.length, "row")} from ${count(used.size, "sent run")}${seeds.length > 3 ? "" : ` (seed ${seeds.join(", ")})`}.`
      : missing.length || open.length
        ? "Nothing was filled."
        : "Nothing to fill: no run is missing.",
  ];
  if (longer) {
    const { seed } = filled[longer.id];
    sentences.push(`Seed ${seed} ran longer than needed: its first ${count(longer.steps, "step")} count.`);
  }
  const misfit = runs.findLast((sent) => !slots.some((slot) => fits(slot, sent)));
  if (!ids.length && misfit && (missing.length || open.length))
    sentences.push(`The sent run with seed ${misfit.seed} does not fit: ${reason(slots, misfit)}.`);
  if (open.length)
    sentences.push(`Open or wrong: ${open.join("; ")}. A row with a seed is filled only from a sent run with that seed.`);
  if (missing.length) {
    sentences.push(
      `Missing: ${missing.join("; ")}.`,
      runs.length ? "" : "You have sent no run yet.",
      "Make the missing runs in the simulation and press Send to worksheet there.",
    );
    const half = slots.every((slot) => slot.steps === 1) && slots.some((slot) => isStarted(cells[slot.id]));
    if (half) sentences.push("If both runs had the same seed, type it in both places.");
  }
  for (const question of new Set(slots.map((slot) => slot.question))) sentences.push(seedProblem(question, cells));
  return sentences.filter(Boolean).join(" ");
}

/** After a seed was typed: fills its numbers in if they are too many to type; returns a sentence, "" if all is well. */
export function takeSeed(id, before, text) {
  const slot = RUNS.find((each) => each.id === id);
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
