// The curves of a run, drawn as it happens: the probability of what the task is about, and seven small ones.
import { chart, pixel, scale, words } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, percent } from "../../ui/format.mjs";
import { lineChart } from "../../ui/line_chart.mjs";
import { table } from "../../ui/table.mjs";

/** Field to [short name, name, text of a value, least height of the axis]. */
const SMALL = {
  meanReward: ["reward", "mean reward", (x) => fixed(x, 2), 0.1], zeroSignal: ["no signal", "groups without signal", percent, 1],
  kl: ["KL", "KL from the start", (x) => fixed(x, 2), 0.5], clipFraction: ["clip fraction", "clip fraction", percent, 0.1],
  entropy: ["entropy", "entropy (nats)", (x) => fixed(x, 2), 0.5], length: ["length", "length (letters)", (x) => fixed(x, 1), 8],
  policyLoss: ["policy loss", "policy loss", (x) => fixed(x, 3), 0.1], wellFormed: ["well-formed", "well-formed", percent, 1],
};
const PAD = { left: 4, right: 6, top: 20, bottom: 6 };

/** { main, small, numbers, draw({ run, step, ghost, name }) }; `seek(step)` is called by a press on a curve. */
export function curves(seek) {
  let cursor = null;
  let shown;
  const big = lineChart({ height: 230, top: 1, ticks: [0, 0.25, 0.5, 0.75, 1], inspect: (step) => void (cursor = step) });
  big.node.classList.add("press");
  big.node.addEventListener("click", () => cursor !== null && shown && seek(Math.min(cursor, shown.run.steps)));
  const each = Object.entries(SMALL).map(([field, [name, , text, least]]) => smallChart({ field, name, text, least, seek: (step) => seek(step) }));
  const numbers = table({ caption: "Every step", columns: ["Step", "probability", ...Object.values(SMALL).map(([, name]) => name)] });

  function draw(next) {
    shown = next;
    const { run, step, ghost, name } = next;
    big.draw({
      end: Math.max(run.state.steps, ghost?.steps ?? 1),
      lines: [...(ghost ? [{ style: "line-second", values: ghost.curve("exact") }] : []), { style: "line-first", values: run.curve("exact").slice(0, run.steps + 1), name: run.steps ? `${name}: ${percent(run.curve("exact").at(-1))}` : name }],
      cursor: step < run.steps ? step : null,
    });
    each.forEach((one) => one.draw(next));
  }

  function showNumbers(run) {
    numbers.fill(run.curve("exact").map((exact, step) => [String(step), fixed(exact, 4),
      ...Object.entries(SMALL).map(([field, [, , text]]) => (step ? text(run.records[step - 1][field]) : "–"))]));
  }
  return { main: big.node, small: each.map(({ node }) => node), numbers: numbers.node, draw, showNumbers };
}

function smallChart({ field, name, text, least, seek }) {
  let shown = null;
  const { node, redraw } = chart(84, paint);
  node.classList.add("press");
  node.addEventListener("click", (event) => shown?.run.steps && seek(Math.round(Math.min(shown.run.steps, Math.max(1, place(node.clientWidth).back(event.offsetX))))));

  const place = (width) => {
    const end = Math.max(2, shown.run.state.steps);
    const x = scale(1, end, PAD.left, width - PAD.right);
    return { x, back: scale(PAD.left, width - PAD.right, 1, end) };
  };

  function paint(width, height) {
    if (!shown) return [];
    const { run, step, ghost } = shown;
    const values = run.records.map((record) => record[field]);
    const all = [...values, ...(ghost?.records.map((record) => record[field]) ?? [])];
    const [low, high] = [Math.min(0, ...all), Math.max(least, ...all)];
    const { x } = place(width);
    const y = scale(low, high, height - PAD.bottom, PAD.top);
    const path = (points) => points.map((value, t) => `${t ? "L" : "M"}${pixel(x(t + 1))} ${pixel(y(value))}`).join("");
    return [
      element("line", { x1: PAD.left, x2: width - PAD.right, y1: pixel(y(0)), y2: pixel(y(0)), class: "grid" }),
      ghost ? element("path", { class: "line-second", d: path(ghost.records.map((record) => record[field])) }) : "",
      values.length ? element("path", { class: "line-first", d: path(values) }) : "",
      step ? element("circle", { cx: pixel(x(step)), cy: pixel(y(values[step - 1])), r: 4, class: "point" }) : "",
      words(PAD.left, 12, name, { class: "soft" }),
      words(width - PAD.right, 12, step ? text(values[step - 1]) : "", { class: "name", "text-anchor": "end" }),
    ];
  }
  return { node, draw: (next) => { shown = next; redraw(); } };
}
