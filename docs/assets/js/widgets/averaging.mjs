// <grpo-averaging>: three ways to average over tokens as strips of one mark a token: its length is the token's weight times
// advantage, so the ink of a strip is that of the whole completion (catalogue B03).
import { freshLoss, tokenWeights } from "../core/averaging.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { mark } from "../ui/mark.mjs";
import { table } from "../ui/table.mjs";

const LIMIT = 20; // the constant length: the most tokens that a completion may have
const ADVANTAGES = [1, 1, -1, -1]; // of the rewards 1, 1, 0, 0
const NAMES = ["correct 1", "correct 2", "wrong 1", "wrong 2"];
const FIRST = [4, 10, 4, 20];
const WAYS = ["sequence", "token", "constant"];
const COLUMNS = ["Completion", "by sequence", "by token", "by constant"];
const HEIGHT = 416;
const HEAD = 30; // above the first row
const FOOT = 20; // below the last one
const TITLE = 20; // of a row
const LABEL = 20; // above the marks and below them
const GAP = 14; // between two completions
const NARROWEST = 4; // tokens, so that a number has room
const all = (lengths) => Object.fromEntries(lengths.map((n, i) => [`n${i + 1}`, n]));
const length = (i) =>
  ({ control: slider, label: `Tokens of ${NAMES[i]}`, values: range(1, LIMIT, 1), initial: FIRST[i] });

class Averaging extends Explorable {
  static controls = all(FIRST.map((_, i) => length(i)));
  static examples = {
    "Long and wrong": all(FIRST),
    "Long and correct": all([4, 20, 4, 10]),
    "All alike": all([8, 8, 8, 8]),
  };
  static guess = {
    ask: "Two wrong answers have 4 and 20 tokens. By sequence, how many times as hard is a token of the short one pushed down?",
    of: this.examples["Long and wrong"], values: range(0, 10, 0.25), truth: ({ pushes: [sequence] }) => sequence[2] / sequence[3],
  };

  build() {
    this.chart = chart(HEIGHT, (width) => this.paint(width));
    this.single = table({ caption: "Push of each token, up if correct and down if wrong", columns: COLUMNS });
    this.whole = table({ caption: "Push of the whole completion", columns: COLUMNS });
    return [this.chart.node, this.single.node, this.whole.node];
  }

  draw(state) {
    this.lengths = FIRST.map((_, i) => state[`n${i + 1}`]);
    const weights = tokenWeights(this.lengths, { limit: LIMIT });
    this.pushes = WAYS.map((way) => ADVANTAGES.map((a, i) => a * weights[way][i]));
    const rows = (times) => NAMES.map((name, i) => [name, ...this.pushes.map((push) => signed(push[i] * times[i], 4))]);
    this.single.fill(rows([1, 1, 1, 1]));
    const losses = WAYS.map((way) => fixed(freshLoss(weights[way], this.lengths, ADVANTAGES), 4));
    this.whole.fill([...rows(this.lengths), ["fresh loss", ...losses]]);
    this.chart.redraw();
  }

  paint(width) {
    const strips = places(this.lengths, width);
    const most = this.pushes.map((push) => Math.max(...push.map(Math.abs)));
    const room = HEIGHT - HEAD - FOOT - WAYS.length * (TITLE + 2 * LABEL);
    const high = scale(0, 2 * most.reduce((total, x) => total + x), 0, room);
    let top = HEAD;
    const rows = this.pushes.map((push, w) => {
      const line = top + TITLE + LABEL + high(most[w]);
      const marks = [
        words(0, top + 14, `By ${WAYS[w]}`, { class: "name title" }),
        words(width, top + 14, this.rule(WAYS[w]), { class: "soft", "text-anchor": "end" }),
        element("line", { x1: 0, x2: width, y1: pixel(line), y2: pixel(line), class: "grid" }),
        strips.map((strip, i) => drawn(strip, { push: push[i], line, high, tokens: this.lengths[i] })).flat(),
        w ? [] : this.guesses.flatMap(({ value, name }) => guessed(strips[2], line + high(value * Math.abs(push[3])), name)),
      ];
      top = line + high(most[w]) + LABEL;
      return marks.flat();
    });
    return [
      strips.map((strip, i) => heading(strip, { tokens: this.lengths[i], reward: Number(ADVANTAGES[i] > 0) })).flat(),
      rows.flat(),
      words(0, HEIGHT - 4, "Each number: all tokens of the completion together.", { class: "soft" }),
    ];
  }

  /** The weight that all have alike. */
  rule(way) {
    const tokens = { token: this.lengths.reduce((total, n) => total + n), constant: LIMIT * FIRST.length };
    return way === "sequence" ? `each completion weighs 1/${FIRST.length}` : `each token weighs 1/${tokens[way]}`;
  }

  lesson({ n3, n4 }) {
    const times = n3 === n4 ? "as hard as" : `${fixed(n3 / n4)} times as hard as`;
    return `By sequence, a token of wrong 2 (of ${n4}) is pushed down ${times} a token of wrong 1 (of ${n3}); `
      + "by token and by a constant they are pushed equally.";
  }
}

/** A guess of how far a token of the short wrong completion is pushed down. */
const guessed = ({ left, wide }, y, name) => [
  element("line", { x1: pixel(left - GAP / 2), x2: pixel(left + wide + GAP / 2), y1: pixel(y), y2: pixel(y), class: "guessed" }),
  words(left - GAP, y + 4, name, { class: "name", "text-anchor": "end" }),
];

/** Where each completion is drawn: { left, wide, cell }, the last for each token. */
function places(lengths, width) {
  const units = lengths.map((n) => Math.max(n, NARROWEST));
  const cell = (width - GAP * (lengths.length - 1)) / units.reduce((total, n) => total + n);
  let left = 0;
  return units.map((n) => {
    const place = { left, wide: n * cell, cell };
    left += place.wide + GAP;
    return place;
  });
}

/** The reward of a completion on its coin, and its length. */
function heading({ left, wide }, { tokens, reward }) {
  const length = tokens === 1 ? "1 token" : `${tokens} tokens`;
  const text = 7.2 * length.length < wide + GAP - 26 ? length : String(tokens);
  return [
    element("circle", { cx: pixel(left + 10), cy: 11, r: 9, class: reward ? "coin" : "dot" }),
    words(left + 10, 15.5, String(reward), { class: reward ? "on-coin" : "soft", "text-anchor": "middle" }),
    words(left + 24, 15.5, text, { class: "name" }),
  ];
}

/** The tokens of a completion on their line, and the number for all of them. */
function drawn({ left, wide, cell }, { push, line, high, tokens }) {
  const end = line - Math.sign(push) * high(Math.abs(push));
  const total = signed(push * tokens);
  const marks = Array.from({ length: tokens }, (_, t) =>
    mark({ middle: left + (t + 0.5) * cell, wide: Math.max(1.5, Math.min(14, cell - 1.5)), line, end }));
  if (7.2 * total.length > wide + GAP) return marks;
  return [...marks, words(left, end + (push > 0 ? -6 : 16), total, { class: "name" })];
}

customElements.define("grpo-averaging", Averaging);
