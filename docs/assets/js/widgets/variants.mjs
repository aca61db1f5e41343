// <grpo-variants>: GRPO and its relatives as switches of the same bandit run (catalogue B06).
import { singlePeak } from "../core/reward_tables.mjs";
import { VARIANTS, outcome, variantRun } from "../core/variants.mjs";
import { legendItem } from "../ui/chart.mjs";
import { choice, slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { lineChart } from "../ui/line_chart.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const SEEDS = range(1, 20, 1);
const BEST = 6; // place of action 7
const REWARDS = {
  peak: singlePeak(),
  third: singlePeak().map((reward) => reward / 3),
  sparse: singlePeak().map((_, j) => Number(j === BEST)),
};
const OTHERS = ["Dr. GRPO", "RLOO", "DAPO", "GSPO"];

class Variants extends Explorable {
  static source = "Computed here, in your browser: 20 runs of each method, with the seeds 1 to 20.";
  static live = false;
  static controls = {
    method: { control: picks, label: "Beside GRPO", options: OTHERS.map((name) => [name, name]), initial: "Dr. GRPO" },
    rewards: {
      control: choice, label: "Rewards", initial: "peak",
      options: [["peak", "Peak of 1 at action 7"], ["third", "The same, a third as large"], ["sparse", "1 for action 7, else 0"]],
    },
    inner: { control: choice, label: "Inner updates", options: [["1", "1"], ["4", "4"]], initial: "4" },
    lr: {
      control: slider, label: "η of the others (GRPO: 0.50)", initial: 0.5,
      values: range(0.25, 2.5, 0.25), show: (lr) => fixed(lr),
    },
  };
  static examples = {
    "Larger steps": { rewards: "peak", inner: "4", lr: 1.5 },
    "Smaller rewards": { rewards: "third", inner: "4", lr: 0.5 },
    "One inner update": { rewards: "peak", inner: "1", lr: 0.5 },
  };

  build() {
    this.legend = element("p", { class: "grpo-legend" });
    this.chart = lineChart({ top: 1, ticks: range(0, 1, 0.25) });
    this.table = table({
      caption: "Means of 20 runs of 50 steps, G = 8; the first step with π(7) > 0.5 is a median",
      columns: ["method", "π(7) at end", "first > 0.5", "clipped", "no signal", "samples"],
    });
    return [this.legend, this.chart.node, this.table.node];
  }

  draw({ method, rewards, inner, lr }) {
    const settings = { rewardTable: REWARDS[rewards], groupSize: 8, innerSteps: Number(inner), steps: 50 };
    this.found = {};
    for (const [name, variant] of Object.entries(VARIANTS)) {
      const own = { ...settings, lr: name === "GRPO" ? 0.5 : lr };
      this.found[name] = outcome(SEEDS.map((seed) => variantRun(variant, own, seed)), BEST);
    }
    const shown = [["GRPO", "line-first"], [method, "line-second"]].filter(([name]) => this.found[name]); // GSPO has no run
    this.chart.draw({ lines: shown.map(([name, style]) => ({ style, ...this.found[name].curve })) });
    this.legend.replaceChildren(...shown.map(([name, style]) => legendItem(style, name)),
      "π(7): line = mean, band = all 20 runs");
    this.table.fill(Object.entries(this.found).map(([name, { end, half, clipFraction, lost, samples }]) => [
      name.replace(" ", "\u00a0"), fixed(end, 3), half === Infinity ? "never" : String(half),
      VARIANTS[name].clipEps === null ? "–" : percent(clipFraction, 1), percent(lost / 50, 1), fixed(samples, 0),
    ]));
  }

  lesson({ method }) {
    if (method === "GSPO") {
      return "GSPO makes no difference here: with one token, the sequence's ratio is the token's ratio, so the run equals GRPO's.";
    }
    const { GRPO, [method]: other } = this.found;
    return `After 50 steps π(7) is ${fixed(GRPO.end, 3)} with GRPO and ${fixed(other.end, 3)} with ${method}. `
      + `GRPO drew ${fixed(GRPO.samples, 0)} samples, ${method} ${fixed(other.samples, 0)}.`;
  }
}

customElements.define("grpo-variants", Variants);
