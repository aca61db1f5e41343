// <grpo-reward-hacking>: eight answers as cards, ranked by what is paid, beside the ranks that were meant (catalogue W07).
import { accuracy, form, overpaid, ranks, trueSteps } from "../core/answer_reward.mjs";
import { groupAdvantages } from "../core/grpo.mjs";
import { chart, pixel, words } from "../ui/chart.mjs";
import { choice } from "../ui/controls.mjs";
import { block } from "../ui/eight.mjs";
import { element } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { isStill } from "../ui/moving.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

/** What each answer says, and what it was worth to those who wrote the reward: 2 worked out, 1 right all the same, 0 wrong. */
const SAMPLES = {
  "A, sound": ["3 × 4 = 12, 2 + 12 = 14. Answer: 14", 2],
  "B, false steps": ["2 + 3 = 7, 7 × 4 = 14. Answer: 14", 1],
  "C, bare guess": ["14", 1],
  "D, idle steps": ["1 + 1 = 2, 2 + 2 = 4. Answer: 14", 1],
  "E, wrong": ["2 + 3 = 5, 5 × 4 = 20. Answer: 20", 0],
  "F, wrong": ["20", 0],
  "G, wrong": ["3 × 4 = 11, 2 + 11 = 13. Answer: 13", 0],
  "H, wrong": ["9", 0],
};
const NAMES = Object.keys(SAMPLES);
const [TEXTS, WORTH] = [0, 1].map((part) => NAMES.map((name) => SAMPLES[name][part]));
const TERMS = { none: () => 0, form, steps: trueSteps };
const NARROW = 520; // pixels, below which a card has two lines
const HEAD = 24; // above the first card
const GAP = 9; // between two shelves

class RewardHacking extends Explorable {
  static controls = {
    rival: {
      control: picks, label: "Compare A with:", initial: "B", options: NAMES.slice(1, 4).map((name) => [name[0], name]),
    },
    term: {
      control: choice, label: "Pay up to 0.5 more for", initial: "none",
      options: [["none", "nothing"], ["form", "the form \u201cAnswer: number\u201d"], ["steps", "true steps"]],
    },
  };

  build() {
    this.chart = chart(HEAD + 8 * 35 + 4 * GAP, (width) => this.paint(width));
    this.table = table({ caption: "A group of eight answers to 2 + 3 × 4 = ?",
      columns: ["sample", "text", "reward", "advantage", "rank", "rank meant"] });
    return [this.chart.node, this.table.node];
  }

  draw({ term }) {
    const outcomes = TEXTS.map((text) => accuracy(text, 14));
    const extras = TEXTS.map((text) => 0.5 * TERMS[term](text));
    this.rewards = outcomes.map((outcome, i) => outcome + extras[i]);
    this.advantages = groupAdvantages(this.rewards).advantages;
    const [paid, meant] = [this.rewards, WORTH].map(ranks);
    this.table.fill(NAMES.map((name, i) => [name, TEXTS[i], `${outcomes[i]}\u00a0+\u00a0${fixed(extras[i])}`,
      signed(this.advantages[i], 3), String(paid[i]), String(meant[i])]));
    const before = this.tops;
    this.chart.redraw();
    if (before && !isStill()) this.cards.forEach((card, i) => slide(card, before[i] - this.tops[i]));
  }

  paint(width) {
    const narrow = width < NARROW;
    const high = narrow ? 44 : 35;
    const [left, right] = narrow ? [21, width - 48] : [26, width - 96]; // edges of the cards
    const paid = ranks(this.rewards);
    const meant = ranks(WORTH);
    this.tops = topsOf(paid, high);
    const aims = topsOf(meant, high);
    const loud = overpaid(this.rewards, WORTH);
    const middle = (top) => top + (high - 4) / 2;
    const lines = NAMES.map((_, i) => element("path", {
      class: loud[i] ? "line-first" : "lead", d: `M${right} ${middle(this.tops[i])}L${width - 27} ${middle(aims[i])}`,
    }));
    this.cards = NAMES.map((name, i) => this.at(i, { left, right, high, top: this.tops[i], narrow }));
    return [
      words(left, 14, "As it is paid", { class: "name" }),
      words(width, 14, "As meant", { class: "name", "text-anchor": "end" }),
      shelves(paid, this.tops, high).map(({ rank, top, bottom }) => [
        element("rect", { class: "shelf", x: left - 8, y: top, width: 3, height: bottom - top, rx: 1.5 }),
        words(left - 12, (top + bottom) / 2 + 5, String(rank), { class: "name", "text-anchor": "end" }),
      ]),
      lines, this.cards,
      NAMES.map((name, i) => [
        element("path", { class: "bar flat", d: block(width - 14, middle(aims[i]), 25, 1, 0) }),
        words(width - 14, middle(aims[i]) + 5, name[0], { class: "name", "text-anchor": "middle" }),
      ]),
    ].flat(2);
  }

  /** The card of an answer: its block, pushed up or down, its text, its coin and its advantage. */
  at(i, { left, right, high, top, narrow }) {
    const advantage = this.advantages[i];
    const side = advantage > 0 ? "up" : "down";
    const [letter, what] = NAMES[i].split(", ");
    const middle = top + (high - 4) / 2;
    const [begin, end] = narrow ? TEXTS[i].split(/ (?=Answer)/) : [TEXTS[i]];
    const [first, second] = narrow ? [middle - 5, middle + 13] : [middle + 5, middle + 5];
    const fits = 6.4 * (begin.length + what.length) < right - left - 50;
    const chosen = letter === "A" || letter === this.state.rival;
    const rival = "BCD".includes(letter) && (() => this.set({ rival: letter }));
    return element("g", { class: rival ? "card press" : "card", onclick: rival },
      element("rect", { class: chosen ? "paper on" : "paper", x: left, y: top, width: pixel(Math.max(0, right - left)), height: high - 4, rx: 8 }),
      element("path", { class: `bar ${side}`, d: block(left + 18, middle, 23, advantage, 1) }),
      words(left + 18, middle + 5, letter, { class: "on name-on", "text-anchor": "middle" }),
      words(left + 36, first, begin),
      words(left + 36, second, end ?? ""),
      fits ? words(narrow ? right - 8 : right - 140, first, what, { class: "soft", "text-anchor": "end" }) : [],
      words(right - 8, second, signed(advantage, 3), { class: `${side} strong`, "text-anchor": "end" }),
      coin(right - (narrow ? 80 : 88), second - 4, this.rewards[i]));
  }

  lesson({ rival }) {
    const place = NAMES.findIndex((name) => name[0] === rival);
    const [sound, other] = [this.advantages[0], this.advantages[place]].map((advantage) => signed(advantage, 3));
    return sound === other
      ? `A and ${rival} both get ${sound}: this reward cannot distinguish them, so GRPO cannot either.`
      : `A gets ${sound} and ${rival} gets ${other}: the second term sees a difference, so GRPO prefers A.`;
  }
}

/** Upper edges of cards that lie in the order of their ranks, equal ranks as one shelf. */
function topsOf(places, high) {
  const shelf = [...new Set(places)].sort((a, b) => a - b);
  const order = places.map((rank, i) => [rank, i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const tops = [];
  order.forEach(([rank, i], row) => (tops[i] = HEAD + row * high + shelf.indexOf(rank) * GAP));
  return tops;
}

/** The shelves: their rank, and from where to where their cards lie. */
const shelves = (places, tops, high) => [...new Set(places)].map((rank) => {
  const own = tops.filter((_, i) => places[i] === rank);
  return { rank, top: Math.min(...own), bottom: Math.max(...own) + high - 4 };
});

/** A reward as a coin with its number; none where nothing is paid. */
const coin = (x, y, reward) => [
  reward ? element("rect", { class: "coin", x: x - 21, y: y - 9, width: 42, height: 18, rx: 9 }) : [],
  words(x, y + 4.5, fixed(reward), { class: reward ? "on-coin strong" : "soft", "text-anchor": "middle" }),
].flat();

/** Lets a card come from where it was, so many pixels below. */
function slide(card, by) {
  if (by) card.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 420, easing: "cubic-bezier(.2, .8, .2, 1)" });
}

customElements.define("grpo-reward-hacking", RewardHacking);
