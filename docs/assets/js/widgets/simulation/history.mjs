// The run so far as curves (S1-P2). Probabilities and rewards share one panel; entropy and KL, in nats, have their own.
import { legendItem } from "../../ui/chart.mjs";
import { slider } from "../../ui/controls.mjs";
import { element } from "../../ui/element.mjs";
import { fixed } from "../../ui/format.mjs";
import { lineChart } from "../../ui/line_chart.mjs";
import { table } from "../../ui/table.mjs";

const CURVES = [
  { name: "best", text: (best) => `π(${best})`, style: "line-blue", panel: 0 },
  { name: "maxProbability", text: () => "max π", style: "line-purple", panel: 0 },
  { name: "meanReward", text: () => "mean reward of the group", style: "line-green", panel: 0 },
  { name: "entropy", text: () => "entropy H", style: "line-blue", panel: 1 },
  { name: "kl", text: () => "KL from the start", style: "line-grey", panel: 1 },
];

/**
 * Charts, legend, step reader and table { node, draw(history, best), half() }. Row t of the history belongs to the state
 * after step t, and to the group of step t where there is one (null in row 0); best is the best action, counted from 1.
 */
export function historyView() {
  let shown = null;
  let cursor = null;
  const hidden = new Set();
  const inspect = (step) => {
    cursor = step;
    paint();
  };
  const probabilities = lineChart({ top: 1, ticks: [0, 0.25, 0.5, 0.75, 1], inspect });
  const nats = lineChart({ height: 150, top: 2.4, ticks: [0, 1, 2], digits: 0, inspect });
  const charts = [probabilities, nats];
  const legends = charts.map(() => element("p", { class: "grpo-legend" }));
  const readout = element("p", { class: "grpo-readout" });
  const reader = slider({ label: "Read step", values: [0], value: 0, change: inspect });
  const numbers = table({ caption: "Training history, one row per step", columns: ["step", "π(best)", "max π", "mean reward", "entropy", "KL", "clip fraction"] });
  const details = element("details", { class: "grpo-details", ontoggle: fill }, element("summary", {}, "History as a table"), numbers.node);
  const node = element("section", { "aria-label": "Training history" },
    element("h2", { class: "grpo-title" }, "Training history"), legends[0], probabilities.node, legends[1], nats.node,
    reader.node, readout, details);

  function legend(best) {
    legends.forEach((place, panel) => place.replaceChildren(...CURVES.filter((curve) => curve.panel === panel).map((curve) => {
      const box = element("input", { type: "checkbox", onchange: () => {
        if (box.checked) hidden.delete(curve.name);
        else hidden.add(curve.name);
        paint();
      } });
      box.checked = !hidden.has(curve.name);
      return element("label", { class: "grpo-option" }, box, legendItem(curve.style, curve.text(best)));
    })));
  }

  function paint() {
    const { history, best, half } = shown;
    const tops = [1, Math.max(2.4, Math.ceil(Math.max(...history.kl)))]; // a biased start can go further than ln 10
    charts.forEach((chart, panel) => chart.draw({
      top: tops[panel],
      lines: CURVES.filter((curve) => curve.panel === panel && !hidden.has(curve.name))
        .map((curve) => ({ style: curve.style, values: history[curve.name] })),
      marks: panel === 0 && half !== null ? [{ at: half, text: `step ${half}: π(${best}) > 0.5` }] : [],
      cursor,
    }));
    const at = Math.min(cursor ?? history.steps, history.steps);
    const said = CURVES.map((curve) => `${curve.text(best)} ${fixed(history[curve.name][at], 3)}`);
    readout.textContent = `After step ${at}: ${said.join(", ")}`;
  }

  /** Draws the run; the reader of single steps starts at its end. */
  function draw(history, best) {
    const first = history.best.findIndex((p) => p > 0.5);
    if (shown?.best !== best || !shown) legend(best);
    shown = { history, best, half: first < 0 ? null : first };
    cursor = null;
    const steps = Array.from({ length: history.steps + 1 }, (_, t) => t);
    reader.offer(steps, history.steps);
    reader.node.hidden = history.steps === 0;
    paint();
    fill();
  }

  function fill() {
    if (!details.open || !shown) return; // a table of 2000 rows is made only for those who look at it
    const { history } = shown;
    numbers.fill(history.best.map((_, t) => [String(t), ...["best", "maxProbability"].map((name) => fixed(history[name][t], 3)),
      ...["meanReward", "entropy", "kl", "clipFraction"].map((name) => fixed(history[name][t], 3))]));
  }
  return { node, draw, half: () => shown?.half ?? null };
}
