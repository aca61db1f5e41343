// <grpo-clip-curve>: the clipped surrogate over the importance ratio, for a good and for a bad sample (catalogue W15).
import { binds, clippedTerm } from "../core/grpo.mjs";
import { clipped } from "../core/loss.mjs";
import { slider } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const RATIOS = range(0.4, 1.8, 0.01);
const CORNERS = [0.5, 1, 1.5];

class ClipCurve extends Explorable {
  static controls = {
    ratio: { control: slider, label: "Ratio ρ", values: RATIOS, initial: 1.5, show: (ratio) => fixed(ratio) },
    eps: { control: slider, label: "Clip range ε", values: range(0, 0.6, 0.05), initial: 0.2, show: (eps) => fixed(eps) },
    a: { control: picks, label: "Advantage", options: [["1", "A = +1, good"], ["-1", "A = −1, bad"]], initial: "1" },
  };
  static examples = {
    "Good, too likely": { ratio: 1.5, eps: 0.2, a: "1" },
    "Bad, too likely": { ratio: 1.5, eps: 0.2, a: "-1" },
    "Good, too unlikely": { ratio: 0.5, eps: 0.2, a: "1" },
    "Bad, too unlikely": { ratio: 0.5, eps: 0.2, a: "-1" },
  };
  static guess = {
    ask: "A bad sample (A = −1) has become half as likely: ρ = 0.5. What is its surrogate with ε = 0.2?",
    of: this.examples["Bad, too unlikely"], values: range(-2, 2, 0.05),
    truth: ({ state: { ratio, a, eps } }) => clippedTerm(ratio, Number(a), eps),
  };

  build() {
    const x = { low: 0.4, high: 1.8, ticks: range(0.4, 1.8, 0.2), name: "ratio ρ (dashed: without the clip)" };
    this.chart = curveChart({ x, hand: this.hand("ratio") });
    this.table = table({
      caption: "The surrogate, here and elsewhere",
      columns: ["ρ", "ρA", "clip(ρ) A", "surrogate", "gradient"],
    });
    return [this.chart.node, this.table.node];
  }

  draw({ ratio, eps, a }) {
    const advantage = Number(a);
    const value = (at) => clippedTerm(at, advantage, eps);
    const drawn = [0, 2 * advantage, ...this.guesses.map(({ value: guess }) => guess)];
    const ends = [Math.floor(2 * Math.min(...drawn)) / 2, Math.ceil(2 * Math.max(...drawn)) / 2];
    this.chart.draw({
      y: { low: ends[0], high: ends[1], ticks: range(ends[0], ends[1], 0.5), name: "surrogate" },
      curves: [
        { style: "line-second", points: RATIOS.map((at) => [at, at * advantage]) },
        { style: advantage > 0 ? "line-up" : "line-down", points: RATIOS.map((at) => [at, value(at)]) },
      ],
      marks: [{ at: 1 - eps, text: "" }, { at: 1 + eps, text: "band" }],
      dots: [{ x: ratio, y: value(ratio), text: signed(value(ratio)), below: value(ratio) < ratio * advantage || ratio > 1.1 === advantage < 0 }],
      guesses: this.guesses.map(({ value: guess, text }) => ({ x: ratio, y: guess, text })),
    });
    this.table.fill([...CORNERS, ratio].map((at, i) => [
      `${fixed(at)}${i === CORNERS.length ? " (yours)" : ""}`, signed(at * advantage),
      signed(clipped(at, eps) * advantage), signed(value(at)),
      binds(at, advantage, eps) ? "0" : signed(advantage, 0),
    ]));
  }

  lesson({ ratio, eps, a }) {
    const push = a === "1" ? "up" : "down";
    if (binds(ratio, Number(a), eps)) return `Gradient off: the clip binds. This sample has moved ${push} far enough.`;
    const outside = ratio > 1 + eps || ratio < 1 - eps;
    const why = outside ? ", though the ratio is outside the band: it went the wrong way" : "";
    return `Gradient on${why}. The update pushes this sample ${push}.`;
  }
}

customElements.define("grpo-clip-curve", ClipCurve);
