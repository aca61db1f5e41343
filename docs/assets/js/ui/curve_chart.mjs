// Curves over an axis of numbers, with dots, named marks and the bars of a histogram. For steps of a run: line_chart.mjs.
import { chart, gridLines, line, pixel, scale, words } from "./chart.mjs";
import { element } from "./element.mjs";
import { fixed } from "./format.mjs";
import { draggable } from "./pointed.mjs";

const PAD = { left: 44, right: 12, top: 26, bottom: 34 };

/**
 * A chart { node, draw }. Axes x and y are { low, high, ticks, digits, name }; x may have show(tick), the text of a tick. draw
 * shows curves { style, points: [[x, y], ...] } (a null between points begins a new piece), dots { x, y, text, below },
 * marks { at, text } across the x axis, bars { from, to, y, style } that stand on y = 0, and guesses { x, y, text } beside the
 * first dot; what lies beyond an axis is drawn at its end. It may change the axes. With a `hand` (explorable.mjs) the dots are handles that a pointer drags along the
 * x axis.
 */
export function curveChart({ height: usual = 220, x: usualX, y: usualY, hand }) {
  let shown = {};
  let valueAt;
  const { node, redraw } = chart(usual, paint);
  node.classList.add("grpo-tall");
  if (hand) {
    node.classList.add("grpo-drags");
    draggable(node, { hold: () => true, move: ({ x }) => hand.to(valueAt(x)), end: hand.end });
  }

  function paint(width, height) {
    const { x: axisX, y: axisY, curves, dots, marks, bars, guesses } = { curves: [], dots: [], marks: [], bars: [], guesses: [], ...shown };
    const [left, right, top, bottom] = [PAD.left, width - PAD.right, PAD.top, height - PAD.bottom];
    const x = within(axisX, left, right);
    const y = within(axisY, bottom, top);
    valueAt = scale(left, right, axisX.low, axisX.high);
    const side = (at) => (x(at) > width / 2 ? { anchor: "end", shift: -6 } : { anchor: "start", shift: 6 });
    const label = (at, level, text) =>
      words(x(at) + side(at).shift, level, text, { "text-anchor": side(at).anchor, class: "name" });
    const under = ({ y: value, below }) => (below || y(value) < top + 12 ? y(value) + 22 : y(value) - 11); // not onto the axis's name
    const taken = dots.map(under);
    const free = (level) => {
      while (taken.some((other) => Math.abs(other - level) < 15)) level += 4;
      taken.push(level);
      return level;
    };
    return [
      gridLines(axisY.ticks, y, { left, right, digits: axisY.digits ?? 1 }),
      axisX.ticks.map((tick) => words(x(tick), bottom + 15, axisX.show?.(tick) ?? fixed(tick, axisX.digits ?? 1), { "text-anchor": "middle" })),
      words((left + right) / 2, height - 3, axisX.name ?? "", { "text-anchor": "middle" }),
      words(2, 11, axisY.name ?? ""),
      bars.map(({ from, to, y: value, style = "bar" }) => element("rect", {
        x: pixel(x(from)), width: pixel(Math.max(0, x(to) - x(from) - 1)),
        y: pixel(Math.min(y(0), y(value))), height: pixel(Math.abs(y(value) - y(0))), class: style,
      })),
      marks.map(({ at, text }) => [
        element("line", { x1: pixel(x(at)), x2: pixel(x(at)), y1: top, y2: bottom, class: "mark" }),
        label(at, axisY.high > 0 ? top + 10 : bottom - 6, text), // not onto the axis at 0
      ]).flat(),
      curves.flatMap(({ style, points }) => line(style, path(points, x, y))),
      dots.map(({ x: at, y: value, text = "", below }) => [
        element("circle", { cx: pixel(x(at)), cy: pixel(y(value)), r: 7, class: "dot handle" }),
        label(at, under({ y: value, below }), text),
      ]).flat(),
      guesses.flatMap(({ x: at, y: value, text }) => [
        element("line", { x1: pixel(x(at)), x2: pixel(x(at)), y1: pixel(y(value)), y2: pixel(y(dots[0].y)), class: "mark" }),
        element("circle", { cx: pixel(x(at)), cy: pixel(y(value)), r: 7, class: "dot guessed" }),
        words(x(at) + 2 * side(at).shift, free(Math.min(bottom - 4, y(value) + 4)), text, { "text-anchor": side(at).anchor, class: "name" }),
      ]),
    ];
  }

  function draw(next) {
    shown = { x: usualX, y: usualY, ...next };
    redraw();
  }
  return { node, draw };
}

/** Scale of an axis that keeps everything between its ends. */
function within({ low, high }, from, to) {
  const place = scale(low, high, from, to);
  return (value) => place(Math.min(high, Math.max(low, value)));
}

const path = (points, x, y) => points.map((point, i) =>
  point === null ? "" : `${i && points[i - 1] ? "L" : "M"}${pixel(x(point[0]))} ${pixel(y(point[1]))}`).join("");
