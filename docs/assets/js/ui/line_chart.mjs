// Lines over steps, with bands for many seeds and named marks.
import { chart, gridLines, line, pixel, scale, words } from "./chart.mjs";
import { element } from "./element.mjs";

const PAD = { left: 34, right: 16, top: 18, bottom: 34 };

/**
 * A chart { node, draw }. draw({ lines, marks, guesses, cursor, top }) shows lines { style, values, low, high, name, below }
 * whose value t belongs to step t (null: nothing; low and high, if given, are the edges of a band; a name stands at the end of
 * its line, above it or below), marks { at, text }, guesses { value, text } of the last step, and a cursor at one step.
 * `ticks` are on the vertical axis, which ends at `top`; the other ends at `end`, or where the longest line does.
 * `inspect(step)` is called with the step under the pointer.
 */
export function lineChart({ height: low = 210, top: usual, ticks, digits = 2, inspect = () => {} }) {
  let shown = { lines: [], marks: [], guesses: [], cursor: null };
  let top = usual;
  let steps = 1;
  const { node, redraw } = chart(low, paint);
  node.classList.add("grpo-tall");

  function paint(width, height) {
    const x = scale(0, steps, PAD.left, width - PAD.right);
    const y = scale(0, top, height - PAD.bottom, PAD.top);
    const parts = [gridLines(ticks.filter((tick) => tick <= top), y, { left: PAD.left, right: width - PAD.right, digits })];
    for (const step of stepTicks(steps, width)) {
      parts.push(words(x(step), height - PAD.bottom + 15, String(step), { "text-anchor": "middle" }));
    }
    parts.push(words(width / 2, height - 3, "step", { "text-anchor": "middle" }));
    for (const { style, low, high } of shown.lines) {
      if (low) parts.push(element("path", { d: band(low, high, x, y), class: `band ${style}` }));
    }
    for (const { style, values } of shown.lines) parts.push(...line(style, path(values, x, y)));
    for (const { values, name = "", below } of shown.lines) {
      const at = y(values.at(-1) ?? 0) + (below ? 18 : -7);
      parts.push(words(x(values.length - 1), at, name, { "text-anchor": "end", class: "name" }));
    }
    for (const { at, text } of shown.marks) {
      const side = x(at) > width / 2 ? "end" : "start";
      parts.push(vertical(x(at), "mark"), words(x(at) + (side === "end" ? -5 : 5), 12, text, { "text-anchor": side }));
    }
    for (const { value, text } of shown.guesses) {
      const [cx, cy] = [x(steps), y(Math.min(top, value))];
      parts.push(element("circle", { cx: pixel(cx), cy: pixel(cy), r: 7, class: "dot guessed" }), words(cx - 12, cy + 4, text, { "text-anchor": "end", class: "name" }));
    }
    if (shown.cursor !== null) parts.push(vertical(x(shown.cursor), "cursor"));
    return parts;
  }

  const vertical = (at, style) =>
    element("line", { x1: pixel(at), x2: pixel(at), y1: PAD.top, y2: node.clientHeight - PAD.bottom, class: style });

  const point = (event) => {
    const step = scale(PAD.left, node.clientWidth - PAD.right, 0, steps)(event.offsetX);
    inspect(Math.round(Math.min(steps, Math.max(0, step))));
  };
  for (const kind of ["pointermove", "pointerdown"]) node.addEventListener(kind, point); // a finger does not hover

  function draw({ lines, marks = [], guesses = [], cursor = null, top: needed = usual, end = 1 }) {
    shown = { lines, marks, guesses, cursor };
    top = needed;
    steps = Math.max(end, ...lines.map(({ values }) => values.length - 1));
    redraw();
  }
  return { node, draw };
}

/** A value for each step, on straight lines between measurements that are `every` steps apart. */
export const eachStep = (measured, every) => Array.from({ length: every * (measured.length - 1) + 1 }, (_, t) => {
  const i = Math.min(Math.floor(t / every), measured.length - 2);
  return measured[i] + (t / every - i) * (measured[i + 1] - measured[i]);
});

/** Path through the values; a new piece begins after a gap. */
const path = (values, x, y) => values.map((value, t) =>
  value === null ? "" : `${(values[t - 1] ?? null) === null ? "M" : "L"}${pixel(x(t))} ${pixel(y(value))}`).join("");

function band(low, high, x, y) {
  const back = high.map((value, t) => `L${pixel(x(t))} ${pixel(y(value))}`).reverse();
  return `${path(low, x, y)}${back.join("")}Z`;
}

/** Four to eight round numbers of steps; fewer where there is no room. */
function stepTicks(steps, width) {
  const room = Math.min(8, Math.max(2, Math.floor(width / 70)));
  const size = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000].find((each) => steps / each <= room) ?? steps;
  return Array.from({ length: Math.floor(steps / size) + 1 }, (_, i) => i * size);
}
