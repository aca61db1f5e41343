// The mistake finder: numbers in any notation, and what they show: a right answer, known mistakes, or sets of them.
import assert from "node:assert/strict";
import test from "node:test";
import { hiddenIn, matches, numbersIn } from "../../docs/assets/js/core/mistake_numbers.mjs";

const ENTRY = {
  name: "group_advantages",
  exercise: "advantages",
  mistakes: [["divisor", ""], ["empty", ""], ["sign", ""], ["other", ""]],
  calls: [{
    text: "group_advantages(...)",
    right: [1.7321, -0.57735, -0.57735, -0.57735, 1.4142, 0, 0, -1.4142],
    alone: [[[1.5, -0.5, -0.5, -0.5, 1.2247, 0, 0, -1.2247], [0]], [["nan", "nan", "nan", "nan", 0, 0, 0, 0], [1]]],
    sets: [],
  }, { text: "group_advantages(other)", right: [1, -1, 3], alone: [[[-1, 1, -3], [2, 3]]], sets: [] }],
};
const read = (text) => numbersIn(text).map(({ value }) => value);
const named = (text) => matches(numbersIn(text), [ENTRY]).map(({ right, sets }) => (right ? "right" : String(sets)));

test("numbers are read in the notation of any program", () => {
  for (const [text, values] of [
    ["tensor([[ 1.5000, -0.5000]], dtype=torch.float64, grad_fn=<DivBackward0>)", [1.5, -0.5]],
    ["tensor(2., device='cuda:0', requires_grad=True)", [2]],
    ["array([[ 1.5 -0.5]\n       [ 1e-3 -0. ]], dtype=float32)", [1.5, -0.5, 0.001, -0]],
    ["[1e-3, \u22122., nan, -inf]", [0.001, -2, NaN, -Infinity]],
    ["(np.float64(0.25), np.nan, float('inf'))", [0.25, NaN, Infinity]],
    ["tensor([True, False])", [1, 0]],
    [">>> f(torch.tensor([9.0]))\n-1.2e+03", [-1200]],
    ["Out[3]: tensor([0.5])", [0.5]],
    ["(tensor(-0.0342), {'kl': tensor(0.2)})", [-0.0342]],
    ["0.5\n1\n", [0.5, 1]],
    ["no numbers, see float64 and relu6", []],
  ]) assert.deepEqual(read(text), values, text);
});

test("a row, a whole answer and rounded digits find the mistake; other numbers find none", () => {
  assert.deepEqual(named("[1.5, -0.5, -0.5, -0.5]"), ["0"]);
  assert.deepEqual(named("1.5 -0.5 -0.5 -0.5 1.2247 0 0 -1.2247"), ["0"]);
  assert.deepEqual(named("[1.73, -0.58, -0.58, -0.58]"), ["right"]);
  assert.deepEqual(named("tensor([nan, nan, nan, nan])"), ["1"]);
  assert.deepEqual(named("-1 1 -3"), ["2,3"]);
  assert.deepEqual(named("[1.6, -0.5, -0.5, -0.5]"), []);
  assert.deepEqual(named("1.5"), []);
});

test("of a right answer the finder says which mistakes it cannot rule out, and where they show", () => {
  const [first, second] = ENTRY.calls;
  const hidden = hiddenIn(ENTRY, first, numbersIn(first.right.join(" ")));
  assert.deepEqual(hidden, [{ mistake: 2, teller: second }, { mistake: 3, teller: second }]);
});
