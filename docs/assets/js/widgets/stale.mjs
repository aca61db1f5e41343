// <grpo-stale>: runs whose samples an old or rounded policy drew, with four remedies (catalogue B22).
import { RUNS } from "../../runs/stale.mjs";
import { legendItem } from "../ui/chart.mjs";
import { choice } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { percent } from "../ui/format.mjs";
import { lineChart } from "../ui/line_chart.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const EVERY = 10; // steps
const SAMPLERS = { "4 old": "4 updates old", "16 old": "16 updates old", "int8": "int8", "int8, 4 old": "int8, 4 updates old" };
const REMEDIES = { none: "no correction", clip: "clip to the sampler", truncated: "truncated weights", sequence: "sequence mask" };
const STYLES = { none: "line-first", clip: "line-second", truncated: "line-third", sequence: "line-fourth" };
const MEASURES = ["Right answers", "KL per token, sampler and trainer", "Tokens without a gradient"];
const RIGHT = MEASURES[0];
const curves = (sampler, remedy) => RUNS.find(([s, r]) => s === sampler && r === remedy).slice(2);
const NOW = curves("now", "none")[0][0].at(-1);

class Stale extends Explorable {
  static source = recorded("five seeds per arm; the line is their mean, the band reaches from the lowest to the highest.");
  static controls = {
    sampler: { control: choice, label: "Sampler", options: Object.entries(SAMPLERS), initial: "16 old" },
    measure: { control: choice, label: "Show", options: MEASURES.map((name) => [name, name]), initial: RIGHT },
    remedy: { control: picks, label: "With its band", options: Object.entries(REMEDIES), initial: "none" },
  };
  static guess = {
    ask: `With fresh samples, ${percent(NOW)} of the answers are right after 150 steps. How many, if all samples are 16 updates old and the loss ignores it?`,
    of: { sampler: "16 old", measure: RIGHT, remedy: "none" }, values: range(0, 1, 0.02), show: (x) => percent(x),
    truth: () => curves("16 old", "none")[0][0].at(-1),
  };

  build() {
    this.chart = lineChart({ top: 1.1, ticks: range(0, 1, 0.25) });
    this.table = table({ caption: "Mean of five seeds", columns: ["Steps", ...Object.values(REMEDIES)] });
    const legend = Object.keys(REMEDIES).map((remedy) => legendItem(STYLES[remedy], REMEDIES[remedy]));
    return [element("p", { class: "grpo-legend" }, legend), this.chart.node, this.table.node];
  }

  draw({ sampler, measure, remedy }) {
    const which = MEASURES.indexOf(measure);
    const lines = Object.keys(REMEDIES).map((each) => {
      const [values, low, high] = curves(sampler, each)[which].map(joined);
      return { style: STYLES[each], values, ...(each === remedy ? { low, high } : {}) };
    });
    this.chart.draw({ lines, guesses: this.guesses });
    const means = Object.keys(REMEDIES).map((each) => curves(sampler, each)[which][0]);
    this.table.fill(means[0].map((_, i) => [which ? `${EVERY * i + 1} to ${EVERY * (i + 1)}` : String(EVERY * i), ...means.map((mean) => percent(mean[i], 1))]));
  }

  lesson({ sampler, measure, remedy }) {
    const [mean, low, high] = curves(sampler, remedy)[MEASURES.indexOf(measure)].map((numbers) => numbers.at(-1));
    const [show, fresh] = measure === MEASURES[1] ? [(x) => x.toPrecision(2), ""] : [(x) => percent(x, 1), measure === RIGHT ? ` With fresh samples: ${percent(NOW, 1)}.` : ""];
    return `${measure}, ${SAMPLERS[sampler]}, ${REMEDIES[remedy]}: ${show(mean)} at the end, with seeds from ${show(low)} to ${show(high)}.${fresh}`;
  }
}

/** A value for each step: on straight lines between measurements, or the mean of ten batches for all of the ten. */
function joined(numbers) {
  const isMeasured = numbers.length === 16;
  return range(0, 150, 1).map((t) => {
    const i = Math.min(Math.floor(t / EVERY), isMeasured ? 14 : numbers.length - 1);
    return isMeasured ? numbers[i] + (t / EVERY - i) * (numbers[i + 1] - numbers[i]) : numbers[i];
  });
}

customElements.define("grpo-stale", Stale);
