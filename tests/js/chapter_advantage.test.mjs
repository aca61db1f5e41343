// The numbers of chapter 5, against enumeration, laws, and numbers worked out by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { bell, describe, drawAdvantages, histogram } from "../../docs/assets/js/core/advantage_samples.mjs";
import { binaryAdvantages, mostLikely, noSignal, rewardStd } from "../../docs/assets/js/core/binary_groups.mjs";
import { equalGroup } from "../../docs/assets/js/core/float_noise.mjs";
import { gradientNoise, SCORES } from "../../docs/assets/js/core/gradient_noise.mjs";
import { groupAdvantages } from "../../docs/assets/js/core/grpo.mjs";

const close = (found, expected, tolerance = 1e-12) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);

test("W08 the share of groups without a signal is that of all groups, counted one by one", () => {
  for (const size of [1, 2, 3, 8]) {
    for (const p of [0, 0.1, 0.5, 0.9, 1]) {
      let lost = 0;
      for (let group = 0; group < 2 ** size; group++) {
        const correct = group.toString(2).split("1").length - 1;
        if (correct === 0 || correct === size) lost += p ** correct * (1 - p) ** (size - correct);
      }
      close(noSignal(p, size), lost);
    }
  }
});

test("W08 advantages of groups of correct and wrong samples are those worked out by hand", () => {
  close(binaryAdvantages(1, 4).right, Math.sqrt(3));
  close(binaryAdvantages(1, 4).wrong, -1 / Math.sqrt(3));
  close(binaryAdvantages(4, 8).right, 1);
  assert.deepEqual(binaryAdvantages(0, 8), { right: 0, wrong: 0 });
  assert.deepEqual(binaryAdvantages(8, 8), { right: 0, wrong: 0 });
  close(rewardStd(0.5), 0.5);
  close(rewardStd(0.9), 0.3);
});

test("W08 the most likely number of correct samples is the one with the most groups behind it", () => {
  for (const size of [1, 2, 8]) {
    for (const p of [0, 0.01, 0.3, 0.5, 0.99, 1]) {
      const chances = Array.from({ length: size + 1 }, () => 0);
      for (let group = 0; group < 2 ** size; group++) {
        const correct = group.toString(2).split("1").length - 1;
        chances[correct] += p ** correct * (1 - p) ** (size - correct);
      }
      close(chances[mostLikely(p, size)], Math.max(...chances));
    }
  }
});

test("W10 advantages of a group obey shift, scale and sign, and the divisor is a constant factor", () => {
  const rewards = [1, 1, 0, 0, 0, 0.5];
  const { mean, std, advantages } = groupAdvantages(rewards);
  close(mean, 2.5 / 6);
  close(std ** 2, 2.25 / 6 - (2.5 / 6) ** 2); // mean of the squares less square of the mean
  close(advantages.reduce((total, x) => total + x), 0);
  const same = (others, expected) => others.forEach((x, i) => close(x, expected[i], 1e-6));
  same(groupAdvantages(rewards.map((r) => 3 * r + 5)).advantages, advantages);
  same(groupAdvantages(rewards.map((r) => -r)).advantages, advantages.map((x) => -x));
  same(groupAdvantages(rewards, { correction: 1 }).advantages, advantages.map((x) => x * Math.sqrt(5 / 6)));
  assert.deepEqual(groupAdvantages([0.7, 0.7, 0.7]).advantages, [0, 0, 0]);
});

test("W12 groups of a seed stay when more are drawn, and those without a signal are counted", () => {
  const settings = { kind: "binary", p: 0.5, groupSize: 4, seed: 3 };
  const few = drawAdvantages({ ...settings, groups: 5 });
  const many = drawAdvantages({ ...settings, groups: 400 });
  assert.deepEqual(many.advantages.slice(0, 20), few.advantages);
  assert.equal(many.advantages.length, 1600);
  assert.ok(Math.abs(many.zeroSignals / 400 - 0.125) < 0.06);
  const groups = Array.from({ length: 400 }, (_, i) => many.advantages.slice(4 * i, 4 * i + 4));
  assert.equal(groups.filter((group) => group.every((x) => x === 0)).length, many.zeroSignals);
});

test("W12 binary rewards give 2 (G - 1) + 1 values; the std of all is the root of the share with a signal", () => {
  for (const groupSize of [2, 4, 8]) {
    const { advantages, zeroSignals } = drawAdvantages({ kind: "binary", p: 0.5, groupSize, groups: 1000, seed: 1 });
    const { mean, std, largest, different } = describe(advantages);
    assert.equal(different, 2 * groupSize - 1);
    close(mean, 0, 1e-9);
    close(std, Math.sqrt(1 - zeroSignals / 1000), 1e-6);
    close(largest, Math.sqrt(groupSize - 1), 1e-6);
  }
});

test("W12 two different rewards give -1 and +1 whatever they are, and a bell in a large group stays a bell", () => {
  for (const kind of ["uniform", "normal"]) {
    const { advantages } = drawAdvantages({ kind, groupSize: 2, groups: 200, seed: 5 });
    assert.ok(advantages.every((x) => Math.abs(Math.abs(x) - 1) < 1e-3));
  }
  const { advantages } = drawAdvantages({ kind: "normal", groupSize: 32, groups: 1000, seed: 5 });
  const { middle } = describe(advantages);
  close(middle, 0.3829, 0.015); // of a standard normal distribution, from a printed table
  for (const { middle: x, share } of histogram(advantages)) close(share, 0.1 * bell(x), 0.005);
});

test("W12 every value is in one bin, and the outer bins hold what lies beyond", () => {
  const bins = histogram([-9, -0.04, 0.04, 0.06, 9], { low: -1, high: 1, width: 0.1 });
  const found = bins.filter(({ share }) => share > 0).map(({ middle, share }) => [Math.round(10 * middle), share]);
  assert.deepEqual(found, [[-10, 0.2], [0, 0.4], [1, 0.2], [10, 0.2]]);
  close(bins.reduce((total, { share }) => total + share, 0), 1);
  close(bell(0), 0.3989422804014327);
});

test("B05 float32 makes an advantage out of eight equal rewards of 0.7, as PyTorch does", () => {
  const { mean, centred, std, advantage } = equalGroup(0.7, 8);
  assert.equal(mean, 0.6999999284744263); // torch.full((8,), 0.7).mean(), torch 2.13
  assert.equal(centred, 2 ** -24);
  assert.equal(std, 2 ** -24);
  assert.equal(advantage, 0.8563314080238342); // (rewards - mean) / (std + 1e-8) in torch 2.13
  assert.equal(equalGroup(0.1, 7).advantage, -0.42695313692092896); // dito
});

test("B05 rewards that are stored exactly give 0, a larger std_eps and float64 make the error smaller and not 0", () => {
  for (const reward of [0, 0.25, 0.5, 1]) assert.equal(equalGroup(reward, 8).advantage, 0);
  const at = (options) => Math.abs(equalGroup(0.7, 8, options).advantage);
  close(at({ stdEps: 1e-6 }), 5.9604645e-8 / (5.9604645e-8 + 1e-6), 1e-6);
  assert.ok(at({ stdEps: 1e-4 }) < 1e-3 && at({ stdEps: 1e-4 }) > 0);
  assert.ok(at({ dtype: "float64" }) < 1e-7 && at({ dtype: "float64" }) > 0);
});

const RATES = [0.5, 0.3, 0.2];
const PAYS = [1, 0.2, 0];

/** Mean gradient, noise and cosine over all ordered groups of two from three actions, one by one. */
function enumerated(score) {
  const value = RATES.reduce((total, p, a) => total + p * PAYS[a], 0);
  const groups = RATES.flatMap((p, a) => RATES.map((q, b) => {
    const [first, second] = score([PAYS[a], PAYS[b]], value);
    const log = (action, j) => (action === j ? 1 : 0) - RATES[j]; // gradient of log pi(action) with respect to logit j
    return { chance: p * q, gradient: RATES.map((_, j) => (first * log(a, j) + second * log(b, j)) / 2) };
  }));
  const mean = RATES.map((_, j) => groups.reduce((total, { chance, gradient }) => total + chance * gradient[j], 0));
  const noise = Math.sqrt(groups.reduce((total, { chance, gradient }) =>
    total + chance * gradient.reduce((sum, x, j) => sum + (x - mean[j]) ** 2, 0), 0));
  return { signal: Math.hypot(...mean), noise };
}

test("B01 signal and noise are those of all groups, drawn one by one", () => {
  for (const score of Object.values(SCORES)) {
    const found = gradientNoise(RATES, PAYS, 2, score);
    const expected = enumerated(score);
    close(found.signal, expected.signal);
    close(found.noise, expected.noise);
  }
});

test("B01 one baseline for all leaves the mean gradient alone, and noise falls with the root of G", () => {
  const none = gradientNoise(RATES, PAYS, 4, SCORES.none);
  for (const name of ["others", "critic"]) close(gradientNoise(RATES, PAYS, 4, SCORES[name]).signal, none.signal);
  close(none.cosine, 1);
  close(gradientNoise(RATES, PAYS, 1, SCORES.none).noise, 2 * none.noise);
});

test("B01 group mean is (G - 1) / G of leave-one-out; an offset reaches only REINFORCE, a scale all but GRPO", () => {
  const at = (name, change = (reward) => reward) => gradientNoise(RATES, PAYS.map(change), 4, SCORES[name]);
  close(at("mean").signal, 0.75 * at("others").signal);
  close(at("mean").noise, 0.75 * at("others").noise);
  const up = (reward) => reward + 5;
  for (const name of ["mean", "others", "std", "critic"]) close(at(name, up).noise, at(name).noise, 1e-7);
  assert.ok(at("none", up).noise > 5 * at("none").noise);
  const tenfold = (reward) => 10 * reward;
  close(at("mean", tenfold).signal, 10 * at("mean").signal);
  close(at("std", tenfold).signal, at("std").signal, 1e-6);
});

test("B07 the two forms of RLOO's formula are the same", () => {
  const rewards = [1, 0, 0, 0.5];
  const mean = groupAdvantages(rewards, { divideByStd: false }).advantages;
  SCORES.others(rewards).forEach((x, i) => close(x, (4 / 3) * mean[i]));
});
