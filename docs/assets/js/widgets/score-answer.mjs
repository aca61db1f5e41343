// <grpo-score-answer>: your own text, read by a parser and compared with a group of seven (catalogue W05).
import { accuracy, form, lastNumber } from "../core/answer_reward.mjs";
import { groupAdvantages } from "../core/grpo.mjs";
import { toggle } from "../ui/controls.mjs";
import { element, uniqueId } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const RIGHT = 14; // 2 + 3 × 4
const MOST = 60; // characters
const OTHERS = {
  mixed: ["14", "Answer: 14", "2 + 12 = 14", "20", "Answer: 20", "5 × 4 = 20", "9"],
  right: ["14", "Answer: 14", "2 + 12 = 14", "It is 14.", "12 + 2 = 14", "Answer: 14", "14"],
  wrong: ["20", "Answer: 20", "5 × 4 = 20", "9", "24", "Answer: 10", "12"],
};
const START = { others: "mixed", form: false };

class ScoreAnswer extends Explorable {
  static controls = {
    answer: { control: field, label: "Your answer to 2 + 3 × 4 = ? Then press Enter.", initial: "14" },
    others: {
      control: picks, label: "The seven others:", initial: START.others,
      options: [["mixed", "three are right"], ["right", "all are right"], ["wrong", "none is right"]],
    },
    form: { control: toggle, label: "Also pay 0.5 for a number behind \u201cAnswer:\u201d", initial: START.form },
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
    this.table = table({ caption: "Your group", columns: ["sample", "text", "read", "reward", "advantage"] });
    return [this.table.node];
  }

  draw({ answer, others, form: paid }) {
    const texts = [answer, ...OTHERS[others]];
    this.rewards = texts.map((text) => accuracy(text, RIGHT) + (paid ? 0.5 * form(text) : 0));
    this.found = groupAdvantages(this.rewards);
    this.table.fill(texts.map((text, i) => [i ? String(i + 1) : "you", text, String(lastNumber(text) ?? "none"),
      fixed(this.rewards[i], 1), signed(this.found.advantages[i], 3)]));
  }

  lesson({ answer }) {
    const { advantages: [yours], mean, zeroSignal } = this.found;
    const read = lastNumber(answer);
    const begin = `The parser reads ${read ?? "no number"}: reward ${fixed(this.rewards[0], 1)}, `
      + `where the mean of the group is ${fixed(mean, 3)}. `;
    if (zeroSignal) return `${begin}All eight rewards are equal: your advantage is 0, and nobody learns.`;
    const push = yours > 0 ? "more likely" : yours < 0 ? "less likely" : "neither more nor less likely";
    return `${begin}Your advantage is ${signed(yours, 3)}: your text becomes ${push}.`;
  }
}

/** A field for a text: { node, set(value) }. It is scored when the reader presses Enter or leaves it. */
function field({ label, value, change }) {
  const id = uniqueId("field");
  const input = element("input", { type: "text", id, value, maxlength: MOST, autocomplete: "off",
    onchange: () => change(input.value) });
  return { node: element("div", { class: "grpo-control" }, element("label", { for: id }, label), input),
    set: (next) => void (input.value = next) };
}

customElements.define("grpo-score-answer", ScoreAnswer);
