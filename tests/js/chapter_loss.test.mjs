// The numbers of chapter 6: against finite differences, averages over all actions, and numbers worked out by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  estimatorGradient, estimatorValue, klGradient, reverseKlGradient,
} from "../../docs/assets/js/core/estimators.mjs";
import { binds, clippedTerm, groupAdvantages, klDivergence, logSoftmax } from "../../docs/assets/js/core/grpo.mjs";
import { klParts, withShare } from "../../docs/assets/js/core/kl_words.mjs";
import { clipped, klEstimates, tokenLoss } from "../../docs/assets/js/core/loss.mjs";

const close = (found, expected, tolerance = 1e-12) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);
const slope = (f, x, h = 1e-5) => (f(x + h) - f(x - h)) / (2 * h);

test("W14 the ratio of 0.45 and 0.30 is 1.5, and the clip binds on the side that pays", () => {
  const good = tokenLoss({ now: 0.45, old: 0.3, ref: 0.45, advantage: 1 });
  const bad = tokenLoss({ now: 0.45, old: 0.3, ref: 0.45, advantage: -1 });
  close(good.ratio, 1.5);
  close(good.surrogate, 1.2);
  close(bad.surrogate, -1.5);
  assert.deepEqual([good.bound, bad.bound], [true, false]);
  close(clipped(1.5, 0.2), 1.2);
  close(clipped(0.5, 0.2), 0.8);
  close(clipped(1.1, 0.2), 1.1);
});

test("W15 the surrogate is the smaller product, and flat exactly where the clip binds", () => {
  for (const advantage of [1, -1]) {
    for (const eps of [0, 0.2, 0.6]) {
      for (let ratio = 0.405; ratio < 1.8; ratio += 0.01) { // never on a corner
        close(clippedTerm(ratio, advantage, eps), Math.min(ratio * advantage, clipped(ratio, eps) * advantage));
        const found = slope((at) => clippedTerm(at, advantage, eps), ratio);
        close(found, binds(ratio, advantage, eps) ? 0 : advantage, 1e-8);
      }
    }
  }
});

test("W13 the loss of a token changes with its log-probability by its surrogate and its KL", () => {
  const tokens = [[0.9, 0.92, 0.91], [0.8, 0.8, 0.82], [0.4, 0.62, 0.35], [0.7, 0.5, 0.72]];
  for (const [old, now, ref] of tokens) {
    for (const advantage of [1.291, -0.775]) {
      const loss = (logp) => tokenLoss({ old, now: Math.exp(logp), ref, advantage }).loss;
      const ratio = now / old;
      const outside = (advantage > 0 && ratio > 1.2) || (advantage < 0 && ratio < 0.8);
      close(slope(loss, Math.log(now)), (outside ? 0 : -ratio * advantage) + 0.04 * (1 - ref / now), 1e-8);
    }
  }
  close(tokenLoss({ old: 0.4, now: 0.62, ref: 0.35, advantage: 1.291 }).loss, -1.5492 + 0.04 * 0.136302, 1e-7);
});

test("W16 k3 is never negative, small near the reference, and lopsided; its average is that of k1", () => {
  for (let now = 0.01; now < 1; now += 0.01) assert.ok(klEstimates(now, 0.28).k3 >= 0);
  close(klEstimates(0.28, 0.28).k3, 0);
  close(klEstimates(0.95, 0.28).k3, 0.28 / 0.95 - 1 + Math.log(0.95 / 0.28));
  close(klEstimates(0.02, 0.28).k3, 14 - 1 - Math.log(14));
  const average = (kind) => 0.7 * klEstimates(0.7, 0.4)[kind] + 0.3 * klEstimates(0.3, 0.6)[kind];
  close(average("k1"), average("k3"));
  close(tokenLoss({ old: 0.3, now: 0.45, ref: 0.28, advantage: 1, klCoef: 0 }).loss, -1.2);
});

test("W21 the KL of a coin worked out by hand has two directions and is never negative", () => {
  const [fair, bent] = [[0.5, 0.5], [0.25, 0.75]].map((policy) => policy.map(Math.log));
  close(klDivergence(fair, bent), 0.5 * Math.log(2) + 0.5 * Math.log(2 / 3));
  close(klDivergence(bent, fair), 0.25 * Math.log(0.5) + 0.75 * Math.log(1.5));
  const reference = [0.4, 0.3, 0.15, 0.1, 0.05].map(Math.log);
  close(klDivergence([0.2, 0.6, 0.1, 0.05, 0.05].map(Math.log), reference), 0.35 * Math.log(2) + 0.1 * Math.log(2 / 3));
  for (let word = 0; word < 5; word++) {
    for (const more of [-2, -0.1, 0.1, 3]) {
      const policy = logSoftmax(reference.map((x, j) => (j === word ? x + more : x)));
      assert.ok(klDivergence(policy, reference) > 0 && klDivergence(reference, policy) > 0);
    }
  }
});

test("W21 the parts of a divergence sum to it, and a word that is set takes from the others in proportion", () => {
  const [one, other] = [[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]].map((policy) => policy.map(Math.log));
  close(klParts(one, other)[2], 0.5 * Math.log(2));
  close(klParts(one, other).reduce((total, part) => total + part), klDivergence(one, other));
  assert.deepEqual(withShare([40, 30, 20, 10], 3, 10), [40, 30, 20, 10]);
  assert.deepEqual(withShare([40, 30, 20, 10], 0, 70), [70, 15, 10, 5]);
  assert.deepEqual(withShare([1, 1, 1, 97], 3, 1), [33, 33, 33, 1]);
  for (let percent = 1; percent <= 96; percent++) {
    const shares = withShare([20, 15, 10, 5, 50], 2, percent);
    assert.equal(shares[2], percent);
    assert.equal(shares.reduce((total, share) => total + share), 100);
    assert.ok(shares.every((share) => Number.isInteger(share) && share >= 1));
  }
});

test("W22 eight rewards lead to the loss that was worked out by hand", () => {
  const { mean, std, advantages } = groupAdvantages([0, 1, 0, 1, 0, 0, 1, 0]);
  close(mean, 3 / 8);
  close(std, Math.sqrt(15) / 8);
  close(advantages[1], Math.sqrt(5 / 3), 1e-7); // 1e-8 is added to the standard deviation
  close(advantages[0], -Math.sqrt(3 / 5), 1e-7);
  const token = { now: 0.45, old: 0.3, ref: 0.28 };
  const good = tokenLoss({ ...token, advantage: advantages[1] });
  close(good.surrogate, 1.2 * Math.sqrt(5 / 3), 1e-7);
  close(good.k1, 0.474458, 1e-6);
  close(good.k3, 0.28 / 0.45 - 1 + Math.log(0.45 / 0.28));
  close(good.loss, -1.545326, 1e-6);
  close(tokenLoss({ ...token, advantage: advantages[0] }).loss, 1.5 * Math.sqrt(3 / 5) + 0.04 * good.k3, 1e-7);
});

test("B02 k1 and k3 hit the KL, k2 does not; as losses they are nothing, one direction, and the other", () => {
  const reference = [0.5, 0.3, 0.2].map(Math.log);
  for (const logits of [[0.3, -0.8, -2.6], [2, 0, -1], [-1, 0.5, 0.7]]) {
    const logp = logSoftmax(logits);
    const kl = klDivergence(logp, reference);
    close(estimatorValue("k1", logp, reference).mean, kl);
    close(estimatorValue("k3", logp, reference).mean, kl);
    assert.ok(Math.abs(estimatorValue("k2", logp, reference).mean - kl) > 1e-3);
    const by = (f, j) => slope((logit) => f(logSoftmax(logits.with(j, logit))), logits[j]);
    for (const kind of ["k1", "k2", "k3"]) {
      // The weights stay those of the policy that drew the samples; only the estimate moves.
      const loss = (moved) => moved.reduce((total, x, a) =>
        total + Math.exp(logp[a]) * klEstimates(Math.exp(x), Math.exp(reference[a]))[kind], 0);
      estimatorGradient(kind, logp, reference).forEach((found, j) => close(found, by(loss, j), 1e-8));
    }
    for (let j = 0; j < 3; j++) {
      close(klGradient(logp, reference)[j], by((moved) => klDivergence(moved, reference), j), 1e-8);
      close(reverseKlGradient(logp, reference)[j], by((moved) => klDivergence(reference, moved), j), 1e-8);
      close(estimatorGradient("k1", logp, reference)[j], 0);
      close(estimatorGradient("k2", logp, reference)[j], klGradient(logp, reference)[j]);
      close(estimatorGradient("k3", logp, reference)[j], reverseKlGradient(logp, reference)[j]);
    }
  }
});

test("B02 the noise of one sample is that of a fair coin against a bent one, worked out by hand", () => {
  const [fair, bent] = [[0.5, 0.5], [0.25, 0.75]].map((policy) => policy.map(Math.log));
  close(estimatorValue("k1", fair, bent).std, (Math.log(2) - Math.log(2 / 3)) / 2); // half the distance of the two values
  close(estimatorValue("k3", fair, bent).std, Math.abs(0.5 + Math.log(2) - 1.5 - Math.log(2 / 3)) / 2);
});
