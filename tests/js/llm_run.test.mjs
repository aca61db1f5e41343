// The arithmetic of the recorded run of a pretrained language model: worked out by hand, by laws, and by finite differences.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { framesOf, shownAt } from "../../docs/assets/js/core/llm_film.mjs";
import { RELATIVES, tokenShares } from "../../docs/assets/js/core/token_shares.mjs";
import { RUN } from "../../docs/assets/runs/llm.mjs";

const WAYS = ["sequence", "token", "constant"];
const close = (found, expected, tolerance = 1e-9) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);
const log = (...probabilities) => probabilities.map(Math.log);
// Advantages +1 and -1; ratios 1.5, 1 and 0.5, 1.1
const PAIR = [
  { reward: 1, old: log(0.4, 0.5), now: log(0.6, 0.5) },
  { reward: 0, old: log(0.4, 0.5), now: log(0.2, 0.55) },
];
const shares = ({ rows }) => rows.flatMap(({ tokens }) => tokens.map(({ share }) => share));
const pushes = ({ rows }) => rows.flatMap(({ tokens }) => tokens.map(({ push }) => push));
const all = (found, expected) => found.forEach((x, i) => close(x, expected[i], 1e-7));

test("B08 shares and pushes are those worked out by hand, and the clip lets go on one side", () => {
  const found = tokenShares(PAIR, { averaging: "sequence", relative: RELATIVES.GRPO, limit: 4 });
  all(shares(found), [-1.2 / 4, -1 / 4, 0.8 / 4, 1.1 / 4]);
  all(pushes(found), [0, 1 / 4, 0, -1.1 / 4]);
  close(found.clipFraction, 0.5);
  const free = tokenShares(PAIR, { averaging: "constant", relative: RELATIVES["no clip"], limit: 4 });
  all(shares(free), [-1.5 / 8, -1 / 8, 0.5 / 8, 1.1 / 8]);
  const wider = tokenShares(PAIR, { averaging: "token", relative: RELATIVES.DAPO, limit: 4 });
  all(shares(wider), [-1.28 / 4, -1 / 4, 0.8 / 4, 1.1 / 4]);
});

test("B08 GSPO gives all tokens of a completion the geometric mean of their ratios", () => {
  const { rows } = tokenShares(PAIR, { averaging: "token", relative: RELATIVES.GSPO, limit: 4 });
  rows[0].tokens.forEach(({ ratio }) => close(ratio, Math.sqrt(1.5)));
  rows[1].tokens.forEach(({ ratio }) => close(ratio, Math.sqrt(0.55)));
});

test("B08 a push is minus the gradient of the loss, by finite differences, in the whole recorded run", () => {
  const step = 1e-6;
  let compared = 0;
  for (const [m, { groups }] of RUN.moments.entries()) {
    const group = groups[m % groups.length].map(([, reward, logp]) => ({ reward, old: logp[0], now: [...logp.at(-1)] }));
    for (const [averaging, relative] of WAYS.flatMap((way) => Object.values(RELATIVES).map((each) => [way, each]))) {
      const loss = () => tokenShares(group, { averaging, relative, limit: RUN.limit }).loss;
      const found = tokenShares(group, { averaging, relative, limit: RUN.limit });
      group.forEach(({ now }, i) => now.forEach((logp, t) => {
        now[t] = logp + step;
        const above = loss();
        now[t] = logp - step;
        const gradient = (above - loss()) / (2 * step);
        now[t] = logp;
        const { push, ratio } = found.rows[i].tokens[t];
        close(push, -gradient, 1e-5 * Math.max(1, ratio));
        compared += 1;
      }));
    }
  }
  assert.ok(compared > 1000);
});

test("B08 in the whole run shares sum to the loss, and fresh completions have ratio 1", () => {
  for (const { groups } of RUN.moments) {
    for (const group of groups) {
      const fresh = group.map(([, reward, logp]) => ({ reward, old: logp[0], now: logp[0] }));
      for (const averaging of WAYS) {
        const found = tokenShares(fresh, { averaging, relative: RELATIVES.GRPO, limit: RUN.limit });
        close(found.loss, shares(found).reduce((total, x) => total + x, 0));
        assert.equal(found.clipFraction, 0);
        if (averaging === "sequence") close(found.loss, 0, 1e-7);
        all(pushes(found), shares(found).map((x) => -x));
      }
    }
  }
});

test("B18 at each step the film shows the last record, with the recorded advantages and accuracy", () => {
  const recorded = JSON.parse(readFileSync(new URL("../../docs/assets/runs/llm-sums/run.json", import.meta.url), "utf-8"));
  const last = (records, step) => records.findLast((record) => record.step <= step);
  assert.equal(RUN.batches.length, recorded.config.steps);
  RUN.batches.forEach((reward, step) => close(reward, recorded.mean_reward[step], 1e-4));
  for (let step = 0; step <= recorded.config.steps; step++) {
    const [point, moment, shown] = [last(recorded.points, step), last(recorded.moments, step), shownAt(RUN, step)];
    assert.deepEqual([shown.measured, shown.drawn], [point.step, moment.step]);
    close(shown.accuracy, point.score, 1e-4);
    assert.equal(framesOf(RUN).includes(step), point.step === step || moment.step === step);
    moment.groups.forEach((group, g) => group.forEach((row, i) => {
      close(shown.groups[g].completions[i].advantage, row.advantage, 1e-6);
      assert.equal(shown.groups[g].completions[i].reward, row.reward);
    }));
  }
});
