// The policy as bars (S1-P1): probability now, before the last step and at the start, and the reward of each action.
import { chart, gridLines, legendItem, pixel, scale, words } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { folded } from "../../ui/folded.mjs";
import { fixed, signed } from "../../ui/format.mjs";
import { table } from "../../ui/table.mjs";

const HEIGHT = 230;
const PAD = { left: 30, right: 6, top: 8, bottom: 36 };

/** Chart, legend and table { node, draw({ policy, before, start, rewards }) }; all arrays of ten numbers. */
export function policyView() {
  let shown = null;
  const bars = chart(HEIGHT, (width) => (shown ? paint(width, shown) : []));
  const numbers = table({
    caption: "Policy: probability and reward of each action",
    columns: ["action a", "reward R(a)", "π at the start", "π before the step", "π(a) now", "change"],
  });
  const legend = element("p", { class: "grpo-legend" },
    legendItem("bar", "π(a) now"), legendItem("ghost", "before the last step"),
    legendItem("line-reference", "at the start (π_ref)"), legendItem("coin", "reward R(a)"));
  const node = element("section", { "aria-label": "Policy distribution" },
    element("h2", { class: "grpo-title" }, "Policy distribution π(a)"), bars.node, legend,
    folded("Policy as a table", numbers.node));

  function draw(next) {
    shown = next;
    bars.redraw();
    numbers.fill(shown.policy.map((p, a) => [
      String(a + 1), fixed(shown.rewards[a], 2), fixed(shown.start[a], 3), fixed(shown.before[a], 3), fixed(p, 3),
      signed(p - shown.before[a], 3),
    ]));
  }
  return { node, draw };
}

function paint(width, { policy, before, start, rewards }) {
  const y = scale(0, 1, HEIGHT - PAD.bottom, PAD.top);
  const slot = (width - PAD.left - PAD.right) / policy.length;
  const bar = Math.min(44, slot * 0.62);
  const bottom = y(0);
  const parts = [gridLines([0, 0.5, 1], y, { left: PAD.left, right: width - PAD.right })];
  policy.forEach((p, a) => {
    const middle = PAD.left + slot * (a + 0.5);
    const left = pixel(middle - bar / 2);
    const box = (value, style) =>
      element("rect", { x: left, width: pixel(bar), y: pixel(y(value)), height: pixel(bottom - y(value)), class: style });
    parts.push(box(p, "bar"));
    if (Math.abs(before[a] - p) > 5e-4) parts.push(box(before[a], "ghost"));
    parts.push(element("line", { x1: left, x2: left + pixel(bar), y1: pixel(y(start[a])), y2: pixel(y(start[a])), class: "line-reference" }));
    parts.push(element("circle", { cx: pixel(middle), cy: pixel(y(rewards[a])), r: 5, class: "coin" }));
    parts.push(words(middle, bottom + 15, String(a + 1), { "text-anchor": "middle", class: "name" }));
    if (slot > 30) parts.push(words(middle, bottom + 31, fixed(p, 2), { "text-anchor": "middle" }));
  });
  parts.push(words(PAD.left - 6, bottom + 15, "a", { "text-anchor": "end", class: "name" }));
  if (slot > 30) parts.push(words(PAD.left - 6, bottom + 31, "π", { "text-anchor": "end" }));
  return parts;
}
