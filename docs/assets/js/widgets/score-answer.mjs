// <grpo-score-answer>: your own text, read by a parser, as one of eight on the line of their mean (catalogue W05).
import { accuracy, form, lastNumber, lastNumberIn } from "../core/answer_reward.mjs";
import { groupAdvantages } from "../core/grpo.mjs";
import { chart, scale, words } from "../ui/chart.mjs";
import { toggle } from "../ui/controls.mjs";
import { eight, meanLine } from "../ui/eight.mjs";
import { element, uniqueId } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { glide } from "../ui/glide.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";
import { lines } from "../ui/word_lines.mjs";

const RIGHT = 14; // 2 + 3 × 4
const MOST = 60; // characters
const OTHERS = {
  mixed: ["14", "Answer: 14", "2 + 12 = 14", "20", "Answer: 20", "5 × 4 = 20", "9"],
  right: ["14", "Answer: 14", "2 + 12 = 14", "It is 14.", "12 + 2 = 14", "Answer: 14", "14"],
  wrong: ["20", "Answer: 20", "5 × 4 = 20", "9", "24", "Answer: 10", "12"],
};
const COUNT = 8;
const HEIGHT = 304;
const LEFT = 26; // room for the axis of rewards
const TAB = 82; // room for the tab of the mean
const FOOT = 36; // room for the texts below the answers
const BEYOND = 48; // a block: its coin and its advantage
const ROOMY = 58; // pixels of a column that has room for a text and an advantage
const START = { others: "mixed", form: false };

class ScoreAnswer extends Explorable {
  static controls = {
    answer: { control: field, label: "Your answer to 2 + 3 × 4 = ? Then press Enter.", initial: "14" },
    others: {
      control: picks, label: "The seven others:", initial: START.others,
      options: [["mixed", "three are right"], ["right", "all are right"], ["wrong", "none is right"]],
    },
    form: { control: toggle, label: "Add 0.5 for a number after \u201cAnswer:\u201d", initial: START.form },
  };
  static examples = {
    "In words": { ...START, answer: "It is fourteen." },
    "Second thoughts": { ...START, answer: "Answer: 20. No, it is 14." },
    "A list of guesses": { ...START, answer: "12 or 13 or 14" },
  };

  /** The base class reads what a control offers; a text may be anything. */
  control(name, spec) {
    if (name === "answer") this.state.answer = this.read("answer")?.slice(0, MOST) ?? this.state.answer;
    return super.control(name, spec);
  }

  build() {
    this.reading = element("p", { class: "grpo-reading" });
    this.blocks = eight(COUNT);
    this.mean = meanLine(TAB);
    this.chart = chart(HEIGHT, (width) => this.paint(width));
    this.glide = glide((shown) => {
      this.shown = { rewards: shown.slice(0, COUNT), mean: shown[COUNT] };
      this.chart.redraw();
    });
    this.table = table({ caption: "Your group", columns: ["sample", "text", "read", "reward", "advantage"] });
    return [this.reading, this.chart.node, this.table.node];
  }

  draw({ answer, others, form: paid }) {
    this.texts = [answer, ...OTHERS[others]];
    this.rewards = this.texts.map((text) => accuracy(text, RIGHT) + (paid ? 0.5 * form(text) : 0));
    this.found = groupAdvantages(this.rewards);
    this.table.fill(this.texts.map((text, i) => [i ? String(i + 1) : "you", text, String(lastNumber(text) ?? "none"),
      fixed(this.rewards[i], 1), signed(this.found.advantages[i], 3)]));
    this.reading.replaceChildren(...asRead(answer));
    this.glide([...this.rewards, this.found.mean]);
  }

  paint(width) {
    const column = (width - LEFT - TAB) / COUNT;
    const s = Math.max(1, Math.min(44, 0.94 * column - 1));
    const levels = this.state.form ? [0, 0.5, 1, 1.5] : [0, 1];
    const y = scale(0, levels.at(-1), HEIGHT - FOOT - s - BEYOND, s + BEYOND);
    const line = y(this.shown.mean);
    this.mean.draw({ left: LEFT, right: width, y: line, words: `mean ${fixed(this.found.mean, 3)}`, alpha: 1, at: width - TAB });
    return [
      element("rect", { class: "pale", x: LEFT, y: 0, width: Math.max(0, column), height: HEIGHT, rx: 10 }),
      levels.map((reward) => [
        element("line", { class: "grid", x1: LEFT, x2: width, y1: y(reward), y2: y(reward) }),
        words(LEFT - 5, y(reward) + 5, String(reward), { "text-anchor": "end" }),
      ]),
      this.mean.node, this.blocks.node,
      this.texts.map((text, i) => this.place(i, { text, x: LEFT + (i + 0.5) * column, y, s, line, roomy: column >= ROOMY })),
    ].flat(3);
  }

  /** Puts an answer in its place; returns its text and its advantage, as far as there is room for them. */
  place(i, { text, x, y, s, line, roomy }) {
    const advantage = this.found.advantages[i];
    const way = advantage < 0 ? -1 : 1;
    const at = y(this.shown.rewards[i]) - (way * s) / 2; // the stem is as long as reward - mean
    const name = String(lastNumber(text) ?? "?");
    this.blocks.place(i, { x, y: at, s, line, name: name.length > 4 ? "…" : name, advantage, tone: 1,
      reward: this.rewards[i], coined: 1, number: "", numbered: 0, alpha: 1 });
    const middle = { "text-anchor": "middle" };
    const below = i === 0 ? ["you"] : roomy ? lines(text, 9) : [];
    return [
      below.map((each, row) => words(x, HEIGHT - FOOT + 14 + 16 * row, each, { ...middle, class: i ? "soft" : "name" })),
      roomy || i === 0 ? words(x, at - way * (s / 2 + 35) + 5, signed(advantage, 3),
        { ...middle, class: `${advantage ? (way > 0 ? "up" : "down") : ""} strong` }) : [],
    ];
  }

  lesson({ answer }) {
    const { advantages: [yours], mean, zeroSignal } = this.found;
    const read = lastNumber(answer);
    const begin = `The parser reads ${read ?? "no number"}: reward ${fixed(this.rewards[0], 1)}, `
      + `where the mean of the group is ${fixed(mean, 3)}. `;
    if (zeroSignal) return `${begin}All eight rewards are equal: your advantage is 0, and there is nothing to learn.`;
    const push = yours > 0 ? "more likely" : yours < 0 ? "less likely" : "neither more nor less likely";
    return `${begin}Your advantage is ${signed(yours, 3)}: your text becomes ${push}.`;
  }
}

/** A text with the number that the parser takes from it. */
function asRead(text) {
  const found = lastNumberIn(text);
  const said = found ? [text.slice(0, found.from), element("mark", {}, text.slice(found.from, found.to)), text.slice(found.to)] : [text];
  return [element("span", { class: "grpo-said" }, "“", said, "”"), element("span", {}, found ? "The parser reads the last number." : "The parser reads no number.")];
}

/** A field for a text: { node, set(value) }. It is scored when the reader presses Enter or leaves it. */
function field({ label, value, change }) {
  const id = uniqueId("field");
  const input = element("input", { type: "text", id, value, maxlength: MOST, autocomplete: "off",
    onchange: () => change(input.value) });
  return { node: element("div", { class: "grpo-control wide" }, element("label", { for: id }, label), input),
    set: (next) => void (input.value = next) };
}

customElements.define("grpo-score-answer", ScoreAnswer);
