// <grpo-signal-to-noise>: what mean and standard deviation of a group do for the gradient (catalogue B01).
import { singlePeak } from "../core/bandit.mjs";
import { gradientNoise, SCORES } from "../core/gradient_noise.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { choice, slider } from "../ui/controls.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const PEAK = 7;
const START = { offset: 0, scale: 1, best: 0.1, g: "8" };
const NAMES = {
  none: "reward (REINFORCE)",
  mean: "reward \u2212 mean of the group",
  others: "reward \u2212 mean of the others (RLOO)",
  std: "(reward \u2212 mean) / std (GRPO)",
  critic: "reward \u2212 expected reward (a perfect critic)",
};

class SignalToNoise extends Explorable {
  static live = false; // 24310 groups for each row
  static controls = {
    offset: { control: slider, label: "Added to every reward", values: range(0, 5, 0.5), initial: START.offset },
    scale: { control: slider, label: "Then multiplied by", values: [0.1, 0.2, 0.5, 1, 2, 5, 10], initial: START.scale },
    best: {
      control: slider, label: "Probability of the best action", values: range(0.1, 0.9, 0.1), initial: START.best,
      show: (p) => percent(p),
    },
    g: { control: choice, label: "Group size G", options: ["2", "4", "8"].map((g) => [g, g]), initial: START.g },
  };
  static examples = {
    "All rewards + 5": { ...START, offset: 5 },
    "Rewards ten times as large": { ...START, scale: 10 },
    "Nearly learned": { ...START, best: 0.9 },
  };

  build() {
    this.table = table({
      caption: "The gradient of one group",
      columns: ["advantage", "signal", "noise", "cosine", "signal / noise"],
    });
    return [this.table.node];
  }

  draw({ offset, scale, best, g }) {
    const rewards = singlePeak(PEAK).map((reward) => scale * (reward + offset));
    const policy = rewards.map((_, a) => (a + 1 === PEAK ? best : (1 - best) / (rewards.length - 1)));
    this.ratio = {};
    this.table.fill(Object.entries(NAMES).map(([key, name]) => {
      const { signal, noise, cosine } = gradientNoise(policy, rewards, Number(g), SCORES[key]);
      this.ratio[key] = signal / noise;
      const style = key === "std" ? "policy" : "second";
      const ratio = barCell(fixed(signal / noise), signal / noise / 2, style);
      return [name, fixed(signal, 3), fixed(noise, 3), fixed(cosine, 3), ratio];
    }));
  }

  lesson({ g }) {
    const { none, mean, std } = this.ratio;
    const change = none < mean ? "lifts" : "lowers";
    return `G = ${g}: without a baseline signal / noise is ${fixed(none)}. Subtracting the mean ${change} it to `
      + `${fixed(mean)}; dividing by the standard deviation as well gives ${fixed(std)}.`;
  }
}

customElements.define("grpo-signal-to-noise", SignalToNoise);
