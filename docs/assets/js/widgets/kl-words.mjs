// <grpo-kl-words>: the two directions of the KL divergence, with sliders for the probabilities of words (catalogue W21).
import { klDivergence } from "../core/grpo.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const REFERENCE = { tea: 0.4, coffee: 0.3, water: 0.15, milk: 0.1, soup: 0.05 };
const WORDS = Object.keys(REFERENCE);
const REF = Object.values(REFERENCE).map(Math.log);
const weight = (word, initial) => ({ control: slider, label: word, values: range(1, 100, 1), initial });

class KlWords extends Explorable {
  static source = `${COMPUTED} The probabilities are made up.`;
  static controls = Object.fromEntries(WORDS.map((word, i) => [word, weight(word, [20, 60, 10, 5, 5][i])]));
  static examples = {
    "As the reference": { tea: 40, coffee: 30, water: 15, milk: 10, soup: 5 },
    "Nearly only coffee": { tea: 1, coffee: 96, water: 1, milk: 1, soup: 1 },
    "Never soup": { tea: 42, coffee: 31, water: 16, milk: 10, soup: 1 },
    "Much more soup": { tea: 20, coffee: 15, water: 10, milk: 5, soup: 50 },
  };

  build() {
    this.table = table({
      caption: "“I would like a cup of …”",
      columns: ["Word", "π_ref, then π", "in KL(π ‖ π_ref)", "in KL(π_ref ‖ π)"],
    });
    return [this.table.node];
  }

  /** Log-probabilities of the weights. */
  policy(state) {
    const total = WORDS.reduce((sum, word) => sum + state[word], 0);
    return WORDS.map((word) => Math.log(state[word] / total));
  }

  draw(state) {
    const logp = this.policy(state);
    const part = (one, other) => signed(Math.exp(one) * (one - other), 3);
    this.table.fill([
      ...WORDS.map((word, i) => [word,
        element("span", {}, barCell(percent(REFERENCE[word]), REFERENCE[word], "reference"),
          barCell(percent(Math.exp(logp[i])), Math.exp(logp[i]))),
        part(logp[i], REF[i]), part(REF[i], logp[i])]),
      ["sum", "", fixed(klDivergence(logp, REF), 3), fixed(klDivergence(REF, logp), 3)],
    ]);
  }

  lesson(state) {
    const logp = this.policy(state);
    const [kl, reverse] = [klDivergence(logp, REF), klDivergence(REF, logp)];
    if (kl < 1e-9) return "Equal probabilities: both divergences are 0.";
    const [one, other, more] = kl > reverse ? [logp, REF, "more"] : [REF, logp, "less"];
    const parts = one.map((x, j) => Math.exp(x) * (x - other[j]));
    const word = WORDS[parts.indexOf(Math.max(...parts))];
    return `KL(π ‖ π_ref) = ${fixed(kl, 3)} nats, KL(π_ref ‖ π) = ${fixed(reverse, 3)} nats. ` +
      `The largest part of the larger one comes from “${word}”, which the policy says ${more} often than the reference.`;
  }
}

customElements.define("grpo-kl-words", KlWords);
