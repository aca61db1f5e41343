// <grpo-kl-words>: the policy's bars over those of the reference, to be dragged, and what each word adds to the two
// directions of the KL divergence (catalogue W21).
import { klDivergence } from "../core/grpo.mjs";
import { klParts, withShare } from "../core/kl_words.mjs";
import { chart, scale, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { hatching } from "../ui/hatching.mjs";
import { draggable } from "../ui/pointed.mjs";
import { table } from "../ui/table.mjs";
import { NUMBER, column, key, pair } from "./kl-words/picture.mjs";

const REFERENCE = { tea: 0.4, coffee: 0.3, water: 0.15, milk: 0.1, soup: 0.05 };
const WORDS = Object.keys(REFERENCE);
const REF = Object.values(REFERENCE).map(Math.log);
const MOST = 101 - WORDS.length; // every word keeps 1 %
const DIRECTIONS = ["KL(π ‖ π_ref)", "KL(π_ref ‖ π)"];
const HEIGHT = 515; // with the parts below the bars; where they fit beside them, styles make it less
const TOP = 48; // of the first row
const NAME = 54; // wide
const share = (initial) =>
  ({ control: slider, values: range(1, MOST, 1), initial, show: (x) => percent(x / 100) });

class KlWords extends Explorable {
  static source = `${COMPUTED} The probabilities are made up.`;
  static controls = Object.fromEntries(WORDS.map((word, i) => [word, { label: word, ...share([20, 15, 10, 5, 50][i]) }]));
  static handles = WORDS;
  static examples = {
    "Much more soup": { tea: 20, coffee: 15, water: 10, milk: 5, soup: 50 },
    "Never soup": { tea: 42, coffee: 31, water: 16, milk: 10, soup: 1 },
    "Nearly only coffee": { tea: 1, coffee: 96, water: 1, milk: 1, soup: 1 },
    "Same as the reference": { tea: 40, coffee: 30, water: 15, milk: 10, soup: 5 },
  };
  static guess = {
    ask: "The policy says “soup” half of the time, the reference 5\u00a0% of the time. How large is KL(π ‖ π_ref)?",
    of: this.examples["Much more soup"], values: range(0, 3, 0.05), show: (kl) => `${fixed(kl)} nats`, truth: ({ sums }) => sums[0],
  };

  build() {
    this.chart = chart(HEIGHT, (width, height) => this.paint(width, height));
    this.table = table({
      caption: "“I would like a cup of …”",
      columns: ["Word", "π_ref", "π", "in KL(π ‖ π_ref)", "in KL(π_ref ‖ π)"],
    });
    this.drags();
    this.rest();
    return [this.chart.node, this.table.node];
  }

  /** The bars follow a pointer; the sliders do the same for keys. */
  drags() {
    let word;
    draggable(this.chart.node, {
      hold: ({ x, y }) => (word = x > this.bars.right ? undefined : WORDS[Math.floor((y - TOP) / this.bars.pitch)]),
      move: ({ x }) => {
        this.state[word] = Math.min(MOST, Math.max(1, Math.round(100 * this.bars.share(x))));
        this.follow(word);
        this.draw(this.state);
      },
      end: () => this.commit(),
    });
  }

  /** The other words share what a word leaves, as they did when the hand came. */
  follow(word) {
    const shares = withShare(this.rested, WORDS.indexOf(word), this.state[word]);
    WORDS.forEach((each, i) => {
      this.state[each] = shares[i];
      this.controls[each].set(shares[i]);
    });
  }

  rest() {
    this.rested = WORDS.map((word) => this.state[word]);
  }

  commit() {
    super.commit();
    this.rest();
  }

  /** Log-probabilities; an address may have shares that do not sum to 100. */
  policy(state) {
    const total = WORDS.reduce((sum, word) => sum + state[word], 0);
    return WORDS.map((word) => Math.log(state[word] / total));
  }

  draw(state) {
    const logp = this.policy(state);
    this.parts = [klParts(logp, REF), klParts(REF, logp)];
    this.sums = [klDivergence(logp, REF), klDivergence(REF, logp)];
    this.table.fill([
      ...WORDS.map((word, i) => [word, percent(REFERENCE[word]), percent(Math.exp(logp[i])),
        ...this.parts.map((part) => signed(part[i], 3))]),
      ["sum", percent(1), percent(1), ...this.sums.map((sum) => fixed(sum, 3))],
    ]);
    this.chart.redraw();
  }

  paint(width, height) {
    const beside = height < 0.8 * HEIGHT;
    const right = beside ? 0.46 * width : width;
    const pitch = beside ? 46 : 44;
    const x = scale(0, 1, NAME, Math.max(NAME, right - NUMBER));
    this.bars = { right, pitch, share: scale(NAME, right - NUMBER, 0, 1) };
    const top = beside ? TOP : TOP + pitch * WORDS.length + 48;
    const from = beside ? right + 16 : NAME;
    const wide = Math.max(0, width - from) / 2;
    const logp = this.policy(this.state);
    const all = [...this.parts.flat(), ...this.sums, ...this.guesses.map(({ value }) => value)];
    return [
      hatching("kl-words"),
      key(NAME, 4, "bar", "policy π: drag it"),
      key(NAME, 24, "reference", "reference π_ref"),
      WORDS.map((word, i) => pair(word, { now: Math.exp(logp[i]), ref: REFERENCE[word], x, y: TOP + i * pitch })).flat(),
      DIRECTIONS.map((name, d) => column({
        name, parts: this.parts[d], sum: this.sums[d], guesses: d ? [] : this.guesses, range: [Math.min(...all, 0), Math.max(...all, 0.2)],
        left: from + d * wide, wide: wide - 24, top, row: beside ? pitch : 26,
      })).flat(),
      beside ? [] : WORDS.map((word, i) => words(0, top + 26 * i + 18, word)),
    ].flat();
  }

  lesson(state) {
    const logp = this.policy(state);
    const [kl, reverse] = this.sums;
    if (kl < 1e-9) return "Equal probabilities: both divergences are 0.";
    const parts = this.parts[Number(kl < reverse)];
    const place = parts.indexOf(Math.max(...parts));
    return `${DIRECTIONS[0]} = ${fixed(kl, 3)}, ${DIRECTIONS[1]} = ${fixed(reverse, 3)} nats. The larger one comes `
      + `mostly from “${WORDS[place]}”, which the policy says ${logp[place] > REF[place] ? "more" : "less"} often.`;
  }
}

customElements.define("grpo-kl-words", KlWords);
