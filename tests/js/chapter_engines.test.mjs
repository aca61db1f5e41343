// The numbers of the page on two engines, against the softmax written out, the rounding of a Float32Array, and sums by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ENGINES, ratioSource, START } from "../../docs/assets/js/core/ratio_source.mjs";
import { ADVANTAGES, lostShare, parts, push } from "../../docs/assets/js/core/tool_tokens.mjs";

const close = (found, expected, tolerance = 1e-12) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} instead of ${expected}`);

/** Exact steps of 0.1 on the expected reward of action 1, by its small differences. */
function policyAfter(updates) {
  const policy = (logits) => {
    const powers = logits.map(Math.exp);
    return powers.map((power) => power / powers.reduce((total, x) => total + x));
  };
  let logits = START.map(Math.log);
  for (let n = 0; n < updates; n++) {
    const slopes = logits.map((_, j) => {
      const at = (h) => policy(logits.map((x, i) => x + (i === j ? h : 0)))[0];
      return (at(1e-5) - at(-1e-5)) / 2e-5;
    });
    logits = logits.map((x, j) => x + 0.1 * slopes[j]);
  }
  return policy(logits);
}

/** A number with the upper 16 bits of its float32, rounded to the nearest. */
function bfloat16(x) {
  const [bits] = new Uint32Array(new Float32Array([x]).buffer);
  return new Float32Array(new Uint32Array([Math.round(bits / 65536) * 65536]).buffer)[0];
}

test("B12 the three factors make the ratio, and each has one cause", () => {
  for (const age of [0, 3, 8]) for (const updates of [0, 1, 15]) for (const engine of ["same", "bfloat16"]) {
    const { sampler, old, now, factors } = ratioSource({ age, updates, engine });
    [policyAfter(age), old].reduce((wanted, found) => found.forEach((p, a) => close(p, wanted[a], 1e-8)));
    [policyAfter(age + updates), now].reduce((wanted, found) => found.forEach((p, a) => close(p, wanted[a], 1e-8)));
    now.forEach((p, a) => close(factors.engine[a] * factors.age[a] * factors.updates[a], p / sampler[a]));
    if (updates === 0) assert.deepEqual(factors.updates, [1, 1, 1]);
    if (age === 0) assert.deepEqual(factors.age, [1, 1, 1]);
    if (engine === "same") assert.deepEqual(factors.engine, [1, 1, 1]);
  }
});

test("B12 a sampler rounds its logits as bfloat16 does, or leaves out the least likely action", () => {
  const powers = START.map((p) => Math.exp(bfloat16(20 + Math.log(p)) - 20));
  const total = powers.reduce((sum, x) => sum + x);
  ENGINES.bfloat16(START).forEach((p, a) => close(p, powers[a] / total));
  ENGINES.top2(START).forEach((p, a) => close(p, [0.625, 0.375, 0][a]));
});

test("B13 an answer's pushes sum to its share of the loss, with the mask on its own tokens alone", () => {
  for (const tokens of [0, 1, 6, 24]) for (const advantage of ADVANTAGES) for (const masked of [true, false]) {
    const each = push(tokens, advantage, { masked });
    const sum = parts(tokens).reduce((total, part) => total + part.tokens * (part.own ? each.own : each.tool), 0);
    close(sum, advantage / 2);
    close(lostShare(tokens, { masked }), (tokens * each.tool) / sum);
    if (masked) close(each.own, advantage / 26);
  }
});
