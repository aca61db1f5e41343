// <grpo-truncation>: recorded runs with a limit that is too short, by what a truncated completion gets (catalogue B21).
import { CURVES } from "../../runs/truncation.mjs";
import { legendItem } from "../ui/chart.mjs";
import { choice } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { eachStep, lineChart } from "../ui/line_chart.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const EVERY = 10; // steps
const ARMS = { zero: "scored 0", masked: "masked", penalized: "penalized", room: "room for all" };
const STYLES = { zero: "line-first", masked: "line-second", penalized: "line-third", room: "line-fourth" };
const MEASURES = {
  limit: "Right answers, limit of 14", room: "Right answers, limit of 24", step_by_step: "Answers step by step",
  truncated: "Truncated completions", length: "Mean length, in limits of 14", no_signal: "Groups without signal",
};

class Truncation extends Explorable {
  static source = recorded("five seeds per arm; the line is their mean, the band reaches from the lowest to the highest.");
  static controls = {
    measure: { control: choice, label: "Show", options: Object.entries(MEASURES), initial: "limit" },
    arm: { control: picks, label: "Arm, with its band", options: Object.entries(ARMS), initial: "masked" },
  };
  static guess = {
    ask: "At the start, 35 % of the answers are right with a limit of 14 tokens. How many after 50 steps, if truncated completions are masked?",
    of: { measure: "limit", arm: "masked" }, values: range(0, 1, 0.02), show: (x) => percent(x),
    truth: () => CURVES.masked.limit[0].at(-1),
  };

  build() {
    this.chart = lineChart({ top: 1.1, ticks: range(0, 1, 0.25) });
    this.table = table({ caption: "Mean of five seeds", columns: ["Step", ...Object.values(ARMS)] });
    const legend = Object.keys(ARMS).map((arm) => legendItem(STYLES[arm], ARMS[arm]));
    return [element("p", { class: "grpo-legend" }, legend), this.chart.node, this.table.node];
  }

  draw({ measure, arm }) {
    const isMeasured = CURVES.zero[measure][0].length === 6;
    const lines = Object.keys(ARMS).map((each) => {
      const [values, low, high] = CURVES[each][measure].map(joined);
      return { style: STYLES[each], values, ...(each === arm ? { low, high } : {}) };
    });
    this.chart.draw({ lines, guesses: this.guesses });
    this.table.fill(CURVES.zero[measure][0].map((_, i) =>
      [isMeasured ? String(EVERY * i) : `${EVERY * i + 1} to ${EVERY * (i + 1)}`, ...Object.keys(ARMS).map((each) => fixed(CURVES[each][measure][0][i], 3))]));
  }

  lesson({ measure, arm }) {
    const [mean, low, high] = CURVES[arm][measure].map((numbers) => numbers.at(-1));
    const show = (x) => (measure === "length" ? fixed(x) : percent(x, 1));
    return `${MEASURES[measure]}, ${ARMS[arm]}: ${show(mean)} at the end, with seeds from ${show(low)} to ${show(high)}. `
      + `Scored 0: ${show(CURVES.zero[measure][0].at(-1))}.`;
  }
}

/** A value for each step: on straight lines between measurements, or the mean of ten batches for all of the ten. */
const joined = (numbers) => (numbers.length === 6 ? eachStep(numbers, EVERY)
  : range(0, 50, 1).map((t) => numbers[Math.min(Math.floor(t / EVERY), numbers.length - 1)]));

customElements.define("grpo-truncation", Truncation);
