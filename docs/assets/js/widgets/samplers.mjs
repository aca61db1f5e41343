// <grpo-samplers>: how the KL between a sampler and the trainer is spread over the tokens, measured and if the logarithms of
// the weights were normal (catalogue B20).
import { RUNS, SHARES } from "../../runs/samplers.mjs";
import { legendItem } from "../ui/chart.mjs";
import { choice } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const TENTH = SHARES.indexOf(0.1);
const WAYS = [["line-first", "measured"], ["line-second", "if normal"]];

class Samplers extends Explorable {
  static source = recorded("SmolLM2's own tokens, scored by the trainer.");
  static controls = {
    run: { control: choice, label: "Sampler", options: RUNS.map(([name]) => [name, name]), initial: RUNS[0][0] },
  };
  static guess = {
    ask: "A sampler in bfloat16: which part of the KL do the tenth of the tokens with the largest differences carry?",
    of: { run: RUNS[0][0] }, values: range(0, 1, 0.02), show: (x) => percent(x), truth: ({ seen }) => seen[2][TENTH],
  };

  build() {
    this.chart = curveChart({
      x: { low: 0, high: 1, ticks: range(0, 1, 0.2), name: "share of the tokens, largest difference first" },
      y: { low: 0, high: 1, ticks: range(0, 1, 0.25), digits: 2, name: "part of the KL that they carry" },
    });
    this.kl = table({ caption: "Part of the KL", columns: ["Tokens", ...WAYS.map(([, name]) => name)] });
    this.products = table({ caption: "Weights of whole completions", columns: ["What", ...WAYS.map(([, name]) => name)] });
    return [element("p", { class: "grpo-legend" }, WAYS.map(([style, name]) => legendItem(style, name))),
      this.chart.node, this.kl.node, this.products.node];
  }

  draw({ run }) {
    this.seen = RUNS.find(([name]) => name === run);
    const [, , ...carried] = this.seen;
    this.chart.draw({
      curves: WAYS.map(([style], way) => ({ style, points: SHARES.map((share, i) => [share, carried[way][i]]) })),
      dots: [{ x: 0.1, y: carried[0][TENTH], text: percent(carried[0][TENTH]), below: true }],
      guesses: this.guesses.map(({ value, text }) => ({ x: 0.1, y: value, text })),
    });
    this.kl.fill(SHARES.slice(1).map((share, i) => [percent(share), ...[0, 1].map((way) => percent(carried[way][i + 1], 1))]));
    const [, dropped, effective] = carried[2];
    this.products.fill([["product above 3", dropped, carried[3][0]], ["effective share of the samples", effective, carried[3][1]]]
      .map(([what, ...both]) => [what, ...both.map((x) => percent(x, 1))]));
  }

  lesson() {
    const [name, kl, , , [tokens, dropped], [normal]] = this.seen;
    return `${name}: the KL per token is ${kl.toPrecision(2)}. Over ${fixed(tokens, 0)} tokens, the product is above 3 in ${percent(dropped, 1)} `
      + `of the completions; normal logarithms with this KL would give ${percent(normal, 1)}.`;
  }
}

customElements.define("grpo-samplers", Samplers);
