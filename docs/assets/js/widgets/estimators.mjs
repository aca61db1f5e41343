// <grpo-estimators>: k1, k2 and k3 as a value and as a loss, by enumeration of three actions (catalogue B02).
import { estimatorGradient, estimatorValue, klGradient, reverseKlGradient } from "../core/estimators.mjs";
import { klDivergence, logSoftmax } from "../core/grpo.mjs";
import { legendItem } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const REF = [0.5, 0.3, 0.2].map(Math.log);
const TOWARDS = [1, 0, -1]; // the policy moves from the last action to the first
const DRIFTS = range(-2, 2, 0.1);
const [FORWARD, REVERSE] = ["KL(π ‖ π_ref)", "KL(π_ref ‖ π)"];
const STYLES = { [FORWARD]: "line-first", [REVERSE]: "line-reference", k1: "line-third", k2: "line-second", k3: "line-fourth" };

/** Name: { mean, std, gradient } of the two divergences and of the three estimators, for a policy that drifted. */
function all(drift) {
  const logp = logSoftmax(REF.map((x, j) => x + drift * TOWARDS[j]));
  const estimates = ["k1", "k2", "k3"].map((kind) =>
    [kind, { ...estimatorValue(kind, logp, REF), gradient: estimatorGradient(kind, logp, REF) }]);
  return { logp, found: {
    [FORWARD]: { mean: klDivergence(logp, REF), gradient: klGradient(logp, REF) },
    [REVERSE]: { mean: klDivergence(REF, logp), gradient: reverseKlGradient(logp, REF) },
    ...Object.fromEntries(estimates),
  } };
}

const slope = ({ gradient }) => gradient.reduce((total, x, j) => total + x * TOWARDS[j], 0);

class Estimators extends Explorable {
  static controls = {
    drift: { control: slider, label: "Drift of the policy", values: DRIFTS, initial: 1, show: (drift) => signed(drift, 1) },
    show: { control: picks, label: "Chart", options: [["value", "values"], ["slope", "gradients"]], initial: "value" },
  };
  static examples = { "Hardly moved": { drift: 0.1 }, "Far away": { drift: 2 } };

  build() {
    this.chart = curveChart({ x: { low: -2, high: 2, ticks: range(-2, 2, 1), digits: 0, name: "drift of the policy" } });
    this.table = table({
      caption: "Mean value, std of one sample, and mean gradient in the three logits",
      columns: ["Quantity", "mean", "std", "logit 1", "logit 2", "logit 3"],
    });
    this.curves = DRIFTS.map((drift) => [drift, all(drift).found]);
    const legend = Object.entries(STYLES).map(([name, style]) => legendItem(style, name));
    return [element("div", { class: "grpo-legend" }, legend), this.chart.node, this.table.node];
  }

  draw({ drift, show }) {
    const { found } = all(drift);
    const value = show === "value" ? ({ mean }) => mean : slope;
    this.chart.draw({
      y: show === "value" ? { low: 0, high: 1.5, ticks: range(0, 1.5, 0.5), name: "mean value" }
        : { low: -1.5, high: 1, ticks: range(-1.5, 1, 0.5), name: "mean gradient along the drift" },
      curves: Object.entries(STYLES).map(([name, style]) =>
        ({ style, points: this.curves.map(([at, there]) => [at, value(there[name])]) })),
      marks: [{ at: drift, text: "here" }],
    });
    this.table.fill(Object.entries(found).map(([name, { mean, std, gradient }]) =>
      [name, fixed(mean, 3), fixed(std, 3), ...gradient.map((x) => signed(x, 3))]));
  }

  lesson({ drift }) {
    const { logp, found } = all(drift);
    const policy = logp.map((x) => percent(Math.exp(x))).join(", ");
    const off = found.k2.mean / found[FORWARD].mean - 1;
    if (drift === 0) return `Policy ${policy}, the same as the reference: all values and all gradients are 0.`;
    return `Policy ${policy}; reference 50 %, 30 %, 20 %. As values, k1 and k3 are exact and k2 is off by ` +
      `${percent(Math.abs(off))}. As losses, k1 does nothing, k2 pulls like ${FORWARD} and k3 like ${REVERSE}.`;
  }
}

customElements.define("grpo-estimators", Estimators);
