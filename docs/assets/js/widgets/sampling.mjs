// <grpo-sampling>: a group is drawn and scored, and its mean is the baseline (catalogue W04).
import { ANSWERS, RIGHT, sampleAnswers } from "../core/answers.mjs";
import { groupAdvantages } from "../core/grpo.mjs";
import { button, slider, wholeNumber } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const SEEDS = 1000;

class Sampling extends Explorable {
  static controls = {
    g: { control: slider, label: "Group size G", values: range(2, 16, 1), initial: 8 },
    seed: { control: wholeNumber, label: "Seed of the draws", low: 0, high: SEEDS - 1, initial: 40 },
  };
  static examples = {
    "One of eight is right": { g: 8, seed: 9 },
    "A group that teaches nothing": { g: 4, seed: 0 },
  };

  build() {
    const again = button("Draw another group", () => this.set({ seed: (this.state.seed + 1) % SEEDS }));
    this.chart = curveChart({ y: { low: -0.1, high: 1.1, ticks: [0, 0.5, 1], name: "reward; line: mean of the group" } });
    this.table = table({ caption: "The group. Advantage: (reward \u2212 mean) / standard deviation, see chapter 4",
      columns: ["sample", "answer", "reward", "reward \u2212 mean", "advantage"] });
    return [element("div", { class: "grpo-bar" }, again), this.chart.node, this.table.node];
  }

  draw({ g, seed }) {
    const answers = sampleAnswers(seed, g);
    const rewards = answers.map((answer) => Number(answer === ANSWERS[RIGHT]));
    this.found = groupAdvantages(rewards);
    const { mean, advantages } = this.found;
    const stems = rewards.map((reward, i) => // from the baseline to the reward
      ({ style: reward > mean ? "line-up" : "line-down", points: [[i + 1, mean], [i + 1, reward]] }));
    this.chart.draw({
      x: { low: 0.5, high: g + 0.5, ticks: range(1, g, 1), digits: 0, name: "sample" },
      curves: [{ style: "line-first", points: [[0.5, mean], [g + 0.5, mean]] }, ...stems],
      dots: rewards.map((reward, i) => ({ x: i + 1, y: reward, style: reward ? "coin" : "dot" })),
    });
    this.table.fill(answers.map((answer, i) => [String(i + 1), `${answer} ${rewards[i] ? "✓" : "✗"}`,
      fixed(rewards[i], 0), signed(rewards[i] - mean, 3), signed(advantages[i], 3)]));
  }

  lesson({ g }) {
    const { mean, std, advantages, zeroSignal } = this.found;
    const right = Math.round(mean * g);
    const begin = `${right} of ${g} samples are right: mean ${fixed(mean, 3)}, standard deviation ${fixed(std, 3)}. `;
    if (zeroSignal) return `${begin}All rewards are equal, so the group teaches nothing.`;
    const [up, down] = [Math.max(...advantages), Math.min(...advantages)];
    return `${begin}A right answer gets ${signed(up, 3)}, a wrong one ${signed(down, 3)}.`;
  }
}

customElements.define("grpo-sampling", Sampling);
