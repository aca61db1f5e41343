// Bars above and below a zero line, for numbers with a sign. Sign and direction say what the color says.
import { chart, gridLines, pixel, scale, words } from "./chart.mjs";
import { element } from "./element.mjs";
import { signed } from "./format.mjs";

const PAD = { left: 36, right: 6, top: 16, bottom: 34 };

/**
 * A chart { node, draw }; draw(values) shows one bar for each number, counted from 1. The axis reaches from -limit to
 * limit and does not follow the values, so that bars can be compared before and after a change.
 */
export function divergingBars({ height = 200, limit, ticks, digits = 1, name }) {
  let values = [];
  const { node, redraw } = chart(height, paint);

  function paint(width) {
    const y = scale(-limit, limit, height - PAD.bottom, PAD.top);
    const step = (width - PAD.left - PAD.right) / Math.max(1, values.length);
    const bars = values.map((value, i) => bar(value, PAD.left + i * step, Math.min(step, 90), step, y));
    const names = values.map((_, i) =>
      words(PAD.left + (i + 0.5) * step, height - PAD.bottom + 16, String(i + 1), { "text-anchor": "middle" }));
    return [
      gridLines(ticks, y, { left: PAD.left, right: width - PAD.right, digits }),
      bars.flat(), names, words(width / 2, height - 3, name, { "text-anchor": "middle" }),
    ];
  }

  /** The bar of a value in the middle of its piece of the axis, and its number beyond the bar's end. */
  function bar(value, left, widest, step, y) {
    const end = Math.min(limit, Math.max(-limit, value));
    const up = end >= 0;
    return [
      element("rect", {
        x: pixel(left + step / 2 - 0.3 * widest), width: pixel(0.6 * widest),
        y: pixel(Math.min(y(0), y(end))), height: pixel(Math.abs(y(end) - y(0))), class: up ? "bar" : "bar down",
      }),
      words(left + step / 2, y(end) + (up ? -4 : 14), signed(value), { "text-anchor": "middle", class: "name" }),
    ];
  }

  function draw(next) {
    values = next;
    redraw();
  }
  return { node, draw };
}
