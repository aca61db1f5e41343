// The mistake finder: numbers as torch prints them, and the known mistakes that give them.
import assert from "node:assert/strict";
import test from "node:test";
import { matches, numbersIn } from "../../docs/assets/js/core/mistake_numbers.mjs";

const DATA = {
  calls: [{
    function: "group_advantages",
    call: "group_advantages(...)",
    right: [1.7321, -0.57735, -0.57735, -0.57735, 1.4142, 0, 0, -1.4142],
    wrong: { "divisor": [1.5, -0.5, -0.5, -0.5, 1.2247, 0, 0, -1.2247], "empty": ["nan", "nan", "nan", "nan", 0, 0, 0, 0] },
  }],
};
const names = (text) => matches(numbersIn(text), DATA).map(({ anchor }) => anchor);

test("a printed tensor is read without its dtype and its graph", () => {
  const text = "tensor([[ 1.5000, -0.5000]], dtype=torch.float64, grad_fn=<DivBackward0>)";
  assert.deepEqual(numbersIn(text).map(({ value }) => value), [1.5, -0.5]);
  assert.deepEqual(numbersIn("[1e-3, −2., nan, -inf]").map(({ value }) => value), [0.001, -2, NaN, -Infinity]);
});

test("a row, a whole answer and rounded digits find the mistake; other numbers find none", () => {
  assert.deepEqual(names("[1.5, -0.5, -0.5, -0.5]"), ["divisor"]);
  assert.deepEqual(names("1.5 -0.5 -0.5 -0.5 1.2247 0 0 -1.2247"), ["divisor"]);
  assert.deepEqual(names("[1.73, -0.58, -0.58, -0.58]"), [""]);
  assert.deepEqual(names("tensor([nan, nan, nan, nan])"), ["empty"]);
  assert.deepEqual(names("[1.6, -0.5, -0.5, -0.5]"), []);
  assert.deepEqual(names("1.5"), []);
});
