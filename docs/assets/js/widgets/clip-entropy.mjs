// <grpo-clip-entropy>: entropy and expected reward over real runs of the bandit, by the upper end of the clip (catalogue B16).
import { entropyRun } from "../core/clip_entropy.mjs";
import { average } from "../core/grpo.mjs";
import { legendItem } from "../ui/chart.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const STEPS = 100;
const SEEDS = 20;
const USUAL = "0.2";
const HIGH = ["0.2", "0.28", "0.5", "100"]; // above 1; 100 is none
const SHOWN = [0, 10, 20, 50, 100];

class ClipEntropy extends Explorable {
  static controls = {
    start: { control: picks, label: "The policy begins", options: [["even", "undecided"], ["sure", "sure of the second best"]], initial: "sure" },
    high: { control: picks, label: "Upper end 1 + ε_high", options: [["0.2", "1.2"], ["0.28", "1.28"], ["0.5", "1.5"], ["100", "none"]], initial: "100" },
  };
  static live = false;
  static guess = {
    ask: "Ten actions start equally likely: an entropy of ln 10, about 2.3 nats. What is left after 20 steps with the upper end 1.2?",
    of: { start: "even", high: USUAL }, values: range(0, 2.5, 0.05), show: (entropy) => `${fixed(entropy)} nats`,
    truth: (figure) => figure.mean("even", USUAL, "entropy", 20),
  };

  build() {
    this.chart = curveChart({ x: { low: 0, high: STEPS, ticks: range(0, STEPS, 20), digits: 0, name: "step" } });
    this.own = element("span");
    const legend = element("div", { class: "grpo-legend" }, legendItem("line-first", this.own),
      legendItem("line-second", "upper end 1.2"), "Mean of 20 seeds");
    const columns = ["ε_high", ...SHOWN.map((step) => `step ${step}`)];
    this.entropy = table({ caption: "Entropy in nats", columns });
    this.reward = table({ caption: "Expected reward", columns });
    return [legend, this.chart.node, this.entropy.node, this.reward.node];
  }

  /** Runs of a start with an upper end, computed once. */
  runs(start, high) {
    this.known ??= {};
    return (this.known[`${start} ${high}`] ??=
      Array.from({ length: SEEDS }, (_, i) => entropyRun(start, Number(high), { steps: STEPS, seed: i + 1 })));
  }

  draw({ start, high }) {
    const curve = (style, which) => ({ style, points: range(0, STEPS, 1).map((step) => [step, this.mean(start, which, "entropy", step)]) });
    const top = start === "even" ? 2.5 : 1;
    const at20 = { x: 20, y: this.mean(start, high, "entropy", 20) };
    this.own.textContent = high === "100" ? "no upper end" : `upper end ${1 + Number(high)}`;
    this.chart.draw({
      y: { low: 0, high: top, ticks: range(0, top, top / 5), name: "entropy in nats" },
      curves: [curve("line-second", USUAL), curve("line-first", high)],
      dots: [{ ...at20, text: fixed(at20.y) }],
      guesses: this.guesses.map(({ value, text }) => ({ x: 20, y: value, text })),
    });
    const rows = (part) => HIGH.map((which) =>
      [which === "100" ? "none" : which, ...SHOWN.map((step) => fixed(this.mean(start, which, part, step), 3))]);
    this.entropy.fill(rows("entropy"));
    this.reward.fill(rows("reward"));
  }

  mean(start, high, part, step) {
    return average(this.runs(start, high).map((run) => run[part][step]));
  }

  lesson({ start, high }) {
    const at = (which, part, step) => this.mean(start, which, part, step);
    const words = (which) => `entropy ${fixed(at(which, "entropy", 20), 3)} after 20 steps, expected reward `
      + `${fixed(at(which, "reward", STEPS), 3)} after ${STEPS}`;
    const own = high === "100" ? "Without an upper end" : `With an upper end of ${1 + Number(high)}`;
    return high === USUAL ? `${own}: ${words(high)}.` : `${own}: ${words(high)}. With 1.2: ${words(USUAL)}.`;
  }
}

customElements.define("grpo-clip-entropy", ClipEntropy);
