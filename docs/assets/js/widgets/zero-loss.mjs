// <grpo-zero-loss>: the loss of a run that learns is 0, and its gradient is not (catalogue B04).
import { singlePeak } from "../core/bandit.mjs";
import { lossCurve } from "../core/loss_curve.mjs";
import { legendItem } from "../ui/chart.mjs";
import { slider, wholeNumber } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const STEPS = 60;
const CURVES = { reward: "line-reward", loss: "line-first", gradient: "line-second" };

class ZeroLoss extends Explorable {
  static controls = {
    k: { control: slider, label: "Updates with each group", values: [1, 2, 3, 4], initial: 1 },
    beta: { control: slider, label: "KL weight β", values: [0, 0.04, 0.1, 0.2, 0.3], initial: 0 },
    seed: { control: wholeNumber, label: "Seed", low: 0, high: 9999, initial: 0 },
  };
  static examples = { "With a KL penalty": { k: 1, beta: 0.3, seed: 0 }, "Four updates": { k: 4, beta: 0, seed: 0 } };

  build() {
    this.chart = curveChart({
      x: { low: 1, high: STEPS, ticks: [1, ...range(10, STEPS, 10)], digits: 0, name: "group" },
      y: { low: -0.25, high: 1, ticks: range(-0.25, 1, 0.25), digits: 2 },
    });
    this.table = table({
      caption: "One run of the ten-action bandit",
      columns: ["Group", "loss", "length of its gradient", "expected reward"],
    });
    return [
      element("p", { class: "grpo-legend" }, legendItem("line-reward", "expected reward"),
        legendItem("line-first", "loss"), legendItem("line-second", "length of the loss's gradient")),
      this.chart.node, this.table.node];
  }

  draw({ k, beta, seed }) {
    const settings = { rewardTable: singlePeak(), innerSteps: k, klCoef: beta };
    this.found = lossCurve(settings, { seed, steps: STEPS });
    this.chart.draw({ curves: Object.entries(CURVES).map(([name, style]) =>
      ({ style, points: this.found[name].map((value, t) => [t + 1, value]) })) });
    this.table.fill([1, ...range(10, STEPS, 10)].map((group) =>
      [String(group), ...["loss", "gradient", "reward"].map((name) => fixed(this.found[name][group - 1], 3))]));
  }

  lesson({ k, beta }) {
    const { loss, gradient, reward } = this.found;
    const learned = `while the expected reward goes from ${fixed(reward[0], 3)} to ${fixed(reward.at(-1), 3)}`;
    if (k === 1 && beta === 0) {
      const longest = fixed(Math.max(...gradient));
      return `The loss is 0 in all ${STEPS} groups, its gradient is up to ${longest} long, ${learned}.`;
    }
    return `The loss goes from ${fixed(loss[0], 3)} to ${fixed(loss.at(-1), 3)}, ${learned}.`;
  }
}

customElements.define("grpo-zero-loss", ZeroLoss);
