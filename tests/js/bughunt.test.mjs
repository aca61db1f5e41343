// "Find the silent bug": what an answer earns, what is kept, and what is shared.
import assert from "node:assert/strict";
import test from "node:test";
import { nextOpen, otherLines, points, shareLine, shownLines, total, validAnswers, verdict } from "../../docs/assets/js/core/bughunt.mjs";
import { KINDS, PIECES } from "../../docs/assets/runs/bughunt.mjs";

const BUG = { id: "a", lines: ["def f(x):", "    y = x", "    return y"], line: 2, other: "    y = -x", kinds: ["sign", "scale"] };
const RIGHT = { ...BUG, id: "b", kinds: [] };
const BOTH = [BUG, RIGHT];

test("a bug earns a point for its line and one for any of its kinds, and a right piece two for saying so", () => {
  const earned = (piece, line, kind = null) => points(piece, { line, kind });
  assert.deepEqual([earned(BUG, 2, "sign"), earned(BUG, 2, "scale"), earned(BUG, 2, "axis")], [2, 2, 1]);
  assert.deepEqual([earned(BUG, 3, "sign"), earned(BUG, 0), points(BUG, undefined)], [0, 0, 0]);
  assert.deepEqual([earned(RIGHT, 0), earned(RIGHT, 2, "sign")], [2, 0]);
  assert.equal(total(BOTH, { a: { line: 2, kind: "axis" }, b: { line: 0, kind: null } }), 3);
});

test("a piece with a bug is shown with its wrong line, another one as it is", () => {
  assert.deepEqual(shownLines(BUG), ["def f(x):", "    y = -x", "    return y"]);
  assert.deepEqual(shownLines(RIGHT), RIGHT.lines);
});

test("a verdict names the kind that was chosen, or else the best one", () => {
  const said = (piece, line, kind) => verdict(piece, { line, kind }, KINDS);
  assert.equal(said(BUG, 2, "scale"), "Right: wrong scale in line 2.");
  assert.equal(said(BUG, 2, "axis"), "The right line, but not the right kind: wrong sign in line 2.");
  assert.equal(said(BUG, 3, "sign"), "The bug is elsewhere: wrong sign in line 2.");
  assert.equal(said(BUG, 0, null), "There is a bug: wrong sign in line 2.");
  assert.equal(said(RIGHT, 0, null), "Right: there is no bug.");
  assert.equal(said(RIGHT, 3, "sign"), "There is no bug. Line 2 only looks odd.");
});

test("what another version or a hand left in the storage is dropped", () => {
  const kept = (stored) => validAnswers(BOTH, stored, KINDS);
  const good = { a: { line: 2, kind: "sign" }, b: { line: 0, kind: null } };
  assert.deepEqual(kept({ ...good, c: { line: 2, kind: "sign" } }), good);
  for (const bad of [null, 3, { line: 1, kind: "sign" }, { line: 4, kind: "sign" }, { line: 2, kind: "toString" }, { line: "2", kind: "sign" }]) {
    assert.deepEqual(kept({ a: bad }), {});
  }
  assert.deepEqual([kept(null), kept([]), kept("x")], [{}, {}, {}]);
});

test("the next open piece comes after this one, then from the start", () => {
  const done = { b: { line: 0, kind: null } };
  assert.equal(nextOpen(BOTH, {}), BUG);
  assert.equal(nextOpen(BOTH, {}, 0), RIGHT);
  assert.equal(nextOpen(BOTH, done, 1), BUG);
  assert.equal(nextOpen(BOTH, { ...done, a: { line: 0, kind: null } }, 0), undefined);
});

test("the line to share gives no answer away", () => {
  const answers = { a: { line: 2, kind: "axis" }, b: { line: 0, kind: null } };
  assert.equal(shareLine(BOTH, answers, "https://example.edu/"), "Find the silent bug: 3 of 4 ◐● https://example.edu/");
});

test("each recorded piece has one other line, and a picture of both", () => {
  for (const piece of PIECES) {
    assert.equal(otherLines(piece).filter((text, i) => text !== piece.lines[i]).length, 1, piece.id);
    const { right, other, names, ticks } = piece.picture;
    assert.equal(right.length, other.length);
    assert.notDeepEqual(right, other);
    if (names) assert.equal(names.length, right.length);
    for (const value of [...right, ...other]) assert.ok(value >= ticks[0] && value <= ticks.at(-1), `${piece.id}: ${value} is off the chart`);
  }
});
