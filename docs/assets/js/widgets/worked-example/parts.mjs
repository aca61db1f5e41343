// The three parts of the worked example's picture: the group, the probabilities of one token, and what becomes its loss.
import { gridLines, pixel, scale, words } from "../../ui/chart.mjs";
import { eight, meanLine } from "../../ui/eight.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, signed } from "../../ui/format.mjs";
import { mark } from "../../ui/mark.mjs";

const TAB = 84; // room for the tab of the mean
const LABEL = 20; // above a mark and below it
const AXIS = 26; // room for the numbers of an axis

/** The title of a part, and what comes of it. */
const heading = (name, value, { left, top, width }) => [
  words(left, top + 14, name, { class: "name title" }),
  words(left + width, top + 14, value, { class: "name", "text-anchor": "end" }),
];

/** The eight on their mean, of which one is looked at: { draw }, which returns the marks. */
export function group(count) {
  const blocks = eight(count);
  const mean = meanLine(TAB);
  const draw = ({ width, height, rewards, found, chosen }) => {
    const column = Math.max(1, (width - TAB) / count);
    const s = Math.max(1, Math.min(34, 0.94 * column - 1));
    const y = scale(0, 1, height - s - 28, s + 50);
    const line = y(found.mean);
    rewards.forEach((reward, i) => {
      const advantage = found.advantages[i];
      blocks.place(i, { x: (i + 0.5) * column, y: y(reward) - (Math.sign(advantage) * s) / 2, s, line, name: i + 1,
        advantage, tone: 1, reward, coined: 1, number: "", numbered: 0, alpha: 1 });
    });
    mean.draw({ left: 0, right: width, y: line, words: `mean ${fixed(found.mean, 3)}`, alpha: 1, at: width - TAB });
    return [
      heading("1. Score the group", `A = ${signed(found.advantages[chosen], 4)}`, { left: 0, top: 0, width }),
      element("rect", { class: "pale", x: pixel(chosen * column), y: 26, width: pixel(column), height: height - 26, rx: 9 }),
      mean.node, blocks.node,
    ].flat();
  };
  return { draw };
}

/** The token under each policy, as rows [name, probability, style, whether it is known], with the band of the clip. */
export function probabilities({ left, top, width, row: high, rows, ratio, band }) {
  const x = scale(0, 1, left + 52, left + Math.max(100, width - 44));
  const first = top + 36;
  const [low, most] = (band ?? []).map((end) => pixel(x(end)));
  return [
    heading("2. Compare its token", ratio === null ? "" : `ρ = ${fixed(ratio, 4)}`, { left, top, width }),
    band ? element("rect", { class: "pale", x: low, y: first - 6, width: pixel(most - low), height: high + 34, rx: 5 }) : [],
    band ? words(most + 24, first + 16, `clip: ${band.map((end) => fixed(end)).join(" to ")}`, { class: "soft" }) : [],
    rows.map(([name, p, style, known], row) => {
      const y = first + row * high;
      return [
        words(left, y + 16, name, { class: known ? "name" : "soft" }),
        element("line", { class: "axis", x1: x(0), x2: x(0), y1: y, y2: y + 22 }),
        known ? element("rect", { class: style, x: pixel(x(0)), y: y + 1, width: pixel(x(p) - x(0)), height: 20 }) : [],
        known ? words(x(p) + 7, y + 16, fixed(p), { class: "name" }) : words(x(0) + 8, y + 16, "?", { class: "soft" }),
      ].flat();
    }),
  ].flat(2);
}

/**
 * What becomes the loss as marks { name, value, known, pushes, cut } on one line, each made of those before it: a push has
 * the shape of an advantage, and `cut` is where it would end without the clip. The line's axis has the `limits`.
 */
export function sum({ top, width, height, marks, limits: [low, high] }) {
  const y = scale(low, high, height - 2 * LABEL - 4, top + 30 + LABEL);
  const column = (width - AXIS) / marks.length;
  const wide = Math.min(64, 0.66 * column);
  const ticks = Array.from({ length: 9 }, (_, i) => i - 4).filter((tick) => tick >= low && tick <= high);
  const middle = { "text-anchor": "middle" };
  return [
    heading("3. to 5. Clip, drift, loss", "", { left: 0, top, width }),
    gridLines(ticks, y, { left: AXIS, right: width, digits: 0 }),
    element("line", { class: "mean", x1: AXIS, x2: width, y1: pixel(y(0)), y2: pixel(y(0)) }),
    marks.map(({ name, value, known, pushes, cut }, i) => {
      const shape = { middle: AXIS + (i + 0.5) * column, wide, line: y(0), end: y(value) };
      const below = words(shape.middle, height - 4, name, { ...middle, class: known ? "name" : "soft" });
      if (!known) return [below, words(shape.middle, y(0) - 8, "?", { ...middle, class: "soft" })];
      const downward = value < 0 !== Boolean(cut); // beside an outline, the number is on the other side of the line
      const at = cut ? y(0) : value < 0 ? shape.end : Math.min(shape.end, y(0) - 3);
      return [
        cut ? outline({ ...shape, end: y(cut) }) : [], pushes ? mark(shape) : plain(shape, name),
        words(shape.middle, downward ? at + 16 : at - 6, signed(value, 4), { ...middle, class: "name" }), below,
      ].flat();
    }),
  ].flat(2);
}

/** What the clip takes away: where the mark would end without it. */
function outline(shape) {
  const node = mark(shape);
  node.setAttribute("class", "ghost");
  return node;
}

/** Penalty and loss push nothing, so they have square ends; as small as it is, a penalty is there. */
function plain({ middle, wide, line, end }, name) {
  const high = Math.max(2, Math.abs(end - line));
  return element("rect", { class: name === "loss" ? "bar" : "reference", x: pixel(middle - wide / 2),
    y: pixel(end < line ? line - high : line), width: pixel(wide), height: pixel(high) });
}
