// How far the reader has come, kept in this browser: { done: [ids of stops], finished: has the finish been shown? }.
// The id of a stop is the path of its page: "learn/why".
import { load, save } from "./storage.mjs";

const KEY = "grpo-progress-v1";
const PAGE = /(?:^|\/)(learn\/[\w-]+|exercises\/[\w-]+|(?<!instructors\/)worksheet)(?:\/|\.html)$/;
export const CHANGED = "grpo-progress";

/** The id of the stop at an address, or null. */
export const stopAt = (pathname) => PAGE.exec(pathname)?.[1] ?? null;

export function readProgress() {
  const { done, finished } = load(KEY, {});
  return { done: Array.isArray(done) ? done : [], finished: finished === true };
}

export function saveProgress(progress) {
  save(KEY, progress);
  document.dispatchEvent(new Event(CHANGED));
}

export function markDone(ids, on = true) {
  const { done, finished } = readProgress();
  const others = done.filter((id) => !ids.includes(id));
  saveProgress({ done: on ? [...others, ...ids] : others, finished });
}
