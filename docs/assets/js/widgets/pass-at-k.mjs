// <grpo-pass-at-k>: pass@k before and after training, over k: one shared choice between two ways of solving (catalogue B14).
import { passAtK, shares } from "../core/pass_at_k.mjs";
import { legendItem } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const STEPS = 400;
const DOUBLINGS = range(0, 10, 0.1); // k from 1 to 1,024
const SHOWN = [1, 2, 8, 64, 256, 1024];

class PassAtK extends Explorable {
  static source = `${COMPUTED} The problems and their probabilities are made up.`;
  static controls = {
    steps: { control: slider, label: "Steps of GRPO", values: range(0, STEPS, 20), initial: 200, show: String },
    beta: { control: slider, label: "KL weight β", values: [0, 0.02, 0.05, 0.1, 0.2, 0.5, 1], initial: 0, show: String },
    k: { control: slider, label: "Samples k", values: range(0, 10, 1).map((n) => 2 ** n), initial: 64, show: String },
  };
  static guess = {
    ask: "200 steps of GRPO raised pass@1. By how much did they change pass@64?",
    of: { steps: 200, beta: 0, k: 64 }, values: range(-0.5, 0.5, 0.01),
    truth: (figure) => {
      const { before, after } = figure.ways(figure.state);
      return passAtK(after, figure.state.k) - passAtK(before, figure.state.k);
    },
  };

  build() {
    const { to, end } = this.hand("k");
    this.chart = curveChart({
      hand: { to: (n) => to(2 ** n), end },
      x: { low: 0, high: 10, ticks: range(0, 8, 2), show: (n) => String(2 ** n), name: "k: samples per problem" },
      y: { low: 0, high: 1, ticks: range(0, 1, 0.2), name: "pass@k: one of k is right" },
    });
    const legend = element("div", { class: "grpo-legend" }, legendItem("line-second", "before"), legendItem("line-first", "after training"));
    this.table = table({ caption: "pass@k", columns: ["Policy", "first way", ...SHOWN.map((k) => `k = ${k}`)] });
    return [legend, this.chart.node, this.table.node];
  }

  /** How often the first way is taken: { before, after }. */
  ways({ steps, beta }) {
    this.known ??= {};
    const way = (this.known[beta] ??= shares({ steps: STEPS, klCoef: beta }));
    return { before: way[0], after: way[steps] };
  }

  draw(state) {
    const { before, after } = this.ways(state);
    const curve = (style, share) => ({ style, points: DOUBLINGS.map((n) => [n, passAtK(share, 2 ** n)]) });
    const now = passAtK(after, state.k);
    this.chart.draw({
      curves: [curve("line-second", before), curve("line-first", after)],
      dots: [{ x: Math.log2(state.k), y: now, text: fixed(now, 3) }],
      guesses: this.guesses.map(({ value, text }) => ({ x: Math.log2(state.k), y: passAtK(before, state.k) + value, text })),
    });
    this.table.fill([["before", before], ["after", after]].map(([name, share]) =>
      [name, percent(share), ...SHOWN.map((k) => fixed(passAtK(share, k), 3))]));
  }

  lesson({ steps, beta, k }) {
    const { before, after } = this.ways({ steps, beta });
    const [was, is] = [before, after].map((share) => passAtK(share, k));
    const word = Math.abs(is - was) < 5e-4 ? "as it was" : is > was ? "better than before" : "worse than before";
    return `After ${steps} steps the policy takes the first way ${percent(after)} of the time. With one sample ${fixed(passAtK(after, 1), 3)} `
      + `is solved (before: ${fixed(passAtK(before, 1), 3)}), with ${k} ${fixed(is, 3)} (before: ${fixed(was, 3)}): ${word}.`;
  }
}

customElements.define("grpo-pass-at-k", PassAtK);
