// The runs that the reader sent from the simulation to the worksheet, oldest first. A run is remembered by what
// determines it, { settings, seed, steps }; everything else is computed from that again.
import { load, save } from "./storage.mjs";

export const RUNS_KEY = "grpo-runs-v1";
const MOST = 60; // the worksheet asks for 18

/** All sent runs. What another version or a person's hand left there is dropped. */
export function sentRuns() {
  const runs = load(RUNS_KEY, []);
  const whole = (x) => Number.isInteger(x) && x >= 0;
  return Array.isArray(runs) ? runs.filter((run) => run?.settings && whole(run.seed) && whole(run.steps)) : [];
}

/** Adds runs { settings, seed, steps }, each once however often it is sent; returns what to say about it. */
export function sendRuns(added) {
  const texts = added.map((run) => JSON.stringify(run));
  const others = sentRuns().filter((other) => !texts.includes(JSON.stringify(other)));
  const runs = [...others, ...added].slice(-MOST);
  const kept = save(RUNS_KEY, runs)
    ? ""
    : " This browser cannot keep them for long: follow a link to the worksheet now, in this tab.";
  return `The worksheet can now fill its tables from ${runs.length} ${runs.length === 1 ? "run" : "runs"}.${kept}`;
}

/** Forgets all sent runs. */
export const clearRuns = () => save(RUNS_KEY, null);
