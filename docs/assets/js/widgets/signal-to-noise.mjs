// <grpo-signal-to-noise>: what mean and standard deviation of a group do for the gradient: where single groups would move
// the policy, along the direction of the true gradient, and the mean of all groups as an arrow (catalogue B01).
import { singlePeak } from "../core/bandit.mjs";
import { along, gradientNoise, groupGradient, SCORES, trueGradient } from "../core/gradient_noise.mjs";
import { makeRng, sampleCategorical } from "../core/rng.mjs";
import { arrow } from "../ui/arrow.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { choice, slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
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
const GROUPS = 60; // that are drawn
const REACH = [-0.3, 0.75]; // of the axis; what lies beyond is drawn at its end
const [ROW, HEAD, FOOT] = [56, 22, 26]; // pixels

class SignalToNoise extends Explorable {
  static live = false; // 24310 groups for each row
  static source = `${COMPUTED} Arrows and numbers count every group that the policy can draw; the dots are ${GROUPS} of them, drawn at random.`;
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
    this.chart = chart(HEAD + ROW * Object.keys(NAMES).length + FOOT, (width, height) => this.paint(width, height));
    this.table = table({
      caption: "The gradient of one group",
      columns: ["advantage", "signal", "noise", "cosine", "signal / noise"],
    });
    return [this.chart.node, this.table.node];
  }

  draw({ offset, scale: times, best, g }) {
    const rewards = singlePeak(PEAK).map((reward) => times * (reward + offset));
    const policy = rewards.map((_, a) => (a + 1 === PEAK ? best : (1 - best) / (rewards.length - 1)));
    const truth = trueGradient(policy, rewards);
    const random = makeRng(0);
    const groups = Array.from({ length: GROUPS }, () => Array.from({ length: Number(g) }, () => sampleCategorical(policy, random())));
    this.rows = Object.entries(NAMES).map(([key, name]) => {
      const exact = gradientNoise(policy, rewards, Number(g), SCORES[key]);
      const dots = groups.map((actions) => along(groupGradient(policy, rewards, actions, SCORES[key]), truth));
      return { key, name, dots, ...exact, ratio: exact.signal / exact.noise };
    });
    this.table.fill(this.rows.map(({ name, signal, noise, cosine, ratio }) =>
      [name, fixed(signal, 3), fixed(noise, 3), fixed(cosine, 3), fixed(ratio)]));
    this.chart.redraw();
  }

  paint(width, height) {
    const inside = scale(...REACH, 8, width - 8);
    const x = (value) => inside(Math.min(REACH[1], Math.max(REACH[0], value)));
    return [
      words(width, 13, "signal / noise", { class: "soft", "text-anchor": "end" }),
      this.rows.flatMap((row, i) => this.strip(row, { x, width, top: HEAD + i * ROW })),
      words(x(0) - 8, height - 8, "\u2190 wrong way", { class: "soft", "text-anchor": "end" }),
      words(x(0) + 8, height - 8, "along the true gradient \u2192", { class: "soft" }),
    ].flat();
  }

  /** The dots of one kind of advantage, and the mean of all groups. */
  strip({ key, name, dots, signal, cosine, ratio }, { x, width, top }) {
    const middle = top + 30;
    return [
      words(0, top + 14, name, { class: key === "std" ? "name" : "" }),
      words(width - 1, top + 14, fixed(ratio), { class: "name", "text-anchor": "end" }),
      element("line", { x1: pixel(x(0)), x2: pixel(x(0)), y1: top + 20, y2: top + 53, class: "axis" }),
      dots.map((value, i) => element("circle", {
        cx: pixel(x(value)), cy: middle + 3 * ((i % 5) - 2), r: 3, class: value < 0 ? "astray" : "group",
      })),
      arrow({ x: x(0), y: middle + 17 }, { x: x(signal * cosine), y: middle + 17 }, { wide: 4 }),
    ].flat();
  }

  lesson({ g }) {
    const { none, mean, std } = Object.fromEntries(this.rows.map(({ key, ratio }) => [key, ratio]));
    const change = none < mean ? "lifts" : "lowers";
    return `G = ${g}: without a baseline signal / noise is ${fixed(none)}. Subtracting the mean ${change} it to `
      + `${fixed(mean)}; dividing by the standard deviation as well gives ${fixed(std)}.`;
  }
}

customElements.define("grpo-signal-to-noise", SignalToNoise);
