// The run so far as curves (S1-P2). Probabilities and rewards share one panel; entropy and KL, in nats, have their own.
import { legendItem } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { fixed } from "../../ui/format.mjs";
import { lineChart } from "../../ui/line_chart.mjs";

const CURVES = [
  { name: "best", text: (best) => `π(${best})`, style: "line-first", panel: 0 },
  { name: "maxProbability", text: () => "max π", style: "line-second", panel: 0 },
  { name: "meanReward", text: () => "mean reward of the group", style: "line-reward", panel: 0 },
  { name: "entropy", text: () => "entropy H", style: "line-first", panel: 1 },
  { name: "kl", text: () => "KL from the start", style: "line-reference", panel: 1 },
];

/**
 * Charts, legends and readout { node, draw({ run, step, ghost }) }, for a Run of run.mjs of which `step` steps are seen.
 * Under a pointer the readout is that of another step; `seek(step)` goes there.
 */
export function historyView(seek) {
  let shown = null;
  let best = null; // counted from 1
  let cursor = null;
  const hidden = new Set();
  const inspect = (step) => {
    cursor = Math.min(step, shown.step);
    paint();
  };
  const charts = [
    lineChart({ top: 1, ticks: [0, 0.25, 0.5, 0.75, 1], inspect }),
    lineChart({ height: 150, top: 2.4, ticks: [0, 1, 2], digits: 0, inspect }),
  ];
  charts.forEach(({ node: picture }) => {
    picture.addEventListener("pointerleave", () => {
      cursor = null;
      paint();
    });
    picture.addEventListener("click", () => cursor !== null && seek(cursor));
  });
  const legends = charts.map(() => element("p", { class: "grpo-legend" }));
  const readout = element("p", { class: "grpo-readout" });
  const node = element("section", { "aria-label": "Training history" },
    element("h2", { class: "grpo-title" }, "The run so far"),
    charts.map((chart, panel) => [legends[panel], chart.node]).flat(), readout);

  function draw(next) {
    if (next.run !== shown?.run) cursor = null;
    shown = next;
    if (best !== shown.run.best + 1) {
      best = shown.run.best + 1;
      legends.forEach((place, panel) => place.replaceChildren(...legend(panel, best, hidden, paint)));
    }
    paint();
  }

  function paint() {
    const { run: { curves, half, steps }, step, ghost } = shown;
    const tops = [1, Math.max(2.4, Math.ceil(Math.max(...curves.kl)))]; // a biased start can go further than ln 10
    const marks = half === null || half > step ? [] : [{ at: half, text: `step ${half}: π(${best}) > 0.5` }];
    charts.forEach((chart, panel) => chart.draw({
      top: tops[panel],
      end: Math.max(steps, ghost?.run.steps ?? 1),
      lines: [
        ...(ghost && panel === 0 ? [{ style: "ghost-line", values: ghost.run.curves.best }] : []),
        ...CURVES.filter((curve) => curve.panel === panel && !hidden.has(curve.name))
          .map(({ style, name }) => ({ style, values: curves[name].slice(0, step + 1) })),
      ],
      marks: panel === 0 ? marks : [],
      cursor: cursor ?? (step < steps ? step : null),
    }));
    const at = cursor ?? step;
    readout.textContent = `After step ${at}: ${CURVES.map(({ text, name }) => `${text(best)} ${fixed(curves[name][at], 3)}`).join(", ")}`;
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
