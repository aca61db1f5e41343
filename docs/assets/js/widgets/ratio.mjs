// <grpo-ratio>: how two probabilities of a token make a ratio, and what the clip makes of it (catalogue W14).
import { binds, clippedTerm } from "../core/grpo.mjs";
import { clipped } from "../core/loss.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { slider } from "../ui/controls.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const EPS = 0.2;
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
    "A rare token": { old: 0.01, now: 0.03 },
    "A common token": { old: 0.8, now: 0.95 },
  };

  build() {
    this.ratio = table({ caption: "The importance ratio", columns: ["Quantity", "Value"] });
    this.clip = table({
      caption: "After the clip (ε = 0.2)",
      columns: ["A", "ρA", "clip(ρ) A", "surrogate", "gradient"],
    });
    return [this.ratio.node, this.clip.node];
  }

  draw({ old, now }) {
    const ratio = now / old;
    this.ratio.fill([
      ["π_old", barCell(fixed(old), old, "old")],
      ["π_θ", barCell(fixed(now), now)],
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
  }

  lesson({ old, now }) {
    const ratio = now / old;
    const where = ratio > 1 + EPS ? "above the band: the clip binds if A is positive" :
      ratio < 1 - EPS ? "below the band: the clip binds if A is negative" : "inside the band: the clip does nothing";
    return `The policy now makes this token ${fixed(ratio)} times as likely as when it was drawn. That is ${where}.`;
  }
}

customElements.define("grpo-ratio", Ratio);
