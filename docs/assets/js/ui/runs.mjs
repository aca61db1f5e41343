// The runs that the reader sent from the simulation to the worksheet, oldest first. A run is remembered by what
// determines it, { settings, seed, steps }; everything else is computed from that again.
import { load, save } from "./storage.mjs";

const KEY = "grpo-runs-v1";
const MOST = 60; // the worksheet asks for 18

/** All sent runs. What another version or a person's hand left there is dropped. */
export function sentRuns() {
  const runs = load(KEY, []);
  const whole = (x) => Number.isInteger(x) && x >= 0;
  return Array.isArray(runs) ? runs.filter((run) => run?.settings && whole(run.seed) && whole(run.steps)) : [];
}

/** Adds a run, unless the very same one is there already; returns how many there are. */
export function sendRun({ settings, seed, steps }) {
  const run = { settings, seed, steps };
  const others = sentRuns().filter((other) => JSON.stringify(other) !== JSON.stringify(run));
  const runs = [...others, run].slice(-MOST);
  save(KEY, runs);
  return runs.length;
}

/** Forgets all sent runs. */
export const clearRuns = () => save(KEY, null);
