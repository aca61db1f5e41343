// <grpo-reward-hacking>: four ways to the right answer, and what the reward sees of them (catalogue W07).
import { accuracy, form, trueSteps } from "../core/answer_reward.mjs";
import { groupAdvantages } from "../core/grpo.mjs";
import { choice } from "../ui/controls.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const SAMPLES = {
  "A, sound": "3 × 4 = 12, 2 + 12 = 14. Answer: 14",
  "B, false steps": "2 + 3 = 7, 7 × 4 = 14. Answer: 14",
  "C, bare guess": "14",
  "D, idle steps": "1 + 1 = 2, 2 + 2 = 4. Answer: 14",
  "E, wrong": "2 + 3 = 5, 5 × 4 = 20. Answer: 20",
  "F, wrong": "20",
  "G, wrong": "3 × 4 = 11, 2 + 11 = 13. Answer: 13",
  "H, wrong": "9",
};
const NAMES = Object.keys(SAMPLES);
const TERMS = { none: () => 0, form, steps: trueSteps };

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
    this.table = table({ caption: "A group of eight answers to 2 + 3 × 4 = ?",
      columns: ["sample", "text", "reward", "advantage"] });
    return [this.table.node];
  }

  draw({ term }) {
    const texts = Object.values(SAMPLES);
    const outcomes = texts.map((text) => accuracy(text, 14));
    const extras = texts.map((text) => 0.5 * TERMS[term](text));
    const rewards = outcomes.map((outcome, i) => outcome + extras[i]);
    this.advantages = groupAdvantages(rewards).advantages;
    this.table.fill(NAMES.map((name, i) =>
      [name, texts[i], `${outcomes[i]}\u00a0+\u00a0${fixed(extras[i])}`, signed(this.advantages[i], 3)]));
  }

  lesson({ rival }) {
    const place = NAMES.findIndex((name) => name[0] === rival);
    const [sound, other] = [this.advantages[0], this.advantages[place]].map((advantage) => signed(advantage, 3));
    return sound === other
      ? `A and ${rival} both get ${sound}: this reward cannot tell them apart, so GRPO cannot either.`
      : `A gets ${sound} and ${rival} gets ${other}: the second term sees a difference, so GRPO prefers A.`;
  }
}

customElements.define("grpo-reward-hacking", RewardHacking);
