// <grpo-process-reward>: a reward for the answer beside one for every step, as two grids of solutions and steps (catalogue W20).
import { outcomeAdvantages, processAdvantages } from "../core/credit.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { toggle } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { signed } from "../ui/format.mjs";
import { glide } from "../ui/glide.mjs";
import { mark } from "../ui/mark.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

/** Four solutions of 2+3×4; what is true and helps is rated 1. The third step is the answer. */
const SOLUTIONS = [
  { steps: ["3×4 = 12", "2+12 = 14", "so 14"], ratings: [1, 1, 1] },
  { steps: ["3×4 = 12", "2+12 = 15", "so 15"], ratings: [1, 0, 0] },
  { steps: ["2+3 = 5", "5×4 = 20", "so 20"], ratings: [0, 0, 0] },
  { steps: ["2+3 = 5", "5+9 = 14", "so 14"], ratings: [0, 0, 1] },
];
const STEPS = 3;
const ANSWER = STEPS - 1;
const GRIDS = ["Outcome: one reward, for the answer", "Process: a reward for every step"];
const HEIGHT = 612; // of two grids one below the other; where both fit side by side, styles make it half as high
const HEAD = 40; // above the cells of a grid
const SIDE = 16; // left of them
const ROWS = { beside: 76, below: 64 };
const MOST = 4; // of an advantage that a cell can show
const numbered = (count) => Array.from({ length: count }, (_, i) => [String(i), String(i + 1)]);

class ProcessReward extends Explorable {
  static source = "Schematic: the solutions and ratings are made up. The advantages are computed here from these ratings.";
  static controls = {
    solution: { control: picks, label: "Solution", options: numbered(SOLUTIONS.length), initial: "3" },
    step: { control: picks, label: "Step", options: numbered(STEPS), initial: "0" },
    wrong: { control: toggle, label: "The rating of this step is mistaken", initial: false },
  };
  static examples = {
    "A lucky guess": { solution: "3", step: "0", wrong: false },
    "A good first step": { solution: "1", step: "0", wrong: false },
    "A mistaken rating": { solution: "1", step: "0", wrong: true },
  };

  build() {
    this.chart = chart(HEIGHT, (width, height) => this.paint(width, height));
    this.glide = glide((shown) => {
      this.shown = shown;
      this.chart.redraw();
    });
    this.table = table({ caption: "Advantages of all steps", columns: ["step", "rating", "A by outcome", "A by process"] });
    return [this.chart.node, this.table.node];
  }

  draw({ solution, step, wrong }) {
    this.ratings = SOLUTIONS.map(({ ratings }) => [...ratings]);
    if (wrong) this.ratings[solution][step] = 1 - this.ratings[solution][step];
    this.advantages = [outcomeAdvantages, processAdvantages].map((of) => of(this.ratings));
    this.table.fill(SOLUTIONS.flatMap(({ steps }, i) => steps.map((text, t) => [
      `${this.chosen(i, t) ? "▶ " : ""}${i + 1}.${t + 1}: ${text}`, String(this.ratings[i][t]),
      ...this.advantages.map((of) => signed(of[i][t], 3)),
    ])));
    this.glide(this.advantages.flat(2));
  }

  chosen(solution, step) {
    return Number(this.state.solution) === solution && Number(this.state.step) === step;
  }

  paint(width, height) {
    const beside = height < 0.8 * HEIGHT;
    const wide = beside ? (width - SIDE) / 2 : width;
    return GRIDS.flatMap((title, g) => this.grid(g, {
      title, left: beside && g ? width - wide : 0, top: beside || !g ? 0 : HEIGHT / 2, wide, row: beside ? ROWS.beside : ROWS.below,
    }));
  }

  grid(g, { title, left, top, wide, row }) {
    const cell = (wide - SIDE) / STEPS;
    const x = (t) => left + SIDE + t * cell;
    const y = (i) => top + HEAD + i * row;
    return [
      words(left + SIDE, top + 14, title, { class: "name" }),
      numbered(STEPS).map(([t, name]) => words(x(t) + 4, top + 33, `step ${name}`, { class: "soft" })),
      SOLUTIONS.map((_, i) => words(left, y(i) + row / 2 + 3, String(i + 1), { class: "soft" })),
      SOLUTIONS.map(({ steps }, i) => steps.map((text, t) => this.cell({
        text, g, solution: i, step: t, left: x(t) + 2, top: y(i) + 2, wide: cell - 4, tall: row - 4,
      }))).flat(),
    ].flat();
  }

  /** A step with the push that its tokens get, and its reward if it gets one. */
  cell({ text, g, solution, step, left, top, wide, tall }) {
    const push = this.shown[(g * SOLUTIONS.length + solution) * STEPS + step];
    const y = scale(-MOST, MOST, top + tall - 2, top + 2);
    const chosen = this.chosen(solution, step);
    const box = { x: pixel(left), y: top, width: pixel(wide), height: tall, rx: 8 };
    const choose = () => this.set({ solution: String(solution), step: String(step) });
    return element("g", { class: chosen ? "cell on" : "cell", onclick: choose },
      element("rect", { ...box, class: "tile" }),
      element("rect", { ...box, class: `heat ${push < 0 ? "down" : "up"}`, "fill-opacity": pixel(Math.abs(push)) / 10 }),
      mark({ middle: left + 14, wide: 16, line: y(0), end: y(push) }),
      element("line", { x1: pixel(left + 4), x2: pixel(left + 24), y1: y(0), y2: y(0), class: "axis" }),
      words(left + 27, top + tall / 2 - 5, wide < 90 ? text.replace(" = ", "=") : text, { class: "name" }),
      words(left + 27, top + tall / 2 + 16, signed(push)),
      g === 1 || step === ANSWER ? coin(left + wide - 13, top + tall / 2 + 12, this.ratings[solution][step], chosen && this.state.wrong) : []);
  }

  lesson({ solution, step, wrong }) {
    const [outcome, process] = this.advantages.map((of) => of[solution][step]);
    const push = (a) => `${a < 0 ? "down" : "up"}, ${signed(a, 3)}`;
    const misled = Number(step) === ANSWER ? "misleads both" : "misleads only the process reward";
    return `“${SOLUTIONS[solution].steps[step]}” in solution ${Number(solution) + 1}: the outcome reward pushes it `
      + `${push(outcome)}, like the whole solution; the process reward ${push(process)}.`
      + (wrong ? ` Its mistaken rating ${misled}.` : "");
  }
}

/** A reward; dashed where it is mistaken. */
const coin = (x, y, reward, mistaken) => [
  element("circle", { cx: pixel(x), cy: y, r: 9, class: reward ? "coin" : "dot", "stroke-dasharray": mistaken && "3 2" }),
  words(x, y + 4.5, String(reward), { class: reward ? "on-coin" : "soft", "text-anchor": "middle" }),
];

customElements.define("grpo-process-reward", ProcessReward);
