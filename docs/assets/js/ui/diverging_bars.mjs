// Bars above and below a zero line, for numbers with a sign. Shape, side and sign say what the colour says.
import { chart, gridLines, scale, words } from "./chart.mjs";
import { element } from "./element.mjs";
import { signed } from "./format.mjs";
import { mark } from "./mark.mjs";

const PAD = { left: 36, right: 6, top: 16, bottom: 34 };

/**
 * A chart { node, draw }; draw(values) shows one bar for each number, counted from 1
 * or with the `names` of what they are. A mark is at most `widest` pixels wide. The axis reaches from -limit to
 * limit and does not follow the values, so that bars can be compared before and after a change.
 */
export function divergingBars({ height: usual = 200, limit, ticks, digits = 1, name, names: called, widest = 36 }) {
  let values = [];
  const { node, redraw } = chart(usual, paint);
  node.classList.add("grpo-tall");

  function paint(width, height) {
    const y = scale(-limit, limit, height - PAD.bottom, PAD.top);
    const step = (width - PAD.left - PAD.right) / Math.max(1, values.length);
    const bars = values.map((value, i) => bar(value, PAD.left + i * step, step, y));
    const names = values.map((_, i) =>
      words(PAD.left + (i + 0.5) * step, height - PAD.bottom + 16, called?.[i] ?? String(i + 1), { "text-anchor": "middle" }));
    return [
      gridLines(ticks, y, { left: PAD.left, right: width - PAD.right, digits }),
      bars.flat(), names, words(width / 2, height - 3, name, { "text-anchor": "middle" }),
    ];
  }

  /** The bar of a value in the middle of its piece of the axis, and its number beyond the bar's end. */
  function bar(value, left, step, y) {
    const end = Math.min(limit, Math.max(-limit, value));
    const [middle, wide] = [left + step / 2, Math.min((called ? 0.86 : 0.6) * step, widest)];
    return [
      mark({ middle, wide, line: y(0), end: y(end) }),
      words(middle, y(end) + (end > 0 ? -6 : end < 0 ? 16 : -11), signed(value), { "text-anchor": "middle", class: "name" }),
    ];
  }

  function draw(next) {
    values = next;
    redraw();
  }
  return { node, draw };
}
