// The numbers of chapter 8, against numbers worked out by hand, against laws, and against the simulation of the course.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { run, singlePeak } from "../../docs/assets/js/core/bandit.mjs";
import { outcomeAdvantages, processAdvantages, tokenAdvantages } from "../../docs/assets/js/core/credit.mjs";
import { changersOf, childrenOf, entriesOf, inherited, lineTo } from "../../docs/assets/js/core/timeline.mjs";
import { binds, clippedTerm, policyStep } from "../../docs/assets/js/core/grpo.mjs";
import { MOST_DRAWS, VARIANTS, outcome, variantAdvantages, variantRun } from "../../docs/assets/js/core/variants.mjs";

const PAGE = readFileSync(new URL("../../docs/learn/limits.md", import.meta.url), "utf-8");
const close = (found, expected, tolerance = 1e-7) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);
const allClose = (found, expected, tolerance) => {
  assert.equal(found.length, expected.length);
  found.forEach((x, i) => close(x, expected[i], tolerance));
};

test("W19 lambda 0 looks one token ahead, lambda 1 to the end", () => {
  const values = [0.3, 0.9, 0.2, 0.6];
  allClose(tokenAdvantages(values, 1, 0), [0.6, -0.7, 0.4, 0.4]);
  allClose(tokenAdvantages(values, 1, 1), [0.7, 0.1, 0.8, 0.4]);
  allClose(tokenAdvantages([0.4], 1, 0.5), [0.6]);
});

test("W19 the advantages between are those worked out by hand, from the last token back", () => {
  allClose(tokenAdvantages([0.5, 0.55, 0.7, 0.7, 0.8, 0.1], 0, 0.5),
    [0.05 + 0.5 * 0.08125, 0.15 - 0.5 * 0.1375, -0.5 * 0.275, 0.1 - 0.5 * 0.75, -0.7 - 0.5 * 0.1, -0.1]);
});

test("W19 a critic that always expects the same blames all tokens alike, as GRPO does", () => {
  allClose(tokenAdvantages([0.5, 0.5, 0.5], 0, 1), [-0.5, -0.5, -0.5]);
  allClose(tokenAdvantages([0.5, 0.5, 0.5], 0, 0), [0, 0, -0.5]);
});

test("W20 process rewards are normalized together and added up to the end, as worked out by hand", () => {
  const third = 1 / Math.sqrt(3); // one 1 among four ratings becomes 3 * third, a 0 becomes -third
  const found = processAdvantages([[1, 0], [0, 0]]);
  allClose(found.flat(), [2 * third, -third, -2 * third, -third], 1e-6);
});

test("W20 solutions of different lengths keep their own steps, and equal ratings teach nothing", () => {
  const found = processAdvantages([[1, 1, 1], [0], [1, 0]]);
  assert.deepEqual(found.map((steps) => steps.length), [3, 1, 2]);
  const [high, low] = [found[2][0] - found[2][1], found[1][0]]; // of ratings 1 and 0
  allClose(found[0], [3 * high, 2 * high, high]);
  close(4 * high + 2 * low, 0, 1e-9);
  assert.deepEqual(processAdvantages([[1, 1], [1]]), [[0, 0], [0]]);
});

test("W20 an outcome reward is the answer's, and the same for all steps", () => {
  allClose(outcomeAdvantages([[0, 0, 1], [1, 1, 0]]).flat(), [1, 1, 1, -1, -1, -1], 1e-6);
});

const PARTS = ["baseline", "sampling", "KL", "clip", "level", "averaging", "model"];
const ROWS = PAGE.split("| Name | Year | Builds on |")[1].split("\n\n")[0].split("\n").slice(2)
  .map((row) => row.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
const ENTRIES = entriesOf(ROWS);

test("W24 descent is followed by the nearest parents, and children are found by any of them", () => {
  const entries = entriesOf([["a", "1", "\u2013", "KL: x"], ["b", "2", "a", "KL: y; clip: z"], ["c", "3", "b, a", "level: u"]]);
  assert.deepEqual(entries.b, { year: 2, parents: ["a"], changes: { KL: "y", clip: "z" } });
  assert.deepEqual(lineTo("c", entries), ["a", "b", "c"]);
  assert.deepEqual(childrenOf("a", entries), ["b", "c"]);
  assert.deepEqual(childrenOf("c", entries), []);
});

test("W24 nobody on the page is older than what it builds on, and years are those of the arXiv numbers", () => {
  const free = [];
  for (const [name, , , , , source] of ROWS) {
    const { year, parents } = ENTRIES[name];
    for (const parent of parents) assert.ok(ENTRIES[parent].year <= year, `${name} and ${parent}`);
    if (lineTo(name, ENTRIES)[0] !== "REINFORCE") free.push(name);
    const number = source.match(/abs\/(\d\d)\d\d\./);
    if (number) assert.equal(year, 2000 + Number(number[1]), name);
    assert.match(source, /\]\(https:/);
  }
  assert.deepEqual(free, ["Kimi k1.5", "Kimi K2"]);
  assert.deepEqual(ROWS.map(([, year]) => year), ROWS.map(([, year]) => year).toSorted());
});

test("W11 what a part was before a change is what the nearest ancestor made of it", () => {
  assert.equal(inherited("GRPO", "baseline", ENTRIES), "learned value V(s)"); // of A3C, by way of PPO
  assert.equal(inherited("GRPO", "KL", ENTRIES), "penalty for each token");
  assert.equal(inherited("TRPO", "clip", ENTRIES), null);
});

test("B07 the parts are those of the figure, and the baselines come in the order of the years", () => {
  const changed = new Set(Object.values(ENTRIES).flatMap(({ changes }) => Object.keys(changes)));
  assert.deepEqual([...changed].toSorted(), PARTS.toSorted());
  assert.deepEqual(changersOf("baseline", ENTRIES).slice(0, 5), ["REINFORCE", "+ baseline", "A3C", "RLOO", "GRPO"]);
});

const SETTINGS = { rewardTable: singlePeak(), groupSize: 8, lr: 0.5, innerSteps: 4, steps: 30 };

test("B06 GRPO and Dr. GRPO are runs of the simulation", () => {
  for (const [name, divideByStd] of [["GRPO", true], ["Dr. GRPO", false]]) {
    const { steps, ...settings } = SETTINGS;
    const expected = run({ ...settings, divideByStd }, { seed: 3, steps });
    const found = variantRun(VARIANTS[name], SETTINGS, 3);
    assert.deepEqual(found.policy, expected.policy);
    assert.equal(found.lost, expected.zeroSignal.filter(Boolean).length);
    close(found.clipFraction, expected.clipFraction.reduce((sum, x) => sum + x, 0) / steps, 1e-12);
    assert.equal(found.samples, 8 * steps);
  }
});

test("B06 RLOO compares with the other samples: Dr. GRPO without a clip and with G / (G - 1) of its learning rate", () => {
  allClose(variantAdvantages([3, 1, 2], VARIANTS.RLOO).advantages, [1.5, -1.5, 0]);
  const { steps, ...settings } = SETTINGS;
  const same = run({ ...settings, divideByStd: false, clipEps: null, lr: (0.5 * 8) / 7 }, { seed: 5, steps });
  allClose(variantRun(VARIANTS.RLOO, SETTINGS, 5).policy.at(-1), same.policy.at(-1), 1e-9);
});

test("B06 DAPO's clip binds above 1.28 and below 0.8, where the objective has its value at the end of the band", () => {
  const { clipEps, clipEpsHigh } = VARIANTS.DAPO;
  const bound = (ratio, advantage) => binds(ratio, advantage, clipEps, clipEpsHigh);
  assert.deepEqual([bound(1.25, 1), bound(1.29, 1), bound(0.79, -1), bound(1.5, -1)], [false, true, true, false]);
  close(clippedTerm(1.5, 2, clipEps, clipEpsHigh), 2.56);
  close(clippedTerm(0.5, -2, clipEps, clipEpsHigh), -1.6);
  const step = (options) => policyStep([0, 0], [0, 1], [1, -1], [0, 0], { lr: 2, innerSteps: 2, ...options }).clipped;
  assert.deepEqual(step({ clipEps: 0.2 }), [true, true]); // the ratios are 1.76 and 0.24
  assert.deepEqual(step({ clipEps: 0.2, clipEpsHigh: 0.8 }), [false, true]);
});

test("B06 dynamic sampling draws until rewards differ, but not for ever", () => {
  const hopeless = variantRun(VARIANTS.DAPO, { ...SETTINGS, rewardTable: [1, 1, 1], steps: 4 }, 1);
  assert.equal(hopeless.samples, 4 * MOST_DRAWS * 8);
  assert.equal(hopeless.lost, 4);
  allClose(hopeless.policy.at(-1), [1 / 3, 1 / 3, 1 / 3], 1e-12);
  const sparse = { ...SETTINGS, rewardTable: [0, 0, 0, 0, 0, 0, 1, 0, 0, 0], groupSize: 2, steps: 1 };
  const [plain, dynamic] = ["GRPO", "DAPO"].map((name) =>
    Array.from({ length: 400 }, (_, seed) => variantRun(VARIANTS[name], sparse, seed)));
  const share = plain.filter(({ lost }) => lost).length / 400;
  close(share, 0.9 ** 2 + 0.1 ** 2, 0.08); // four standard errors
  assert.ok(dynamic.filter(({ lost }) => lost).length < 0.1 * 400);
  close(dynamic.reduce((sum, { samples }) => sum + samples, 0) / 400 / 2, (1 - 0.82 ** MOST_DRAWS) / 0.18, 1);
});

test("B06 an outcome has means, a median and the ends of the band", () => {
  const made = (last, lost) => ({ policy: [[0.4, 0.6], [1 - last, last]], lost, samples: 10, clipFraction: 0 });
  const found = outcome([made(0.2, 1), made(0.6, 3)], 0);
  assert.deepEqual(found.curve.low, [0.4, 0.4]);
  assert.deepEqual(found.curve.high, [0.4, 0.8]);
  close(found.end, 0.6);
  assert.deepEqual([found.lost, found.samples], [2, 10]);
  assert.equal(outcome([made(0.2, 1), made(0.3, 1), made(0.6, 1)], 0).half, 1);
  assert.equal(outcome([made(0.2, 1), made(0.6, 1), made(0.6, 1)], 0).half, Infinity); // most never pass 0.5
});
