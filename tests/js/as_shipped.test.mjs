// The comparison of two libraries' gradients, against the numbers that Python wrote into the record.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { compare, matching, pushes } from "../../docs/assets/js/core/as_shipped.mjs";
import { RUNS } from "../../docs/assets/runs/as-shipped.mjs";

const record = JSON.parse(readFileSync(new URL("../../docs/assets/runs/as-shipped.json", import.meta.url), "utf8"));
const named = Object.fromEntries(RUNS.map((run) => [run.name, run]));

test("B17 length and cosine are those of the record", () => {
  for (const library of record.libraries.filter(({ shipped }) => shipped.loss !== undefined)) {
    for (const [text, setting] of [["", "shipped"], [", closest", "equation_3"]]) {
      const { length, cosine } = compare(RUNS[0], named[library.name + text]);
      assert.ok(Math.abs(length - library[setting].length) < 2e-3, library.name);
      assert.ok(Math.abs(cosine - library[setting].cosine) < 1e-3, library.name);
    }
  }
});

test("B17 verl and TRL differ at the one bad token that became far more probable", () => {
  const [trl, verl] = [named.TRL, named.verl].map((run) => pushes(run).flat());
  const differ = trl.flatMap((x, i) => (Math.abs(x - verl[i]) > 1e-3 ? [i] : []));
  assert.deepEqual(differ, [9]); // the seventh token of A2, after three of A1
});

test("B17 a formula is found by its parts", () => {
  const facets = named.TRL.facets;
  assert.deepEqual(matching(RUNS, facets), ["TRL", "Unsloth"]);
  assert.equal(matching(RUNS, ["any", "any", "any", "any"]).length, RUNS.length);
  assert.deepEqual(matching(RUNS, ["any", "any", "k1 in the loss", "any"]), ["Tunix"]);
});
