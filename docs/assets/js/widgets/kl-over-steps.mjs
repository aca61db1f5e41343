// <grpo-kl-over-steps>: how far a policy goes in 200 steps, and what the KL penalty does about it (catalogue W18).
import { singlePeak } from "../core/bandit.mjs";
import { balanceKl } from "../core/kl_balance.mjs";
import { average } from "../core/grpo.mjs";
import { manyRuns, summary } from "../core/many_runs.mjs";
import { legendItem } from "../ui/chart.mjs";
import { slider, toggle } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { lineChart } from "../ui/line_chart.mjs";
import { table } from "../ui/table.mjs";

const STEPS = 200;
const SEEDS = 20;
const GROUP = 8;
const REWARDS = singlePeak();
const SHOWN = [10, 25, 50, 100, 200];

class KlOverSteps extends Explorable {
  static controls = {
    beta: { control: slider, label: "KL weight β", values: [0, 0.02, 0.04, 0.1, 0.2, 0.3, 0.5, 0.7, 1], initial: 1 },
    std: { control: toggle, label: "Divide by the standard deviation", initial: true },
  };
  static examples = {
    "β = 1": { beta: 1, std: true },
    "β = 0.04": { beta: 0.04, std: true },
    "β = 0.3": { beta: 0.3, std: true },
    "β = 0.3, mean only": { beta: 0.3, std: false },
  };
  static live = false;

  build() {
    this.chart = lineChart({ top: 2.4, ticks: [0, 0.5, 1, 1.5, 2], digits: 1 });
    this.table = table({
      caption: "KL from the start in nats, and probability of the best action",
      columns: ["Step", "KL with β", "KL with β = 0", "π(7) with β", "π(7) with β = 0"],
    });
    return [
      element("p", { class: "grpo-legend" }, legendItem("line-first", "mean of 20 seeds, band from lowest to highest")),
      this.chart.node, this.table.node];
  }

  draw({ beta, std }) {
    const runs = this.runs(beta, std);
    const free = this.runs(0, std);
    this.chart.draw({ lines: [
      { style: "line-first", name: `β = ${beta}`, below: true, ...summary(runs.map(({ kl }) => kl), 0) },
      { style: "line-second", name: beta === 0 ? "" : "β = 0", values: summary(free.map(({ kl }) => kl)).values },
      ...(std || beta === 0 ? [] : [{ style: "line-third", name: "where reward and KL balance", values: Array(STEPS + 1).fill(this.balance(beta)) }]),
    ] });
    const means = (value) => [runs, free].map((of) => fixed(average(of.map(value)), 3));
    this.table.fill(SHOWN.map((t) =>
      [String(t), ...means(({ kl }) => kl[t]), ...means(({ policy }) => policy[t][6])]));
  }

  /** Runs with a weight, computed once. */
  runs(klCoef, divideByStd) {
    this.known ??= {};
    return (this.known[`${klCoef} ${divideByStd}`] ??=
      manyRuns({ rewardTable: REWARDS, groupSize: GROUP, klCoef, divideByStd }, { seeds: SEEDS, steps: STEPS }));
  }

  balance(klCoef) {
    return balanceKl(REWARDS, { groupSize: GROUP, klCoef });
  }

  lesson({ beta, std }) {
    const ends = (weight) => fixed(average(this.runs(weight, std).map(({ kl }) => kl[STEPS])), 3);
    if (beta === 0) return `Without a penalty the KL ends at ${ends(0)} nats; 2.303 = ln 10 would be certainty.`;
    const found = `With β = ${beta} the KL ends at ${ends(beta)} nats, without a penalty at ${ends(0)}.`;
    if (std) return found;
    return `${found} On average the two pulls balance at ${fixed(this.balance(beta), 3)}.`;
  }
}

customElements.define("grpo-kl-over-steps", KlOverSteps);
