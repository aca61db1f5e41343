// The numbers of chapter 3, against enumeration of whole groups and against numbers worked out by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { accuracy, form, lastNumber, lastNumberIn, overpaid, ranks, trueSteps } from "../../docs/assets/js/core/answer_reward.mjs";
import {
  ANSWERS, answerLogp, expectedDistinct, expectedStd, RIGHT, sampleAnswers,
} from "../../docs/assets/js/core/answers.mjs";

const close = (found, expected, tolerance = 1e-12) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);

test("W04 answers come as often as the policy says, and a larger group begins with the smaller one", () => {
  const count = new Map(ANSWERS.map((answer) => [answer, 0]));
  for (let seed = 0; seed < 500; seed++) {
    for (const answer of sampleAnswers(seed, 16)) count.set(answer, count.get(answer) + 1);
  }
  const expected = { 24: 0.5, 14: 0.25, 12: 0.12, 10: 0.08, 13: 0.05 };
  for (const [answer, found] of count) close(found / 8000, expected[answer], 0.02); // 3.5 standard deviations or more
  assert.deepEqual(sampleAnswers(17, 16).slice(0, 5), sampleAnswers(17, 5));
  assert.notDeepEqual(sampleAnswers(17, 16), sampleAnswers(18, 16));
  assert.equal(ANSWERS[RIGHT], 2 + 2 * 6);
});

test("W05 the parser takes the last number, whatever stands before it", () => {
  const cases = {
    "14": 14, "14.": 14, "14.0": 14, "It is 14, not 20": 20, "20, no: 14": 14, "2 + 12 = 14": 14, "-14": -14, "−14": -14,
    "28-14": 14, "12 or 13 or 14": 14, "3.5": 3.5, "fourteen": null, "": null,
  };
  for (const [text, expected] of Object.entries(cases)) {
    assert.equal(lastNumber(text), expected, text);
    const found = lastNumberIn(text);
    if (found) assert.equal(Number(text.slice(found.from, found.to).replace("\u2212", "-")), expected, text);
    assert.equal(accuracy(text, 14), expected === 14 ? 1 : 0, text);
  }
});

test("W05 the form is paid for a number behind the word, right or wrong", () => {
  for (const text of ["Answer: 14", "answer:20", "I think. Answer: -3"]) assert.equal(form(text), 1, text);
  for (const text of ["14", "Answer 14", "Answer: none", "My answer is 14"]) assert.equal(form(text), 0, text);
});

test("W06 what to expect of a group is the mean over all groups that there are", () => {
  const probabilities = answerLogp(0.8).map(Math.exp);
  for (const size of [1, 2, 4]) {
    let [distinct, spread, total] = [0, 0, 0];
    for (let group = 0; group < 5 ** size; group++) {
      const places = Array.from({ length: size }, (_, i) => Math.floor(group / 5 ** i) % 5);
      const chance = places.reduce((product, place) => product * probabilities[place], 1);
      const rewards = places.map((place) => Number(place === RIGHT));
      const mean = rewards.reduce((sum, reward) => sum + reward, 0) / size;
      total += chance;
      distinct += chance * new Set(places).size;
      spread += chance * Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / size);
    }
    close(total, 1);
    close(expectedDistinct(probabilities, size), distinct);
    close(expectedStd(probabilities[RIGHT], size), spread);
  }
});

test("W06 temperature 1 leaves the policy as it is, and a low one takes it to its favorite", () => {
  [0.5, 0.25, 0.12, 0.08, 0.05].forEach((p, i) => close(Math.exp(answerLogp(1)[i]), p));
  close(Math.exp(answerLogp(1, true)[RIGHT]), 0.5);
  close(Math.exp(answerLogp(0.5)[RIGHT]), 0.0625 / (0.25 + 0.0625 + 0.0144 + 0.0064 + 0.0025)); // squares
  assert.ok(Math.exp(answerLogp(0.1)[RIGHT]) < 0.001);
  assert.ok(Math.exp(answerLogp(0.1, true)[RIGHT]) > 0.999);
});

test("W07 written steps are paid for being true, not for being of use", () => {
  const cases = {
    "3 × 4 = 12, 2 + 12 = 14. Answer: 14": 1, // sound
    "2 + 3 = 7, 7 × 4 = 14. Answer: 14": 0, // both false
    "1 + 1 = 2, 2 + 2 = 4. Answer: 14": 1, // idle
    "3 × 4 = 12, 2 + 12 = 13": 0.5,
    "14": 0,
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(trueSteps(text), expected, text);
});

test("W07 equal rewards share a rank, and an answer is overpaid where a better one gets no more", () => {
  assert.deepEqual(ranks([0.5, 1, 0, 1, 0.5]), [3, 1, 5, 1, 3]);
  assert.deepEqual(overpaid([1, 1, 1.5, 0], [2, 1, 1, 0]), [false, true, true, false]);
  assert.deepEqual(overpaid([3, 2, 1], [2, 1, 0]), [false, false, false]);
});
