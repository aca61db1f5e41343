// <grpo-emergence>: what a small language model writes at checkpoints of a recorded GRPO run (catalogue W01).
import { RUNS } from "../../runs/charlm.mjs";
import { choice, slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { glide } from "../ui/glide.mjs";
import { drawnUntil } from "../ui/moving.mjs";
import { player } from "../ui/player.mjs";
import { table } from "../ui/table.mjs";

const PLACES = range(0, 100, 10); // each run has eleven checkpoints

class Emergence extends Explorable {
  static source = recorded("the model answers of exercise 5, at eleven checkpoints of each run.");
  static controls = {
    run: {
      control: choice, label: "Run", initial: "arithmetic",
      options: [["arithmetic", "additions: 1 for the right sum"], ["pizza", "\"ravin likes\": 4 for \"pizza.\""],
        ["pizza-kl", "the same, with a KL weight of 1"]],
    },
    at: { control: slider, label: "Training", values: PLACES, initial: 0, show: (at) => `${at}\u00a0% done` },
  };

  build() {
    const play = player({
      milliseconds: () => 900,
      advance: () => {
        this.set({ at: this.state.at === 100 ? 0 : this.state.at + 10 });
        return this.state.at < 100;
      },
    });
    this.chart = curveChart({
      hand: this.hand("at"),
      height: 170,
      x: { low: 0, high: 100, ticks: range(0, 100, 20), digits: 0, name: "progress of training, in percent" },
      y: { low: 0, high: 1, ticks: [0, 0.5, 1], name: "probability of a rewarded answer" },
    });
    this.glide = glide(([run, at]) => this.trace(Object.keys(RUNS)[Math.round(run)], at));
    this.samples = table({ caption: "What it writes", columns: ["samples", "text", "reward", "text", "reward"] });
    this.curve = table({ caption: "Checkpoints", columns: ["step", "exact probability", "samples rewarded"] });
    return [element("div", { class: "grpo-bar" }, play), this.chart.node, element("div", {}, this.samples.node),
      this.curve.node];
  }

  draw({ run, at }) {
    const { points } = RUNS[run];
    const { samples } = points[at / 10];
    this.glide([Object.keys(RUNS).indexOf(run), at]);
    const half = samples.length / 2; // two samples in each row: they fit on a screen together with the curve
    this.samples.fill(samples.slice(0, half).map((sample, i) =>
      [`${i + 1}, ${i + 1 + half}`, ...cells(sample), ...cells(samples[i + half])]));
    this.curve.fill(points.map((point) =>
      [String(point.step), fixed(point.exact, 3), `${rewarded(point)} of ${point.samples.length}`]));
  }

  /** The curve as far as the training has come. */
  trace(run, at) {
    const points = drawnUntil(RUNS[run].points.map(({ exact }, i) => [PLACES[i], exact]), at);
    const [x, y] = points.at(-1);
    this.chart.draw({ curves: [{ style: "line-first", points }], dots: [{ x, y, text: fixed(y, 3) }] });
  }

  lesson({ run, at }) {
    const { points, measure } = RUNS[run];
    const point = points[at / 10];
    const counted = `${rewarded(point)} of these ${point.samples.length} samples are rewarded`;
    return `Step ${point.step} of ${points.at(-1).step}: ${counted}. `
      + `Exactly computed, the ${measure} is ${fixed(point.exact, 3)}.`;
  }
}

/** An addition is shown with its prompt; the prompt of the pizza runs is always the same. */
const cells = ([prompt, text, reward]) =>
  [prompt.endsWith("=") ? prompt + text : text, reward ? `\u2713 ${reward}` : "\u2717 0"];

const rewarded = ({ samples }) => samples.filter(([, , reward]) => reward > 0).length;

customElements.define("grpo-emergence", Emergence);
