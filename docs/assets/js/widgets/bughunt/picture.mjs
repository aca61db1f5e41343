// What a line does, as a picture with its numbers folded below: curves over the steps of a run, advantages, or pairs of bars.
import { hasBug } from "../../core/bughunt.mjs";
import { chart, gridLines, legendItem, pixel, scale, words } from "../../ui/chart.mjs";
import { divergingBars } from "../../ui/diverging_bars.mjs";
import { element } from "../../ui/element.mjs";
import { folded } from "../../ui/folded.mjs";
import { fixed } from "../../ui/format.mjs";
import { lineChart } from "../../ui/line_chart.mjs";
import { table } from "../../ui/table.mjs";

const PAD = { left: 44, right: 6, top: 20, bottom: 24 };
const ROWS = 10; // of the table of a curve

/** The nodes of the picture of a piece. */
export function picture(piece) {
  const { kind, caption, right, other } = piece.picture;
  const names = hasBug(piece) ? ["right line", "with the bug"] : ["as shown", "tempting line"];
  const drawn = { curve, advantages, bars }[kind](piece.picture, names);
  return [element("h3", {}, caption), ...drawn, numbers(piece.picture, names, right, other)];
}

function curve({ ticks, right, other }, names) {
  const top = ticks.at(-1);
  const plot = lineChart({ top, ticks, digits: places(ticks) });
  const [a, b] = [right.at(-1), other.at(-1)];
  const near = Math.abs(a - b) < 0.2 * top;
  plot.draw({ lines: [
    { style: "line-second", values: other, name: names[1], below: near && b <= a },
    { style: "line-first", values: right, name: names[0], below: near && a < b },
  ] });
  return [plot.node];
}

/** Digits after the point that the ticks of an axis need. */
const places = (ticks) => Math.max(...ticks.map((tick) => String(tick).split(".")[1]?.length ?? 0));

function advantages({ ticks, limit, names: called, axis, right, other }, names) {
  const one = (values, name) => {
    const plot = divergingBars({ limit, ticks, digits: 0, name: axis, names: called });
    plot.draw(values);
    return element("div", {}, element("p", { class: "grpo-hunt-name" }, name), plot.node);
  };
  return [element("div", { class: "grpo-pair" }, one(right, names[0]), one(other, names[1]))];
}

function bars({ ticks, names: called, right, other }, names) {
  const plot = chart(220, (width, height) => {
    const y = scale(0, ticks.at(-1), height - PAD.bottom, PAD.top);
    const step = (width - PAD.left - PAD.right) / called.length;
    const bar = (value, middle, style) => {
      const wide = Math.min(44, 0.36 * step);
      return [
        element("rect", { class: style, x: pixel(middle - wide / 2), width: pixel(wide), y: pixel(y(value)), height: pixel(y(0) - y(value)) }),
        words(middle, y(value) - 5, fixed(value), { "text-anchor": "middle", class: "name" }),
      ];
    };
    return [
      gridLines(ticks, y, { left: PAD.left, right: width - PAD.right, digits: places(ticks) }),
      ...called.map((name, i) => {
        const middle = PAD.left + (i + 0.5) * step;
        return [
          ...bar(right[i], middle - Math.min(24, 0.2 * step), "bar"), ...bar(other[i], middle + Math.min(24, 0.2 * step), "bar flat"),
          words(middle, height - 6, name, { "text-anchor": "middle" }),
        ];
      }).flat(),
    ];
  });
  return [element("p", { class: "grpo-legend" }, legendItem("bar", names[0]), legendItem("bar flat", names[1])), plot.node];
}

function numbers({ caption, names: called }, names, right, other) {
  const rows = table({ caption, columns: [called ? "" : "step", ...names] });
  const size = called ? 1 : Math.ceil((right.length - 1) / ROWS);
  rows.fill(right.map((_, i) => i).filter((i) => i % size === 0).map((i) => [called?.[i] ?? String(i), fixed(right[i]), fixed(other[i])]));
  return folded("Numbers", rows.node);
}
