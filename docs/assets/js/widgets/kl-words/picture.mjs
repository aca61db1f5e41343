// The parts of <grpo-kl-words>'s picture.
import { pixel, scale, words } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, percent, signed } from "../../ui/format.mjs";

export const NUMBER = 48; // pixels that a number beside a bar takes

/** What each word adds to a divergence, right and left of zero, the sum and guesses of it; `range` is what the widths are for. */
export function column({ name, parts, sum, guesses, range, left, wide, top, row }) {
  const x = scale(...range, left + NUMBER, left + Math.max(NUMBER, wide));
  const bar = (value, y, style) => [
    element("rect", { x: pixel(Math.min(x(0), x(value))), y: pixel(y - 8), width: pixel(Math.abs(x(value) - x(0))), height: 16, class: style }),
    words(x(0) + (value < 0 ? 6 : -6), y + 5, style === "sum" ? fixed(value, 3) : signed(value, 3), // where the bar is not
      { "text-anchor": value < 0 ? "start" : "end", class: style === "sum" ? "name title" : "name" }),
  ];
  const end = top + row * parts.length;
  return [
    words(left, top - 27, "adds to", { class: "soft" }),
    words(left, top - 10, name, { class: "name" }),
    parts.map((part, i) => bar(part, top + (i + 0.5) * row, part < 0 ? "less" : "more")).flat(),
    element("line", { x1: left, x2: pixel(left + wide), y1: end + 2, y2: end + 2, class: "axis" }),
    bar(sum, end + 24, "sum"),
    guesses.flatMap(({ value, name: who }, i) => [
      element("line", { x1: pixel(x(value)), x2: pixel(x(value)), y1: end + 10, y2: end + 40, class: "guessed" }),
      words(x(value), end + 50 + 15 * i, who, { class: "name", "text-anchor": "middle" }),
    ]),
    element("line", { x1: pixel(x(0)), x2: pixel(x(0)), y1: top, y2: end + 36, class: "axis" }),
  ].flat();
}

/** The policy's bar with its handle over that of the reference. */
export function pair(word, { now, ref, x, y }) {
  return [
    words(0, y + 19, word, { class: "name" }),
    element("rect", { x: x(0), y: y + 19, width: pixel(x(ref) - x(0)), height: 12, rx: 3, class: "reference" }),
    words(x(ref) + 6, y + 30, percent(ref), { class: "soft" }),
    element("rect", { x: x(0), y: y + 4, width: pixel(x(now) - x(0)), height: 14, rx: 3, class: "bar" }),
    element("circle", { cx: pixel(x(now)), cy: y + 11, r: 8, class: "dot handle" }),
    words(x(now) + 14, y + 16, percent(now), { class: "name" }),
  ];
}

/** A sample of a bar with its name. */
export const key = (x, y, style, name) => [
  element("rect", { x, y, width: 20, height: 11, rx: 3, class: style }),
  words(x + 27, y + 11, name, { class: "soft" }),
];
