// <grpo-process-reward>: a reward for the answer, or for every step of the working (catalogue W20).
import { outcomeAdvantages, processAdvantages } from "../core/credit.mjs";
import { toggle } from "../ui/controls.mjs";
import { divergingBars } from "../ui/diverging_bars.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

/** Four solutions of 2+3×4; what is true and helps is rated 1. The third step is the answer. */
const SOLUTIONS = [
  { steps: ["3×4 = 12", "2+12 = 14", "Answer: 14"], ratings: [1, 1, 1] },
  { steps: ["3×4 = 12", "2+12 = 15", "Answer: 15"], ratings: [1, 0, 0] },
  { steps: ["2+3 = 5", "5×4 = 20", "Answer: 20"], ratings: [0, 0, 0] },
  { steps: ["2+3 = 5", "5+9 = 14", "Answer: 14"], ratings: [0, 0, 1] },
];
const numbered = (count) => Array.from({ length: count }, (_, i) => [String(i), String(i + 1)]);

class ProcessReward extends Explorable {
  static source = "Schematic: solutions and ratings are made up. The advantages are computed here from these ratings.";
  static controls = {
    mode: { control: picks, label: "Reward", options: [["outcome", "Outcome"], ["process", "Process"]], initial: "outcome" },
    solution: { control: picks, label: "Solution", options: numbered(4), initial: "3" },
    step: { control: picks, label: "Step", options: numbered(3), initial: "0" },
    wrong: { control: toggle, label: "The rating of this step is mistaken", initial: false },
  };
  static examples = {
    "A lucky guess": { mode: "outcome", solution: "3", step: "0", wrong: false },
    "The guess, step by step": { mode: "process", solution: "3", step: "0", wrong: false },
    "A good first step": { mode: "process", solution: "1", step: "0", wrong: false },
  };

  build() {
    this.chart = divergingBars({ height: 180, limit: 4, ticks: [-4, -2, 0, 2, 4], digits: 0, name: "step" });
    this.chosen = table({ caption: "The chosen solution", columns: ["step", "reward given here", "A of its tokens"] });
    this.all = table({ caption: "Advantages of all solutions", columns: ["solution", "step 1", "step 2", "step 3"] });
    return [this.chart.node, this.chosen.node, this.all.node];
  }

  draw({ mode, solution, step, wrong }) {
    const ratings = SOLUTIONS.map((each) => [...each.ratings]);
    if (wrong) ratings[solution][step] = 1 - ratings[solution][step];
    this.advantages = (mode === "process" ? processAdvantages : outcomeAdvantages)(ratings);
    this.rewards = ratings[solution].map((rating, t) => (mode === "process" || t === 2 ? String(rating) : "–"));
    const { steps } = SOLUTIONS[solution];
    this.chart.draw(this.advantages[solution]);
    this.chosen.fill(steps.map((text, t) =>
      [`${t === Number(step) ? "▶ " : ""}${text}`, this.rewards[t], signed(this.advantages[solution][t], 3)]));
    this.all.fill(this.advantages.map((row, i) =>
      [`${i + 1}: ${SOLUTIONS[i].steps[2]}`, ...row.map((advantage) => signed(advantage, 3))]));
  }

  lesson({ mode, solution, step, wrong }) {
    const given = this.rewards[step] === "–" ? "gets no reward of its own" : `is rated ${this.rewards[step]}`;
    const why = mode === "process" ? "the normalized ratings from this step on" : "the advantage of the whole solution";
    return `Step ${Number(step) + 1} of solution ${Number(solution) + 1} ${given}. Its tokens get `
      + `${signed(this.advantages[solution][step], 3)}: ${why}.`
      + (wrong && this.rewards[step] === "–" ? " Its rating is mistaken, but an outcome reward does not look at it." : "");
  }
}

customElements.define("grpo-process-reward", ProcessReward);
