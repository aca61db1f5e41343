// <grpo-float-noise>: advantages that rounding makes out of equal rewards (catalogue B05).
import { equalGroup } from "../core/float_noise.mjs";
import { choice, slider, toggle } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const REWARDS = range(0, 1, 0.05);
const same = (texts) => texts.map((text) => [text, text]);

class FloatNoise extends Explorable {
  static source = `${COMPUTED} Sums run from left to right; a different order gives different errors.`;
  static controls = {
    reward: { control: slider, label: "Reward of every sample", values: REWARDS, initial: 0.7, show: (r) => fixed(r) },
    g: { control: choice, label: "Group size G", options: same(["2", "4", "8", "16", "32"]), initial: "8" },
    eps: { control: choice, label: "std_eps", options: same(["1e-8", "1e-6", "1e-4"]), initial: "1e-8" },
    dtype: { control: choice, label: "dtype", options: same(["float32", "float64"]), initial: "float32" },
    compare: { control: toggle, label: "Compare the rewards first", initial: false },
  };

  build() {
    this.chart = curveChart({
      hand: this.hand("reward"),
      x: { low: -0.05, high: 1.05, ticks: range(0, 1, 0.2), name: "reward of every sample" },
      y: { low: -1.2, high: 1.2, ticks: [-1, -0.5, 0, 0.5, 1], name: "advantage of every sample (right: 0)" },
    });
    this.steps = table({ caption: "The formula, step by step", columns: ["number", "on paper", "computed"] });
    this.all = table({ caption: "Every reward", columns: ["reward", "advantage"] });
    return [this.chart.node, this.steps.node, this.all.node];
  }

  draw(state) {
    const found = REWARDS.map((reward) => advantage(reward, state).advantage);
    const { stored, mean, centred, std, advantage: chosen } = advantage(state.reward, state);
    this.chart.draw({
      bars: REWARDS.map((reward, i) =>
        ({ from: reward - 0.018, to: reward + 0.022, y: found[i], style: found[i] < 0 ? "bar down" : "bar up" })),
      dots: [{ x: state.reward, y: chosen, text: signed(chosen) }],
    });
    const paper = fixed(state.reward);
    this.steps.fill([
      ["reward", paper, digits(stored)], ["mean", paper, digits(mean)], ["reward \u2212 mean", "0", digits(centred)],
      ["standard deviation", "0", digits(std)], ["advantage", "0", digits(chosen, 3)],
    ]);
    this.all.fill(REWARDS.map((reward, i) => [fixed(reward), digits(found[i], 3)]));
  }

  lesson(state) {
    const chosen = advantage(state.reward, state).advantage;
    const group = `${state.g} rewards of ${fixed(state.reward)} in ${state.dtype}`;
    if (state.compare) return `${group}: they are equal, so there is no division, and every advantage is exactly 0.`;
    if (chosen === 0) return `${group}: no rounding error here, every advantage is 0. That is luck, not a rule.`;
    return `${group} get an advantage of ${digits(chosen, 3)} each. It should be 0: this is one rounding error, divided `
      + "by another.";
  }
}

function advantage(reward, { g, eps, dtype, compare }) {
  const found = equalGroup(reward, Number(g), { stdEps: Number(eps), dtype });
  return compare ? { ...found, advantage: 0 } : found;
}

/** Nine digits tell floats of 32 bits apart; what is tiny gets three. */
function digits(x, most = 9) {
  const text = x !== 0 && Math.abs(x) < 0.001 ? x.toExponential(2) : String(Number(x.toPrecision(most)));
  return text.replaceAll("-", "\u2212");
}

customElements.define("grpo-float-noise", FloatNoise);
