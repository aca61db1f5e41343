// The runs that the reader sent from the simulation to the worksheet, oldest first. A run is remembered by what
// determines it, { settings, seed, steps }; everything else is computed from that again.
import { load, save } from "./storage.mjs";

export const RUNS_KEY = "grpo-runs-v1";
const TAKEN_KEY = "grpo-runs-taken-v1"; // the runs that the worksheet has seen, as texts
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
  window.dispatchEvent(new StorageEvent("storage", { key: RUNS_KEY })); // a browser tells only other windows
  return `Sent. The worksheet fills the rows that ask for such a run.${kept}`;
}

/** The sent runs that the worksheet has not seen yet. */
export function newRuns() {
  const taken = new Set(load(TAKEN_KEY, []));
  return sentRuns().filter((run) => !taken.has(JSON.stringify(run)));
}

/** From now on, no run is new. */
export const takeRuns = () => save(TAKEN_KEY, sentRuns().map((run) => JSON.stringify(run)));

/** Forgets all sent runs. */
export function clearRuns() {
  save(RUNS_KEY, null);
  save(TAKEN_KEY, null);
}
