// <grpo-stale>: runs whose samples an old or rounded policy drew, with four remedies (catalogue B22).
import { RUNS as WITHOUT_KL } from "../../runs/stale-no-kl.mjs";
import { RUNS } from "../../runs/stale.mjs";
import { legendItem } from "../ui/chart.mjs";
import { choice } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { percent } from "../ui/format.mjs";
import { eachStep, lineChart } from "../ui/line_chart.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const EVERY = 10; // steps
const NO_KL = ", β = 0";
const SAMPLERS = {
  "4 old": "4 updates old", "16 old": "16 updates old", "int8": "int8", "int8, 4 old": "int8, 4 updates old",
  [`4 old${NO_KL}`]: "4 updates old, no KL term", [`16 old${NO_KL}`]: "16 updates old, no KL term",
};
const REMEDIES = { none: "no correction", clip: "clip to the sampler", truncated: "truncated weights", sequence: "sequence mask" };
const STYLES = { none: "line-first", clip: "line-second", truncated: "line-third", sequence: "line-fourth" };
const runs = (sampler) => (sampler.endsWith(NO_KL) ? WITHOUT_KL : RUNS);
const curves = (sampler, remedy) => runs(sampler).find(([s, r]) => s === sampler.replace(NO_KL, "") && r === remedy).slice(2);
const fresh = (sampler) => runs(sampler).find(([s]) => s === "now")[2].at(-1);
const FIRST = { sampler: "16 old", remedy: "none" };

class Stale extends Explorable {
  static source = recorded("five seeds per arm; the line is their mean, the band reaches from the lowest to the highest.");
  static controls = {
    sampler: { control: choice, label: "Sampler", options: Object.entries(SAMPLERS), initial: FIRST.sampler },
    remedy: { control: picks, label: "With its band", options: Object.entries(REMEDIES), initial: FIRST.remedy },
  };
  static guess = {
    ask: `With fresh samples, ${percent(fresh(FIRST.sampler))} of the answers are right after 150 steps. How many, if all samples are 16 updates old and the loss ignores it?`,
    of: FIRST, values: range(0, 1, 0.02), show: (x) => percent(x), truth: () => curves(FIRST.sampler, "none")[0].at(-1),
  };

  build() {
    this.chart = lineChart({ top: 1.1, ticks: range(0, 1, 0.25) });
    this.table = table({ caption: "Right answers, mean of five seeds", columns: ["Step", ...Object.values(REMEDIES)] });
    const legend = Object.keys(REMEDIES).map((remedy) => legendItem(STYLES[remedy], REMEDIES[remedy]));
    return [element("p", { class: "grpo-legend" }, legend), this.chart.node, this.table.node];
  }

  draw({ sampler, remedy }) {
    const lines = Object.keys(REMEDIES).map((each) => {
      const [values, low, high] = curves(sampler, each).map((numbers) => eachStep(numbers, EVERY));
      return { style: STYLES[each], values, ...(each === remedy ? { low, high } : {}) };
    });
    this.chart.draw({ lines, guesses: this.guesses });
    const means = Object.keys(REMEDIES).map((each) => curves(sampler, each)[0]);
    this.table.fill(means[0].map((_, i) => [String(EVERY * i), ...means.map((mean) => percent(mean[i]))]));
  }

  lesson({ sampler, remedy }) {
    const [mean, low, high] = curves(sampler, remedy).map((numbers) => percent(numbers.at(-1)));
    return `${SAMPLERS[sampler]}, ${REMEDIES[remedy]}: ${mean} of the answers are right at the end, with seeds from ${low} to ${high}. `
      + `With fresh samples: ${percent(fresh(sampler))}.`;
  }
}

customElements.define("grpo-stale", Stale);
