// The way through the course: which pages are stops, and what reports of the grader say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readReport, sentence } from "../../docs/assets/js/core/report_files.mjs";
import { readProgress, stopAt } from "../../docs/assets/js/ui/progress.mjs";

const checks = (...functions) => functions.flatMap((name) => [{ function: name }, { function: name }]);
const json = (exercises) => JSON.stringify({ schema: "grpo-course/result/1", exercises });
const section = (name, points, ...functions) =>
  `<section id="${name}"><h2>X</h2><p><strong>${points} points</strong></p>${functions.map((f) => `<h3><code>${f}</code></h3>`).join("")}</section>`;

test("chapters, exercises and the worksheet are stops, at any address; the pages for instructors are none", () => {
  assert.equal(stopAt("/course/learn/why/"), "learn/why");
  assert.equal(stopAt("/a%20disk/exercises/clip.html"), "exercises/clip");
  assert.equal(stopAt("/worksheet/"), "worksheet");
  for (const path of ["/", "/instructors/worksheet/", "/learn/", "/mistakes/clip/", "/simulation/"]) assert.equal(stopAt(path), null);
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
  assert.equal(sentence(short), "Passed: advantages. Not yet: kl, 20 of 25 points; clip, of which not all functions were graded.");
});

test("what is no report is refused with a sentence", () => {
  for (const text of ["", "{", "{}", "null", "[]", "<html>", json([{ name: "kl" }]), json([{ name: "worksheet", earned: 1, points: 1, checks: [] }])])
    assert.throws(() => readReport(text), /no report of the grader/, text);
});
