// <grpo-dashboard>: clip range, KL weight and group size of real runs, with what each costs (catalogue W26).
import { singlePeak } from "../core/bandit.mjs";
import { average } from "../core/grpo.mjs";
import { expectedRewards, firstAbove, manyRuns, median, summary } from "../core/many_runs.mjs";
import { legendItem } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { lineChart } from "../ui/line_chart.mjs";
import { table } from "../ui/table.mjs";

const REWARDS = singlePeak();
const STEPS = 100;
const SEEDS = 20;
const FIRST = { eps: 0.2, beta: 0.04, g: 8 };

class Dashboard extends Explorable {
  static controls = {
    eps: { control: slider, label: "Clip range ε", values: [0.05, 0.1, 0.2, 0.5, 1], initial: FIRST.eps },
    beta: { control: slider, label: "KL weight β", values: [0, 0.04, 0.1, 0.3, 0.5, 1], initial: FIRST.beta },
    g: { control: slider, label: "Group size G", values: [2, 4, 8, 16, 32], initial: FIRST.g },
  };
  static examples = {
    "Tight clip": { ...FIRST, eps: 0.05 },
    "Strong KL": { ...FIRST, beta: 1 },
    "Tiny group": { ...FIRST, g: 2 },
    "Tiny group, wide clip": { ...FIRST, g: 2, eps: 1 },
  };
  static live = false;

  build() {
    this.chart = lineChart({ top: 1, ticks: [0, 0.25, 0.5, 0.75, 1] });
    this.results = table({
      caption: `After ${STEPS} steps`,
      columns: ["Line", "steps to half", "reached", "E[R]", "KL", "clip fraction"],
    });
    this.curve = table({
      caption: "Expected reward E[R]",
      columns: ["Step", "mean", "lowest", "highest", "dashed line"],
    });
    return [
      element("p", { class: "grpo-legend" },
        legendItem("line-first", `expected reward E[R]: mean of ${SEEDS} seeds, band from lowest to highest`),
        legendItem("line-second", title(FIRST))),
      this.chart.node, this.results.node, this.curve.node];
  }

  draw(state) {
    this.usual ??= measure(FIRST);
    this.shown = measure(state);
    const [{ curve }, { curve: { values: usual } }] = [this.shown, this.usual];
    this.chart.draw({ lines: [{ style: "line-first", ...curve }, { style: "line-second", values: usual }] });
    this.results.fill([["solid, as set", ...this.shown.cells], ["dashed, at the start", ...this.usual.cells]]);
    this.curve.fill([0, 5, 10, 20, 50, 100].map((t) =>
      [String(t), ...[curve.values, curve.low, curve.high, usual].map((values) => fixed(values[t], 3))]));
  }

  lesson(state) {
    const [half, there, reward, , clip] = this.shown.cells;
    const when = half === "never" ? "in most runs the best action never gets more than half"
      : `the best action gets more than half after ${half} steps in the median run`;
    return `${title(state)}: ${when}, and ${there} runs get there. `
      + `E[R] ends at ${reward}; the clip binds for ${clip} of the samples.`;
  }
}

const title = ({ eps, beta, g }) => `ε = ${eps}, β = ${beta}, G = ${g}`;

/** The curve of the expected reward and the cells of the table, for a state of the controls. */
function measure({ eps, beta, g }) {
  const settings = { rewardTable: REWARDS, clipEps: eps, klCoef: beta, groupSize: g, innerSteps: 4 };
  const runs = manyRuns(settings, { seeds: SEEDS, steps: STEPS });
  const curve = summary(runs.map(({ policy }) => expectedRewards(policy, REWARDS)), 0);
  const reached = runs.map(({ policy }) => firstAbove(policy.map((p) => p[6]), 0.5));
  const half = median(reached);
  const clip = average(runs.map(({ clipFraction }) => average(clipFraction)));
  const cells = [half === Infinity ? "never" : String(half), `${reached.filter(Number.isFinite).length} / ${SEEDS}`,
    fixed(curve.values[STEPS], 3), fixed(average(runs.map(({ kl }) => kl[STEPS])), 3), percent(clip, 1)];
  return { curve, cells };
}

customElements.define("grpo-dashboard", Dashboard);
