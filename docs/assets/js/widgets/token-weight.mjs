// <grpo-token-weight>: which tokens a method still learns from: the weight of a token's gradient over its ratio, beside that
// of GRPO (catalogue B11).
import { METHODS } from "../core/token_weight.mjs";
import { legendItem } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const MOST = 6;
const RATIOS = range(0, MOST, 0.01);
const SHOWN = [0.5, 1, 1.25, 1.5, 3, 6];
const NAMES = Object.keys(METHODS);

class TokenWeight extends Explorable {
  static controls = {
    method: { control: picks, label: "Method", options: NAMES.map((name) => [name, name]), initial: "CISPO" },
    a: { control: picks, label: "Advantage", options: [["1", "A > 0, good"], ["-1", "A < 0, bad"]], initial: "1" },
    ratio: { control: slider, label: "Ratio ρ", values: range(0.05, MOST, 0.05), initial: 1.5, show: (ratio) => fixed(ratio) },
  };
  static guess = {
    ask: "A good token has become three times as likely (ρ = 3). How many times A reaches the gradient with CISPO?",
    of: { method: "CISPO", a: "1", ratio: 3 }, values: range(0, MOST, 0.1),
    truth: ({ state: { method, a, ratio } }) => METHODS[method](ratio, Number(a)),
  };

  build() {
    this.chart = curveChart({
      hand: this.hand("ratio"),
      x: { low: 0, high: MOST, ticks: range(0, MOST, 1), digits: 0, name: "ratio ρ: how much more likely the token is now" },
      y: { low: 0, high: MOST, ticks: range(0, MOST, 1), digits: 0, name: "share of A that reaches the gradient" },
    });
    this.own = element("span");
    const legend = element("div", { class: "grpo-legend" }, legendItem("line-first", this.own), legendItem("line-second", "GRPO"));
    this.table = table({ caption: "The share of A, by the ratio", columns: ["Method", ...SHOWN.map((ratio) => `ρ = ${ratio}`)] });
    return [legend, this.chart.node, this.table.node];
  }

  draw({ method, a, ratio }) {
    const advantage = Number(a);
    const curve = (style, name) => ({ style, points: pieces(METHODS[name], advantage) });
    const weight = METHODS[method](ratio, advantage);
    this.own.textContent = method;
    this.chart.draw({
      curves: [curve("line-second", "GRPO"), curve("line-first", method)],
      marks: [{ at: 1, text: "not moved" }],
      dots: [{ x: ratio, y: weight, text: fixed(weight) }],
      guesses: this.guesses.map(({ value, text }) => ({ x: ratio, y: value, text })),
    });
    this.table.fill(NAMES.map((name) => [name, ...SHOWN.map((at) => shown(METHODS[name](at, advantage)))]));
  }

  lesson({ method, a, ratio }) {
    const advantage = Number(a);
    const [own, usual] = [method, "GRPO"].map((name) => METHODS[name](ratio, advantage));
    const push = advantage > 0 ? "good" : "bad";
    const says = (weight) => (weight === 0 ? "nothing" : `${fixed(weight)} times its advantage`);
    const beside = method === "GRPO" ? "" : ` With GRPO it contributes ${says(usual)}.`;
    return `At ratio ${fixed(ratio)}, a ${push} token contributes ${says(own)} to the gradient.${beside}`;
  }
}

/** The curve, broken where the weight jumps to 0. */
function pieces(weight, advantage) {
  return RATIOS.flatMap((ratio, i) => {
    const value = weight(ratio, advantage);
    const jumps = i > 0 && (value === 0) !== (weight(RATIOS[i - 1], advantage) === 0) && i > 1;
    return jumps ? [null, [ratio, value]] : [[ratio, value]];
  });
}

const shown = (weight) => (weight === 0 ? "0" : fixed(weight, 3));

customElements.define("grpo-token-weight", TokenWeight);
