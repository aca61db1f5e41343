// What all charts share. A chart is an SVG drawn at its real width in pixels, so that text keeps its size on a phone. It
// is hidden from screen readers, which get the same numbers from a table beside it.
import { element } from "./element.mjs";
import { fixed } from "./format.mjs";

/** A chart { node, redraw }; paint(width, height) returns its marks, and is called again when the width changes. */
export function chart(height, paint) {
  const node = element("svg", { height, class: "grpo-chart", "aria-hidden": "true", focusable: "false" });
  node.style.setProperty("--tall", `${height}px`);
  let width, tall; // to ask the node for them would lay out the page at each drawing
  const redraw = () => {
    if (!width) return; // before its first layout, after which it is drawn in any case
    node.setAttribute("viewBox", `0 0 ${width} ${tall}`); // paper is narrower than the screen for which it was drawn
    node.replaceChildren(...paint(width, tall).flat());
  };
  new ResizeObserver(([{ contentRect }]) => {
    width = Math.round(contentRect.width);
    tall = Math.round(contentRect.height); // styles may make it taller
    redraw();
  }).observe(node);
  return { node, redraw };
}

/** Scale from numbers to pixels. */
export const scale = (low, high, from, to) => (x) => from + ((x - low) / (high - low)) * (to - from);

/** Coordinates need no more than a tenth of a pixel. */
export const pixel = (x) => Math.round(10 * x) / 10;

const strokes = (style) => (style === "line-reward" ? ["outline", style] : [style]); // gold gets an outline of ink

/** A line along a path, as nodes. */
export const line = (style, d) => strokes(style).map((each) => element("path", { d, class: each }));

/** Words in a chart. */
export const words = (x, y, text, properties = {}) => element("text", { x: pixel(x), y: pixel(y), ...properties }, text);

/** Horizontal lines with numbers at the left edge, at the ticks of the vertical axis. */
export function gridLines(ticks, y, { left, right, digits = 1 }) {
  return ticks.map((tick) =>
    element("g", {},
      element("line", { x1: left, x2: right, y1: pixel(y(tick)), y2: pixel(y(tick)), class: tick === 0 ? "axis" : "grid" }),
      words(left - 6, y(tick) + 4, fixed(tick, digits), { "text-anchor": "end" })));
}

/** A sample of a mark with its name, for the legend beside a chart. */
export const legendItem = (style, name) =>
  element("span", { class: "grpo-legend-item" },
    element("svg", { width: 28, height: 12, class: "grpo-chart", "aria-hidden": "true", focusable: "false" }, sample(style)),
    name);

function sample(style) {
  if (style === "dot" || style === "coin") return element("circle", { cx: 14, cy: 6, r: 4.5, class: style });
  if (style.startsWith("line")) return strokes(style).map((each) => element("line", { x1: 0, x2: 28, y1: 6, y2: 6, class: each }));
  return element("rect", { x: 4, y: 1, width: 20, height: 10, rx: 3, class: style });
}
