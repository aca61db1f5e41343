// <grpo-recorded-run>: the curves of recorded runs of the language model, one at a time (catalogue D09).
import { RUNS } from "../../runs/charlm.mjs";
import { legendItem } from "../ui/chart.mjs";
import { choice } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const NAMES = [["pizza", "pizza"], ["pizza-token", "pizza, loss by token"],
  ["pizza-sequence", "pizza, ratio by sequence"], ["pizza-kl", "pizza, KL weight 1"], ["arithmetic", "additions"]];
const METRICS = [["mean_reward", "Mean reward"], ["rolling_mean_reward", "Mean reward, rolling mean"],
  ["exact", "Exact success"], ["kl", "KL from the reference policy"], ["policy_loss", "Policy loss"],
  ["loss", "Total loss"], ["mean_advantage", "Mean advantage"],
  ["zero_signal_fraction", "Zero-signal share"], ["clip_fraction", "Clip fraction"], ["entropy", "Entropy"],
  ["completion_length", "Completion length"], ["well_formed", "Well-formed share"]];

class RecordedRun extends Explorable {
  static source = recorded("the model answers, written by make recordings; each run names its command.");
  static controls = {
    metric: { control: choice, label: "Curve", options: METRICS, initial: "mean_reward" },
    run: { control: choice, label: "Run", options: NAMES, initial: "pizza" },
    beside: { control: choice, label: "Compare with", options: [["", "no other run"], ...NAMES], initial: "" },
  };
  static examples = {
    "A loss that says nothing": { metric: "policy_loss", run: "pizza", beside: "" },
    "Strong KL penalty": { metric: "exact", run: "pizza-kl", beside: "pizza" },
    "Ratio by token or sequence": { metric: "exact", run: "pizza", beside: "pizza-sequence" },
  };

  build() {
    this.chart = curveChart({});
    this.legend = element("p", { class: "grpo-legend" });
    this.table = table({ caption: "The curve as numbers", columns: ["Step", "run", "compared with"] });
    return [this.legend, this.chart.node, this.table.node];
  }

  draw({ metric, run, beside }) {
    const curves = [run, beside].filter(Boolean).map((name) => points(name, metric));
    const steps = Math.max(...curves.flat().map(([step]) => step));
    this.legend.replaceChildren(...[run, beside].filter(Boolean).map((name, i) =>
      legendItem(i ? "line-second" : "line-first", NAMES.find(([key]) => key === name)[1])));
    this.chart.draw({
      x: { low: 0, high: steps, ticks: range(0, steps, steps > 50 ? 25 : 10), digits: 0, name: "step" },
      y: axis(curves.flat().map(([, value]) => value)),
      curves: curves.map((curve, i) => ({ style: i ? "line-second" : "line-first", points: curve })),
    });
    const others = new Map(curves[1]);
    this.table.fill(curves[0].map(([step, value]) => [String(step), fixed(value, 4), fixed(others.get(step), 4)]));
  }

  lesson({ metric, run }) {
    const curve = points(run, metric);
    const [[firstStep, first], [lastStep, last]] = [curve[0], curve.at(-1)];
    const name = METRICS.find(([key]) => key === metric)[1];
    const measure = metric === "exact" ? ` (${RUNS[run].measure})` : "";
    return `${name}${measure}: ${fixed(first, 3)} after step ${firstStep}, ${fixed(last, 3)} after step ${lastStep}. `
      + `Command: ${RUNS[run].command}`;
  }
}

/** A curve as [step, value]; the exact success was computed at a few steps only. */
function points(run, metric) {
  const { metrics, points: computed } = RUNS[run];
  if (metric === "exact") return computed.map(({ step, exact }) => [step, exact]);
  return metrics.step.map((step, i) => [step, metrics[metric][i]]);
}

/** An axis with zero and round numbers. Rounding errors are not blown up to a curve. */
function axis(values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  if (high - low < 1e-6) return { low: -1, high: 1, ticks: [-1, -0.5, 0, 0.5, 1], digits: 1 };
  const power = 10 ** Math.floor(Math.log10((high - low) / 2));
  const size = [1, 2, 5, 10].map((each) => each * power).find((each) => (high - low) / each <= 5);
  const ticks = range(Math.floor(low / size) * size, Math.ceil(high / size) * size, size);
  return { low: ticks[0], high: ticks.at(-1), ticks, digits: Math.max(0, -Math.floor(Math.log10(size) + 1e-9)) };
}

customElements.define("grpo-recorded-run", RecordedRun);
