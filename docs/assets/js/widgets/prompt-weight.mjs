// <grpo-prompt-weight>: how much a prompt counts in the mean gradient, by how often it is solved (catalogue B15).
import { METHODS, promptWeight } from "../core/prompt_weight.mjs";
import { legendItem } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const CHANCES = range(0.01, 0.99, 0.01);
const SHOWN = [0.05, 0.1, 0.5, 0.9, 0.95];
const STYLES = { GRPO: "line-first", "Dr. GRPO": "line-third", MaxRL: "line-second" };
const MOST = 8; // of the axis

class PromptWeight extends Explorable {
  static controls = {
    p: { control: slider, label: "Chance of a right answer p", values: range(0.01, 0.99, 0.01), initial: 0.1, show: (p) => percent(p) },
    g: { control: slider, label: "Group size G", values: [2, 4, 8, 16, 32, 64], initial: 8, show: String },
  };
  static guess = {
    ask: "With GRPO and G = 8, how many times the weight of a prompt solved half the time does a prompt solved 10\u00a0% of the time get?",
    of: { p: 0.1, g: 8 }, values: range(0, 4, 0.05), truth: ({ state: { p, g } }) => promptWeight("GRPO", p, g) / promptWeight("GRPO", 0.5, g),
  };

  build() {
    this.chart = curveChart({
      hand: this.hand("p"),
      x: { low: 0, high: 1, ticks: range(0, 1, 0.2), name: "p: how often the prompt is solved" },
      y: { low: 0, high: MOST, ticks: range(0, MOST, 2), digits: 0, name: "weight of the prompt" },
    });
    const legend = element("div", { class: "grpo-legend" }, Object.entries(STYLES).map(([name, style]) => legendItem(style, name)));
    this.table = table({ caption: "Weight of a prompt", columns: ["Method", ...SHOWN.map((p) => `p = ${p}`)] });
    return [legend, this.chart.node, this.table.node];
  }

  draw({ p, g }) {
    this.chart.draw({
      curves: Object.entries(STYLES).map(([name, style]) => ({ style, points: CHANCES.map((x) => [x, promptWeight(name, x, g)]) })),
      marks: [{ at: p, text: "" }],
      dots: Object.keys(STYLES).map((name) => ({ x: p, y: promptWeight(name, p, g), text: name === "GRPO" ? fixed(promptWeight(name, p, g)) : "" })),
      guesses: this.guesses.map(({ value, text }) => ({ x: p, y: value * promptWeight("GRPO", 0.5, g), text })),
    });
    this.table.fill(Object.keys(METHODS).map((name) => [name, ...SHOWN.map((x) => fixed(promptWeight(name, x, g), 3))]));
  }

  lesson({ p, g }) {
    const times = (name) => fixed(promptWeight(name, p, g) / promptWeight(name, 0.5, g));
    return `With G = ${g}, a prompt solved ${percent(p)} of the time has ${times("GRPO")} times the weight of one solved half the `
      + `time with GRPO, ${times("MaxRL")} times with MaxRL, and the same weight with Dr. GRPO.`;
  }
}

customElements.define("grpo-prompt-weight", PromptWeight);
