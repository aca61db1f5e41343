// <grpo-ratio>: two probabilities of a token, to be dragged, and their ratio on an axis of factors, on which half as likely is
// as far from 1 as twice as likely, with the clip's band (catalogue W14).
import { binds, clippedTerm } from "../core/grpo.mjs";
import { clipped } from "../core/loss.mjs";
import { arrow } from "../ui/arrow.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { draggable } from "../ui/pointed.mjs";
import { table } from "../ui/table.mjs";

const EPS = 0.2;
const FACTORS = [[1 / 8, "1/8"], [1 / 4, "1/4"], [1 / 2, "1/2"], [1, "1"], [2, "2"], [4, "4"], [8, "8"]];
const MOST = Math.log(11); // of the axis, each way; what lies beyond is drawn at its end
const HEIGHT = 232;
const [SHARES, RATIOS] = [58, 176]; // heights of the two axes
const probability = { control: slider, values: range(0.01, 0.99, 0.01), show: (p) => fixed(p) };

class Ratio extends Explorable {
  static source = `${COMPUTED} The probabilities are made up.`;
  static controls = {
    old: { ...probability, label: "π_old, when it was drawn", initial: 0.3 },
    now: { ...probability, label: "π_θ, now", initial: 0.45 },
  };
  static examples = {
    "Before the first update": { old: 0.3, now: 0.3 },
    "Half as likely": { old: 0.3, now: 0.15 },
    "Twice as likely": { old: 0.3, now: 0.6 },
    "A rare token": { old: 0.01, now: 0.03 },
    "A common token": { old: 0.8, now: 0.95 },
  };

  build() {
    this.chart = chart(HEIGHT, (width) => this.paint(width));
    this.drags();
    this.ratio = table({ caption: "The importance ratio", columns: ["Quantity", "Value"] });
    this.clip = table({
      caption: "After the clip (ε = 0.2)",
      columns: ["A", "ρA", "clip(ρ) A", "surrogate", "gradient"],
    });
    return [this.chart.node, this.ratio.node, this.clip.node];
  }

  /** The nearer of the two probabilities follows a pointer on their axis. */
  drags() {
    const hands = { old: this.hand("old"), now: this.hand("now") };
    let held;
    const hold = ({ x, y }) => {
      const away = (name) => Math.abs(this.share(this.state[name]) - x);
      held = away("old") < away("now") ? "old" : "now";
      return y < SHARES + 40;
    };
    draggable(this.chart.node, { hold, move: ({ x }) => hands[held].to(this.share.back(x)), end: () => hands[held].end() });
    this.chart.node.classList.add("grpo-drags");
  }

  draw({ old, now }) {
    const ratio = now / old;
    this.ratio.fill([
      ["π_old", fixed(old)],
      ["π_θ", fixed(now)],
      ["ρ = π_θ / π_old", fixed(ratio, 3)],
      ["log ρ = log π_θ − log π_old", signed(Math.log(ratio), 3)],
    ]);
    this.clip.fill([1, -1].map((advantage) => [
      signed(advantage, 0),
      signed(ratio * advantage, 3),
      signed(clipped(ratio, EPS) * advantage, 3),
      signed(clippedTerm(ratio, advantage, EPS), 3),
      binds(ratio, advantage, EPS) ? "0: the clip binds" : signed(advantage, 0),
    ]));
    this.chart.redraw();
  }

  paint(width) {
    const { old, now } = this.state;
    const [left, right] = [14, width - 14];
    this.share = Object.assign(scale(0, 1, left, right), { back: scale(left, right, 0, 1) });
    const factor = scale(-MOST, MOST, left, right);
    const x = (ratio) => factor(Math.min(MOST, Math.max(-MOST, Math.log(ratio))));
    const axis = (y, ticks) => [
      element("line", { x1: left, x2: right, y1: y, y2: y, class: "axis" }),
      ticks.flatMap(([at, text]) => [element("line", { x1: pixel(at), x2: pixel(at), y1: y - 4, y2: y + 4, class: "axis" }),
        words(at, y + 24, text, { "text-anchor": "middle" })]),
    ].flat();
    const named = (at, y, text) => words(Math.min(right - 26, Math.max(left + 26, at)), y, text, { class: "name", "text-anchor": "middle" });
    const band = [1 - EPS, 1 + EPS].map(x);
    return [
      words(0, 13, "probability of the token: drag it", { class: "soft" }),
      axis(SHARES, range(0, 1, 0.25).map((p) => [this.share(p), fixed(p)])),
      arrow({ x: this.share(old), y: SHARES }, { x: this.share(now) - 8 * Math.sign(now - old), y: SHARES }),
      element("circle", { cx: pixel(this.share(old)), cy: SHARES, r: 7, class: "dot guessed" }),
      element("circle", { cx: pixel(this.share(now)), cy: SHARES, r: 7, class: "dot handle" }),
      named(this.share(old), SHARES + 42, `π_old ${fixed(old)}`),
      named(this.share(now), SHARES - 14, `π_θ ${fixed(now)}`),
      words(0, RATIOS - 44, "ratio ρ, by factors", { class: "soft" }),
      element("rect", { x: pixel(band[0]), width: pixel(band[1] - band[0]), y: RATIOS - 26, height: 52, class: "pale" }),
      axis(RATIOS, FACTORS.map(([ratio, text]) => [x(ratio), text])),
      arrow({ x: x(1), y: RATIOS }, { x: x(now / old), y: RATIOS }, { wide: 5 }),
      named(x(now / old), RATIOS - 14, `ρ = ${fixed(now / old)}`),
      words(left, RATIOS + 50, "A < 0: clip binds", { class: "soft" }),
      words(x(1), RATIOS + 50, "band", { class: "soft", "text-anchor": "middle" }),
      words(right, RATIOS + 50, "A > 0: clip binds", { class: "soft", "text-anchor": "end" }),
    ].flat();
  }

  lesson({ old, now }) {
    const ratio = now / old;
    const where = ratio > 1 + EPS ? "above the band: the clip binds if A is positive" :
      ratio < 1 - EPS ? "below the band: the clip binds if A is negative" : "inside the band: the clip does nothing";
    return `The policy now makes this token ${fixed(ratio)} times as likely as when it was drawn. That is ${where}.`;
  }
}

customElements.define("grpo-ratio", Ratio);
