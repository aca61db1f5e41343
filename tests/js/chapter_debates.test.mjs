// The numbers of the page on what is argued about, against every group that can be drawn and against limits in closed form.
import assert from "node:assert/strict";
import { test } from "node:test";

import { entropyRun, STARTS } from "../../docs/assets/js/core/clip_entropy.mjs";
import { groupAdvantages } from "../../docs/assets/js/core/grpo.mjs";
import { passAtK, PROBLEMS, shares } from "../../docs/assets/js/core/pass_at_k.mjs";
import { promptWeight } from "../../docs/assets/js/core/prompt_weight.mjs";

const close = (found, expected, tolerance = 1e-7) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);

/** Every list of this length of the items. */
const lists = (items, length) =>
  length === 0 ? [[]] : lists(items, length - 1).flatMap((list) => items.map((item) => [...list, item]));

test("B14 a step is the mean gradient over every group of ways and answers", () => {
  for (const groupSize of [2, 3]) {
    const { 0: share, 1: next } = shares({ steps: 1, klCoef: 0, groupSize });
    let gradient = 0;
    for (const { share: part, chances } of PROBLEMS) {
      const samples = [0, 1].flatMap((way) => [0, 1].map((reward) => ({
        reward,
        probability: (way === 0 ? share : 1 - share) * (reward ? chances[way] : 1 - chances[way]),
        score: (way === 0 ? 1 : 0) - share,
      })));
      for (const group of lists(samples, groupSize)) {
        const probability = group.reduce((product, sample) => product * sample.probability, 1);
        const { advantages } = groupAdvantages(group.map(({ reward }) => reward), { divideByStd: true });
        gradient += part * probability * group.reduce((sum, { score }, i) => sum + advantages[i] * score, 0) / groupSize;
      }
    }
    close(next, 1 / (1 + Math.exp(-0.5 * gradient)));
  }
});

test("B14 a KL weight holds the way back, and pass@k is the chance of a hit", () => {
  const ends = [0, 0.1, 0.5].map((klCoef) => shares({ steps: 200, klCoef }).at(-1));
  assert.ok(ends[0] > ends[1] && ends[1] > ends[2] && ends[2] > 0.5);
  close(passAtK(0.5, 1), 0.6 * 0.3 + 0.2 * 0.1);
  close(passAtK(0.5, 2), 0.6 * (1 - 0.7 * 0.7) + 0.2 * (1 - 0.9 * 0.9));
  close(passAtK(1, 1e6), 0.6); // the second way is gone
});

test("B15 a weight is the mean over all groups, and goes to its limit", () => {
  for (const p of [0.1, 0.5, 0.8]) for (const [name, scale] of Object.entries({
    "Dr. GRPO": () => 1,
    GRPO: (rewards, mean) => Math.sqrt(rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / rewards.length),
    MaxRL: (rewards, mean) => mean,
  })) {
    let expected = 0;
    for (const rewards of lists([0, 1], 4)) {
      const mean = rewards.reduce((sum, r) => sum + r, 0) / 4;
      if (mean === 0 || (mean === 1)) continue; // no signal
      const probability = rewards.reduce((product, r) => product * (r ? p : 1 - p), 1);
      const slope = rewards.reduce((sum, r) => sum + ((r - mean) / scale(rewards, mean)) * (r ? 1 / p : -1 / (1 - p)), 0);
      expected += (probability * slope) / 4;
    }
    close(promptWeight(name, p, 4), expected);
  }
  for (const p of [0.2, 0.5, 0.9]) {
    close(promptWeight("GRPO", p, 512), 1 / Math.sqrt(p * (1 - p)), 2e-2);
    close(promptWeight("MaxRL", p, 512), 1 / p, 2e-2);
    close(promptWeight("GRPO", p, 2), 1);
  }
});

test("B16 a run begins at its start and depends on its seed and its upper clip", () => {
  for (const [name, { rewardTable: rewards, startLogits }] of Object.entries(STARTS)) {
    const powers = startLogits.map(Math.exp);
    const total = powers.reduce((sum, x) => sum + x);
    const first = entropyRun(name, 0.2, { steps: 3, seed: 5 });
    close(first.reward[0], powers.reduce((sum, x, a) => sum + (x / total) * rewards[a], 0));
    close(first.entropy[0], powers.reduce((sum, x) => sum - (x / total) * Math.log(x / total), 0));
    assert.deepEqual(entropyRun(name, 0.2, { steps: 2, seed: 5 }).entropy, first.entropy.slice(0, 3));
    assert.notDeepEqual(entropyRun(name, 0.2, { steps: 3, seed: 6 }).entropy, first.entropy);
    assert.notDeepEqual(entropyRun(name, 0.5, { steps: 20, seed: 5 }).entropy, entropyRun(name, 0.2, { steps: 20, seed: 5 }).entropy);
  }
});
