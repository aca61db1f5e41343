// <grpo-kl-weight>: what the KL penalty of one token costs beside what its surrogate earns, and the two estimates k3 and k1
// over its probability (catalogue W16).
import { klEstimates, tokenLoss } from "../core/loss.mjs";
import { chart, legendItem, pixel, scale, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { hatching } from "../ui/hatching.mjs";
import { table } from "../ui/table.mjs";

const TOKEN = { old: 0.3, ref: 0.28, advantage: Math.sqrt(5 / 3) }; // the token of the worked example
const STRIPS = 92; // high
const SHOWN = { low: -3, high: 3 };
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
    this.strips = chart(STRIPS, (width) => this.paint(width));
    this.chart = curveChart({
      hand: this.hand("now"),
      x: { low: 0, high: 1, ticks: range(0, 1, 0.2), name: "π_θ of the token" },
      y: { ...SHOWN, ticks: range(SHOWN.low, SHOWN.high, 1), digits: 0, name: "estimate of the KL in nats" },
    });
    this.table = table({ caption: "The parts of the loss", columns: ["Part", "with k3", "with k1"] });
    const legend = element("div", { class: "grpo-legend" }, legendItem("line-first", "k3, which the loss uses"),
      legendItem("line-second", "k1"));
    return [this.strips.node, legend, this.chart.node, this.table.node];
  }

  parts({ beta, now }) {
    const { surrogate, k1, k3 } = tokenLoss({ ...TOKEN, now });
    return { surrogate, k1, k3, loss3: beta * k3 - surrogate, loss1: beta * k1 - surrogate };
  }

  draw({ beta, now }) {
    const inside = (x) => x >= SHOWN.low && x <= SHOWN.high;
    const curve = (style, name) => ({ style, points: PROBABILITIES.map((p) => [p, klEstimates(p, TOKEN.ref)[name]])
      .map((point) => (inside(point[1]) ? point : null)) });
    const { surrogate, k1, k3, loss3, loss1 } = this.parts({ beta, now });
    this.chart.draw({
      curves: [curve("line-second", "k1"), curve("line-first", "k3")],
      marks: [{ at: TOKEN.ref, text: "π_ref" }],
      dots: [{ x: now, y: k1 }, { x: now, y: k3, text: inside(k3) ? "" : `↑ k3 ${fixed(k3)}` }],
    });
    this.table.fill([
      ["− surrogate", signed(-surrogate, 4), signed(-surrogate, 4)],
      ["estimate of the KL", signed(k3, 4), signed(k1, 4)],
      ["β · estimate", signed(beta * k3, 4), signed(beta * k1, 4)],
      ["loss", signed(loss3, 4), signed(loss1, 4)],
    ]);
    this.strips.redraw();
  }

  /** Two strips on one scale: what the token earns, and what its drift costs. */
  paint(width) {
    const { surrogate, k3 } = this.parts(this.state);
    const cost = this.state.beta * k3;
    const x = scale(0, Math.max(1.6, surrogate, cost), 0, width - 2);
    const strip = (y, value, style, name) => [
      words(0, y + 13, name, { class: "name" }),
      words(width, y + 13, fixed(value, 4), { class: "name", "text-anchor": "end" }),
      element("rect", { x: 1, y: y + 19, width: pixel(Math.max(1, x(value))), height: 18, rx: Math.min(4, x(value) / 2), class: style }),
    ];
    return [
      hatching("kl-weight"),
      strip(0, surrogate, "bar up", "surrogate, which pushes the token up"),
      strip(46, cost, "reference", `penalty β · k3 = ${fixed(this.state.beta)} · ${fixed(k3, 4)}`),
    ].flat();
  }

  lesson({ beta, now }) {
    const { surrogate } = this.parts({ beta, now });
    const { k1, k3 } = klEstimates(now, TOKEN.ref);
    if (beta === 0) return "Without a penalty, moving away from the reference costs nothing.";
    const negative = k1 < 0 ? " k1 is negative: for this one sample it would reward the drift." : "";
    return `The penalty is ${fixed(beta * k3, 4)}: ${percent((beta * k3) / surrogate, 2)} of the surrogate.${negative}`;
  }
}

customElements.define("grpo-kl-weight", KlWeight);
