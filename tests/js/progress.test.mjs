// The way through the course: which pages are stops, and what reports of the grader say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readReport, sentence } from "../../docs/assets/js/core/report_files.mjs";
import { isAnswer } from "../../docs/assets/js/core/quiz.mjs";
import { forgetAll, readProgress, readQuiz, saveQuiz, stopAt } from "../../docs/assets/js/ui/progress.mjs";

const checks = (...functions) => functions.flatMap((name) => [{ function: name }, { function: name }]);
const json = (exercises) => JSON.stringify({ schema: "grpo-course/result/1", exercises });
const section = (name, points, ...functions) =>
  `<section id="${name}"><h2>X</h2><p><strong>${points} points</strong></p>${functions.map((f) => `<h3><code>${f}</code></h3>`).join("")}</section>`;

test("pages of the path are stops, at any address; the pages for instructors and the parts of an exercise are none", () => {
  assert.equal(stopAt("/course/learn/why/"), "learn/why");
  assert.equal(stopAt("/a%20disk/exercises/clip.html"), "exercises/clip");
  assert.equal(stopAt("/worksheet/"), "worksheet");
  assert.equal(stopAt("/ten-minutes/"), "ten-minutes");
  for (const path of ["/", "/instructors/class/", "/learn/", "/exercises/clip/mistakes/", "/exercises/variants/", "/simulation/"]) assert.equal(stopAt(path), null);
});

test("what is stored may be anything", () => {
  const none = { done: [], finished: false };
  for (const stored of ["", "3", "{", "null", "[]", '{"done": "clip", "finished": 1}']) {
    globalThis.localStorage = { getItem: () => stored };
    assert.deepEqual(readProgress(), none, stored);
  }
  delete globalThis.localStorage;
  assert.deepEqual(readProgress(), none, "no storage");
});

test("an exercise is passed with all points of all its functions, in both kinds of reports", () => {
  const passed = [{ name: "kl", earned: 25, points: 25, passed: true }];
  assert.deepEqual(readReport(json([{ name: "kl", earned: 25, points: 25, checks: checks("a", "b") }])), passed);
  const curves = "<section><h2>Learning curves</h2><h3><code>train</code></h3></section>";
  assert.deepEqual(readReport(`<!doctype html>${section("kl", "25 of 25", "a", "b")}${curves}`), passed);
  const short = readReport(json([
    { name: "kl", earned: 20, points: 25, checks: checks("a", "b") },
    { name: "clip", earned: 9, points: 9, checks: checks("a") },
    { name: "advantages", earned: 25, points: 25, checks: checks("a", "b") },
  ]));
  assert.deepEqual(short.map((each) => each.passed), [false, false, true]);
  assert.equal(sentence(short), "Passed: advantages. Not yet: kl, 20 of 25 points; clip, where some functions were not graded.");
});

test("what is no report is refused with a sentence", () => {
  for (const text of ["", "{", "{}", "null", "[]", "<html>", json([{ name: "kl" }]), json([{ name: "worksheet", earned: 1, points: 1, checks: [] }])])
    assert.throws(() => readReport(text), /not a report of the grader/, text);
});

test("the questions that were answered right are kept for each page, once", () => {
  const kept = new Map();
  globalThis.document = new EventTarget();
  globalThis.localStorage = {
    getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text), removeItem: (key) => kept.delete(key),
  };
  for (const stored of ["3", "null", "[]", '{"learn/why": {"of": "3", "right": ["a"]}}', '{"learn/why": null}']) {
    kept.set("grpo-quiz-v1", stored);
    assert.deepEqual(readQuiz(), {}, stored);
  }
  for (const name of ["a", "b", "a"]) saveQuiz("learn/why", 3, name);
  saveQuiz("learn/ppo", 2, "c");
  assert.deepEqual(readQuiz(), { "learn/why": { of: 3, right: ["a", "b"] }, "learn/ppo": { of: 2, right: ["c"] } });
  forgetAll();
  assert.deepEqual(readQuiz(), {});
  delete globalThis.document;
  delete globalThis.localStorage;
});

test("a number is right with all its digits, or rounded to one place after the point at least", () => {
  for (const text of ["1.225", "1.22", "1.23", "1.2", " +1.225 ", "1,225", "1.2247"]) assert.ok(isAnswer(text, "1.225"), text);
  for (const text of ["1", "1.3", "1.24", "-1.225", "1.227", "", "one", "122.5"]) assert.ok(!isAnswer(text, "1.225"), text);
  for (const text of ["-1.6", "\u22121.6", "-1.60"]) assert.ok(isAnswer(text, "\u22121.6"), text);
  for (const text of ["112", "112 GB", "112.0"]) assert.ok(isAnswer(text, "112"), text);
  for (const text of ["111", "112.5", "11"]) assert.ok(!isAnswer(text, "112"), text);
  assert.ok(isAnswer("0", "0") && !isAnswer("0.5", "0") && !isAnswer("0", "\u22120.005"));
});
