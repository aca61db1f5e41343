// <grpo-sampling>: a group is drawn and scored, and its mean is the line that each answer is compared with (catalogue W04).
import { ANSWERS, RIGHT, sampleAnswers } from "../core/answers.mjs";
import { groupAdvantages } from "../core/grpo.mjs";
import { chart, scale, words } from "../ui/chart.mjs";
import { button, slider, wholeNumber } from "../ui/controls.mjs";
import { eight, meanLine } from "../ui/eight.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { fall, isStill, part } from "../ui/moving.mjs";
import { table } from "../ui/table.mjs";

const SEEDS = 1000;
const MOST = 16; // answers in a group
const HEIGHT = 256;
const LEFT = 14; // room for the axis of rewards
const TAB = 80; // room for the tab of the mean, and for the advantages
const READABLE = 29; // pixels: a smaller block has its answer below it
const SETTLED = 1; // second, after which all answers of a new group are in their places

class Sampling extends Explorable {
  static controls = {
    g: { control: slider, label: "Group size G", values: range(2, MOST, 1), initial: 8 },
    seed: { control: wholeNumber, label: "Seed of the draws", low: 0, high: SEEDS - 1, initial: 40 },
  };
  static examples = {
    "One of eight is right": { g: 8, seed: 9 },
    "A group that teaches nothing": { g: 4, seed: 0 },
  };

  build() {
    const again = button("Draw another group", () => this.set({ seed: (this.state.seed + 1) % SEEDS }));
    this.blocks = eight(MOST);
    this.mean = meanLine(TAB);
    this.time = SETTLED;
    this.chart = chart(HEIGHT, (width) => this.paint(width));
    this.table = table({ caption: "The group. Advantage: (reward \u2212 mean) / standard deviation, see chapter 5",
      columns: ["sample", "answer", "reward", "reward \u2212 mean", "advantage"] });
    return [element("div", { class: "grpo-bar" }, again), this.chart.node, this.table.node];
  }

  draw({ g, seed }) {
    const isNew = this.answers && seed !== this.drawn;
    this.drawn = seed;
    this.answers = sampleAnswers(seed, g);
    this.rewards = this.answers.map((answer) => Number(answer === ANSWERS[RIGHT]));
    this.found = groupAdvantages(this.rewards);
    const { mean, advantages } = this.found;
    this.table.fill(this.answers.map((answer, i) => [String(i + 1), `${answer} ${this.rewards[i] ? "✓" : "✗"}`,
      fixed(this.rewards[i], 0), signed(this.rewards[i] - mean, 3), signed(advantages[i], 3)]));
    cancelAnimationFrame(this.frame);
    this.time = SETTLED;
    if (isNew && !isStill()) this.play(performance.now());
    else this.chart.redraw();
  }

  /** Lets the answers of a new group fall on the line and take their sides. */
  play(begin) {
    const step = (now) => {
      this.time = Math.min(SETTLED, (now - begin) / 1000);
      this.chart.redraw();
      if (this.time < SETTLED && this.isConnected) this.frame = requestAnimationFrame(step);
    };
    step(begin);
  }

  paint(width) {
    const { mean, advantages } = this.found;
    const g = this.answers.length;
    const column = (width - LEFT - TAB) / g;
    const s = Math.min(44, 0.94 * column - 1);
    const [floor, top] = [HEIGHT - s - 40, s + 26]; // of a reward of 0 and of 1
    const y = scale(0, 1, floor, top);
    const sides = part(this.time, 0.7, SETTLED);
    const small = s < READABLE;
    for (let i = 0; i < MOST; i++) {
      const [advantage, reward] = [advantages[i] ?? 0, this.rewards[i]];
      const way = advantage < 0 ? -1 : 1;
      const onLine = y(mean) - s / 2;
      const there = y(reward ?? 0) - (way * s) / 2; // the stem is as long as reward - mean
      const landed = part(this.time, 0.02 * i, 0.5 + 0.02 * i, fall);
      this.blocks.place(i, {
        x: LEFT + (i + 0.5) * column, y: landed < 1 ? landed * (onLine + s) - s : onLine + sides * (there - onLine), s, line: y(mean),
        name: small ? "" : this.answers[i] ?? "", advantage, tone: sides, reward: reward ?? "", coined: i < g ? sides : 0,
        number: "", numbered: 0, alpha: i < g ? 1 : 0,
      });
    }
    this.mean.draw({ left: LEFT, right: width, y: y(mean), words: `mean ${fixed(mean, 3)}`, alpha: 1, at: width - TAB });
    return [
      [0, 1].map((reward) => [
        element("line", { class: "grid", x1: LEFT, x2: width, y1: y(reward), y2: y(reward) }),
        words(LEFT - 6, y(reward) + 5, String(reward), { "text-anchor": "end" }),
      ]),
      this.mean.node, this.blocks.node,
      small ? this.answers.map((answer, i) => words(LEFT + (i + 0.5) * column, HEIGHT - 2, String(answer), { "text-anchor": "middle" })) : [],
      this.time < SETTLED ? [] : [...new Set(advantages)].filter(Boolean).map((advantage) =>
        words(width, advantage > 0 ? y(1) - s / 2 + 5 : y(0) + s / 2 + 5, signed(advantage, 3),
          { class: advantage > 0 ? "up strong" : "down strong", "text-anchor": "end" })),
    ].flat(2);
  }

  lesson({ g }) {
    const { mean, std, advantages, zeroSignal } = this.found;
    const right = Math.round(mean * g);
    const begin = `${right} of ${g} samples are right: mean ${fixed(mean, 3)}, standard deviation ${fixed(std, 3)}. `;
    if (zeroSignal) return `${begin}All rewards are equal, so the group teaches nothing.`;
    const [up, down] = [Math.max(...advantages), Math.min(...advantages)];
    return `${begin}A right answer gets ${signed(up, 3)}, a wrong one ${signed(down, 3)}.`;
  }
}

customElements.define("grpo-sampling", Sampling);
