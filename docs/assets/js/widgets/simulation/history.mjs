// The run so far as curves (S1-P2). Probabilities and rewards share one panel; entropy and KL, in nats, have their own.
import { legendItem } from "../../ui/chart.mjs";
import { slider } from "../../ui/controls.mjs";
import { element } from "../../ui/element.mjs";
import { fixed } from "../../ui/format.mjs";
import { lineChart } from "../../ui/line_chart.mjs";
import { table } from "../../ui/table.mjs";

const CURVES = [
  { name: "best", text: (best) => `π(${best})`, style: "line-first", panel: 0 },
  { name: "maxProbability", text: () => "max π", style: "line-second", panel: 0 },
  { name: "meanReward", text: () => "mean reward of the group", style: "line-reward", panel: 0 },
  { name: "entropy", text: () => "entropy H", style: "line-first", panel: 1 },
  { name: "kl", text: () => "KL from the start", style: "line-reference", panel: 1 },
];
const COLUMNS = { best: "π(best)", maxProbability: "max π", meanReward: "mean reward", entropy: "entropy", kl: "KL", clipFraction: "clip fraction" };

/** Charts, legends, step reader and table { node, draw(run) }, for a Run of run.mjs. */
export function historyView() {
  let run = null;
  let best = null; // counted from 1
  let cursor = null;
  const hidden = new Set();
  const inspect = (step) => {
    cursor = step;
    reader.set(step);
    paint();
  };
  const charts = [
    lineChart({ top: 1, ticks: [0, 0.25, 0.5, 0.75, 1], inspect }),
    lineChart({ height: 150, top: 2.4, ticks: [0, 1, 2], digits: 0, inspect }),
  ];
  const legends = charts.map(() => element("p", { class: "grpo-legend" }));
  const reader = slider({ label: "Read step", values: [0], value: 0, change: inspect });
  const readout = element("p", { class: "grpo-readout" });
  const numbers = table({ caption: "Training history, one row per step", columns: ["step", ...Object.values(COLUMNS)] });
  const details = element("details", { class: "grpo-details", ontoggle: () => fill() }, element("summary", {}, "History as a table"), numbers.node);
  const node = element("section", { "aria-label": "Training history" },
    element("h2", { class: "grpo-title" }, "Training history"),
    charts.map((chart, panel) => [legends[panel], chart.node]).flat(), reader.node, readout, details);

  /** Draws the run; the reader of single steps starts at its end. */
  function draw(next) {
    run = next;
    cursor = null;
    if (best !== run.best + 1) {
      best = run.best + 1;
      legends.forEach((place, panel) => place.replaceChildren(...legend(panel, best, hidden, paint)));
    }
    reader.offer(run.curves.best.map((_, t) => t), run.steps);
    reader.node.hidden = run.steps === 0;
    paint();
    fill();
  }

  function paint() {
    const { curves, half } = run;
    const tops = [1, Math.max(2.4, Math.ceil(Math.max(...curves.kl)))]; // a biased start can go further than ln 10
    const marks = half === null ? [] : [{ at: half, text: `step ${half}: π(${best}) > 0.5` }];
    charts.forEach((chart, panel) => chart.draw({
      top: tops[panel],
      lines: CURVES.filter((curve) => curve.panel === panel && !hidden.has(curve.name))
        .map(({ style, name }) => ({ style, values: curves[name] })),
      marks: panel === 0 ? marks : [],
      cursor,
    }));
    const at = cursor ?? run.steps;
    readout.textContent = `After step ${at}: ${CURVES.map(({ text, name }) => `${text(best)} ${fixed(curves[name][at], 3)}`).join(", ")}`;
  }

  function fill() {
    if (!details.open || !run) return; // a table of 2000 rows is made only for those who look at it
    numbers.fill(run.curves.best.map((_, t) => [String(t), ...Object.keys(COLUMNS).map((name) => fixed(run.curves[name][t], 3))]));
  }
  return { node, draw };
}

/** Boxes that show and hide the curves of a panel. */
function legend(panel, best, hidden, paint) {
  return CURVES.filter((curve) => curve.panel === panel).map(({ name, style, text }) => {
    const box = element("input", { type: "checkbox", onchange: () => {
      if (box.checked) hidden.delete(name);
      else hidden.add(name);
      paint();
    } });
    box.checked = !hidden.has(name);
    return element("label", { class: "grpo-option" }, box, legendItem(style, text(best)));
  });
}
