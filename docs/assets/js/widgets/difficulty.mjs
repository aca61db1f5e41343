// <grpo-difficulty>: how hard a prompt may be for a group to teach anything (catalogue W08).
import { binaryAdvantages, mostLikely, noSignal, rewardStd } from "../core/binary_groups.mjs";
import { choice, slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const RATES = range(0, 1, 0.01);
const SIZES = ["2", "4", "8", "16", "32", "64"];
const START = { g: "8" };

class Difficulty extends Explorable {
  static controls = {
    p: {
      control: slider, label: "Probability of a correct sample", values: RATES, initial: 0.9,
      show: (p) => percent(p),
    },
    g: { control: choice, label: "Group size G", options: SIZES.map((size) => [size, size]), initial: START.g },
  };
  static examples = {
    "Much too hard": { ...START, p: 0.01 },
    "In the middle": { ...START, p: 0.5 },
    "Nearly always right": { ...START, p: 0.9 },
    "Always right": { ...START, p: 1 },
  };
  static guess = {
    ask: "A policy solves a prompt 90\u00a0% of the time. How likely is it that all rewards in a group of 8 are equal?",
    of: { g: "8", p: 0.9 }, values: RATES, truth: ({ state: { p, g } }) => noSignal(p, Number(g)),
  };

  build() {
    this.chart = curveChart({
      hand: this.hand("p"),
      x: { low: 0, high: 1, ticks: range(0, 1, 0.2), name: "probability of a correct sample" },
      y: { low: 0, high: 1, ticks: range(0, 1, 0.25), digits: 2, name: "probability that the group teaches nothing" },
    });
    this.table = table({
      caption: "What to expect from a group",
      columns: ["G", "teaches nothing", "std of a reward", "correct, most likely group", "A, if correct", "A, if wrong"],
    });
    return [this.chart.node, this.table.node];
  }

  draw({ p, g }) {
    this.chart.draw({
      curves: [{ style: "line-first", points: RATES.map((rate) => [rate, noSignal(rate, Number(g))]) }],
      dots: [{ x: p, y: noSignal(p, Number(g)), text: share(noSignal(p, Number(g))) }],
      guesses: this.guesses.map(({ value, text }) => ({ x: p, y: value, text })),
    });
    this.table.fill(SIZES.map((size) => row(p, Number(size))));
  }

  lesson({ p, g }) {
    const lost = noSignal(p, Number(g));
    if (lost === 1) return `At ${percent(p)} every group of any size has equal rewards: no group teaches anything.`;
    return `At ${percent(p)}, ${share(lost)} of the groups with G = ${g} have equal rewards and teach nothing.`;
  }
}

/** A probability in percent; what is small is not written as nothing. */
const share = (p) => (p > 0 && p < 0.0005 ? `< ${percent(0.001, 1)}` : percent(p, 1));

/** Advantages are those of the most likely group; a kind of sample that it does not have gets none. */
function row(p, groupSize) {
  const correct = mostLikely(p, groupSize);
  const { right, wrong } = binaryAdvantages(correct, groupSize);
  return [String(groupSize), share(noSignal(p, groupSize)), fixed(rewardStd(p), 3), `${correct} of ${groupSize}`,
    correct > 0 ? signed(right, 3) : "\u2013", correct < groupSize ? signed(wrong, 3) : "\u2013"];
}

customElements.define("grpo-difficulty", Difficulty);
