// <grpo-estimators>: k1, k2 and k3 as a loss and as a value, beside both directions of the KL divergence, by enumeration of
// three actions (catalogue B02).
import { estimatorGradient, estimatorValue, klGradient, reverseKlGradient } from "../core/estimators.mjs";
import { klDivergence, logSoftmax } from "../core/grpo.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const REF = [0.5, 0.3, 0.2].map(Math.log);
const TOWARDS = [1, 0, -1]; // the policy moves from the last action to the first
const KINDS = ["k1", "k2", "k3"];
const [FORWARD, REVERSE] = ["KL(π ‖ π_ref)", "KL(π_ref ‖ π)"];
const HEIGHT = 420; // of two panels, one below the other; where they fit side by side, styles make it less
const [HEAD, ROW, NAME] = [74, 36, 30]; // pixels: title and names of the lines, a row, its name

/** Name: { mean, std, gradient } of the two divergences and of the three estimators, for a policy that drifted. */
function all(drift) {
  const logp = logSoftmax(REF.map((x, j) => x + drift * TOWARDS[j]));
  const estimates = KINDS.map((kind) =>
    [kind, { ...estimatorValue(kind, logp, REF), gradient: estimatorGradient(kind, logp, REF) }]);
  return { logp, found: {
    [FORWARD]: { mean: klDivergence(logp, REF), gradient: klGradient(logp, REF) },
    [REVERSE]: { mean: klDivergence(REF, logp), gradient: reverseKlGradient(logp, REF) },
    ...Object.fromEntries(estimates),
  } };
}

class Estimators extends Explorable {
  static controls = {
    drift: { control: slider, label: "Drift of the policy", values: range(-2, 2, 0.1), initial: 1, show: (drift) => signed(drift, 1) },
  };
  static examples = { "Hardly moved": { drift: 0.1 }, "Far away": { drift: 2 } };

  build() {
    this.chart = chart(HEIGHT, (width, height) => this.paint(width, height));
    this.table = table({
      caption: "Mean value, std of one sample, and mean gradient in the three logits",
      columns: ["Quantity", "mean", "std", "logit 1", "logit 2", "logit 3"],
    });
    return [this.chart.node, this.table.node];
  }

  draw({ drift }) {
    Object.assign(this, all(drift));
    this.table.fill(Object.entries(this.found).map(([name, { mean, std, gradient }]) =>
      [name, fixed(mean, 3), fixed(std, 3), ...gradient.map((x) => signed(x, 3))]));
    this.chart.redraw();
  }

  paint(width, height) {
    const beside = height < 0.8 * HEIGHT;
    const wide = beside ? (width - 30) / 2 : width;
    const pull = ({ gradient }) => Math.sign(this.state.drift) * gradient.reduce((total, x, j) => total + x * TOWARDS[j], 0);
    const mean = ({ mean }) => mean;
    return [
      this.panel("As a loss: pull to the reference", { left: 0, top: 0, wide, most: 1.1, value: pull, lines: [FORWARD, REVERSE] }),
      this.panel("As a value: mean ± std",
        { left: beside ? wide + 30 : 0, top: beside ? 0 : height / 2, wide, most: 1.3, value: mean, lines: [FORWARD] }),
    ].flat();
  }

  /** A bar for each estimator, and the divergences as lines across all bars. */
  panel(title, { left, top, wide, most, value, lines }) {
    const inside = scale(0, most, left + NAME, left + wide - 4);
    const x = (amount) => inside(Math.min(most, Math.max(0, amount)));
    const foot = top + HEAD + ROW * KINDS.length;
    const isLoss = lines.length > 1;
    const bar = (kind, i) => {
      const [y, amount, { std }] = [top + HEAD + ROW * i, value(this.found[kind]), this.found[kind]];
      const end = x(amount);
      const [far, edge] = [isLoss ? end : x(amount + std), left + wide - 4];
      const number = Math.abs(amount) >= 5e-4 ? fixed(amount, 3) : isLoss ? "0.000: no pull" : "0.000";
      return [
        words(left, y + 22, kind, { class: "name" }),
        element("rect", { x: x(0), y: y + 8, width: pixel(end - x(0)), height: 20, class: "bar" }),
        isLoss ? [] : element("line", { x1: pixel(x(amount - std)), x2: pixel(x(amount + std)), y1: y + 18, y2: y + 18, class: "spread" }),
        far < edge - 44 ? words(far + 6, y + 22, number, { class: "name" })
          : isLoss ? words(far - 6, y + 22, number, { class: "on", "text-anchor": "end" })
            : words(edge, y + 5, number, { class: "name", "text-anchor": "end" }),
      ].flat();
    };
    const across = (name, i) => {
      const at = x(value(this.found[name]));
      const [style, side] = [i ? "line-reference" : "axis", at > left + wide / 2 ? "end" : "start"];
      return [
        element("line", { x1: pixel(at), x2: pixel(at), y1: top + 30 + 18 * i, y2: foot, class: style }),
        words(at + (side === "end" ? -6 : 6), top + 42 + 18 * i, name, { "text-anchor": side }),
      ];
    };
    return [words(left, top + 14, title, { class: "name title" }), KINDS.map(bar), lines.map(across),
      element("line", { x1: x(0), x2: x(0), y1: top + HEAD, y2: foot, class: "axis" })].flat(2);
  }

  lesson({ drift }) {
    const policy = this.logp.map((x) => percent(Math.exp(x))).join(", ");
    if (drift === 0) return `Policy ${policy}, the same as the reference: all values and all gradients are 0.`;
    const off = this.found.k2.mean / this.found[FORWARD].mean - 1;
    return `Policy ${policy}; reference 50 %, 30 %, 20 %. As losses, k1 does nothing, k2 pulls like ${FORWARD} and k3 like ${REVERSE}. `
      + `As values, k1 and k3 are exact and k2 is off by ${percent(Math.abs(off))}.`;
  }
}

customElements.define("grpo-estimators", Estimators);
