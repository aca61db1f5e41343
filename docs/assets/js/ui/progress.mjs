// How far the reader has come, kept in this browser: { done: [ids of stops], finished: has the finish been shown? }, and of
// the questions of each page { id of the stop: { of: how many, right: [names] } }. The id of a stop is the path of its
// page: "learn/why".
import { PATH } from "../core/path.mjs";
import { load, save } from "./storage.mjs";

const KEY = "grpo-progress-v1";
const QUIZ = "grpo-quiz-v1";
export const CHANGED = "grpo-progress";

/** The id of the stop at an address, or null. */
export function stopAt(pathname) {
  const page = pathname.replace(/(\/|\.html)$/, "");
  if (/(^|\/)instructors\//.test(page)) return null;
  return PATH.find((id) => page === id || page.endsWith(`/${id}`)) ?? null;
}

/** Stops that are ticked at the end of their pages; what is left to do on the others is ticked by hand or by a report. */
export const isRead = (id) => !/^(exercises|worksheet)/.test(id);

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

/** What was answered right; the pages of which nothing was are left out. */
export function readQuiz() {
  const pages = Object.entries(load(QUIZ, {})).filter(([, page]) => Number.isInteger(page?.of) && Array.isArray(page.right));
  return Object.fromEntries(pages);
}

/** Notes that a question was answered right, on a page that has so many. */
export function saveQuiz(stop, of, name) {
  const pages = readQuiz();
  save(QUIZ, { ...pages, [stop]: { of, right: [...new Set([...(pages[stop]?.right ?? []), name])] } });
  document.dispatchEvent(new Event(CHANGED));
}

export function forgetAll() {
  save(QUIZ, null);
  saveProgress({ done: [], finished: false });
}
