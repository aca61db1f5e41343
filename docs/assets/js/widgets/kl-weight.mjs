// <grpo-kl-weight>: what the KL penalty adds to the loss of one token, with k3 and with k1 (catalogue W16).
import { klEstimates, tokenLoss } from "../core/loss.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { legendItem } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const TOKEN = { old: 0.3, ref: 0.28, advantage: Math.sqrt(5 / 3) }; // the token of the worked example
const PROBABILITIES = range(0.01, 0.99, 0.01);

class KlWeight extends Explorable {
  static source = `${COMPUTED} The probabilities are made up.`;
  static controls = {
    beta: { control: slider, label: "KL weight β", values: range(0, 0.5, 0.01), initial: 0.04, show: (beta) => fixed(beta) },
    now: { control: slider, label: "π_θ of the token", values: PROBABILITIES, initial: 0.45, show: (p) => fixed(p) },
  };
  static examples = {
    "No penalty": { beta: 0, now: 0.45 },
    "Strong penalty": { beta: 0.5, now: 0.45 },
    "Far above the reference": { beta: 0.04, now: 0.95 },
    "Far below the reference": { beta: 0.04, now: 0.02 },
  };

  build() {
    this.chart = curveChart({
      x: { low: 0, high: 1, ticks: range(0, 1, 0.2), name: "π_θ of the token" },
      y: { low: -2, high: 1, ticks: range(-2, 1, 0.5), name: "loss of the token" },
    });
    this.table = table({ caption: "The parts of the loss", columns: ["Part", "with k3", "with k1"] });
    const legend = element("div", { class: "grpo-legend" }, legendItem("line-first", "loss with k3"),
      legendItem("line-second", "loss with k1"), legendItem("line-third", "without KL"));
    return [legend, this.chart.node, this.table.node];
  }

  parts({ beta, now }) {
    const { surrogate, k1, k3 } = tokenLoss({ ...TOKEN, now });
    return { surrogate, k1, k3, loss3: beta * k3 - surrogate, loss1: beta * k1 - surrogate };
  }

  draw({ beta, now }) {
    const curve = (style, name, weight = beta) =>
      ({ style, points: PROBABILITIES.map((p) => [p, this.parts({ beta: weight, now: p })[name]]) });
    const { surrogate, k1, k3, loss3, loss1 } = this.parts({ beta, now });
    this.chart.draw({
      curves: [curve("line-third", "loss3", 0), curve("line-second", "loss1"), curve("line-first", "loss3")],
      marks: [{ at: TOKEN.ref, text: "π_ref" }],
      dots: [{ x: now, y: loss3, text: signed(loss3) }],
    });
    const cell = (x, style) => barCell(signed(x, 4), Math.abs(x) / 2, style);
    this.table.fill([
      ["− surrogate", cell(-surrogate), signed(-surrogate, 4)],
      ["estimate of the KL", signed(k3, 4), signed(k1, 4)],
      ["β · estimate", cell(beta * k3, "second"), signed(beta * k1, 4)],
      ["loss", cell(loss3), signed(loss1, 4)],
    ]);
  }

  lesson({ beta, now }) {
    const { surrogate } = this.parts({ beta, now });
    const { k1, k3 } = klEstimates(now, TOKEN.ref);
    if (beta === 0) return "Without a penalty the distance from the reference costs nothing.";
    const negative = k1 < 0 ? " k1 is negative: for this one sample it would pay for the drift." : "";
    return `The penalty is ${fixed(beta * k3, 4)}: ${percent((beta * k3) / surrogate, 2)} of the surrogate.${negative}`;
  }
}

customElements.define("grpo-kl-weight", KlWeight);
