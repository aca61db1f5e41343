// <grpo-models>: the machines of a training step in PPO and, below, in GRPO: a model is as high as the memory that it takes
// in training, and where a method needs none there is a hole (catalogue W09).
import { groupAdvantages } from "../core/grpo.mjs";
import { gigabytes, modelsOf } from "../core/models.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { choice, toggle } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable } from "../ui/explorable.mjs";
import { glide } from "../ui/glide.mjs";
import { hatching } from "../ui/hatching.mjs";
import { mark } from "../ui/mark.mjs";
import { table } from "../ui/table.mjs";
import { lines } from "../ui/word_lines.mjs";

const STAGES = [
  { part: "policy", task: "Write", model: "policy" },
  { part: "reward", task: "Score", model: "reward model", otherwise: "a rule" },
  { part: "critic", task: "Compare", model: "critic", otherwise: "mean of the group" },
  { part: "reference", task: "Update", model: "reference policy", otherwise: "the clip only" },
];
const STATES = { trained: "▲ trained", frozen: "■ frozen", none: "○ no model" };
const METHODS = ["ppo", "grpo"];
const BILLIONS = 7; // parameters of each model
const GROUP = groupAdvantages([0, 1, 0, 1, 0, 0, 1, 0]).advantages; // what stands where PPO has its critic
const HEIGHT = 394;
const FLOORS = [152, 340]; // where the machines stand
const TALLEST = 88;

class Models extends Explorable {
  static source = `${COMPUTED} ${BILLIONS} billion parameters each: 16 bytes if trained, 2 if frozen.`;
  static controls = {
    reward: {
      control: choice, label: "Reward comes from", initial: "model",
      options: [["model", "a trained reward model"], ["rule", "a rule that checks the answer"]],
    },
    reference: { control: toggle, label: "Keep a reference policy, for a KL penalty", initial: true },
  };
  static examples = {
    "All models": { reward: "model", reference: true },
    "As few as possible": { reward: "rule", reference: false },
  };

  build() {
    this.chart = chart(HEIGHT, (width) => this.paint(width));
    this.glide = glide((solid) => {
      this.solid = solid;
      this.chart.redraw();
    });
    this.table = table({ caption: "What each stage needs", columns: ["Stage", "PPO", "GRPO"] });
    return [this.chart.node, this.table.node];
  }

  draw(state) {
    this.methods = METHODS.map((method) => needs(method, state));
    const cell = ({ name, state, size }) => `${name}: ${STATES[state]}, ${size} GB`;
    this.table.fill([
      ...STAGES.map(({ task }, i) => [`${i + 1}. ${task}`, ...this.methods.map((stages) => cell(stages[i]))]),
      ["together", ...this.methods.map((stages) => `${count(stages)}, ${memory(stages)} GB`)],
    ]);
    this.glide(this.methods.flat().map(({ state }) => Number(state !== "none")));
  }

  paint(width) {
    const column = width / STAGES.length;
    const high = scale(0, gigabytes("trained", BILLIONS, { training: true }), 0, TALLEST);
    const method = (stages, m) => [
      words(0, FLOORS[m] - 116, METHODS[m].toUpperCase(), { class: "name title" }),
      words(width, FLOORS[m] - 116, `${count(stages)}, ${memory(stages)} GB`, { class: "name", "text-anchor": "end" }),
      element("line", { x1: 0, x2: width, y1: FLOORS[m], y2: FLOORS[m], class: "axis" }),
      stages.map((stage, i) => machine(stage, {
        left: i * column + 4, wide: column - 8, floor: FLOORS[m], solid: this.solid[4 * m + i],
        tall: high(gigabytes(stage.usual, BILLIONS, { training: true })),
      })).flat(),
    ].flat();
    return [
      hatching("models"),
      STAGES.map(({ task }, i) => words((i + 0.5) * column, 13, `${i + 1} ${task}`, { class: "soft", "text-anchor": "middle" })),
      column < 80 ? [] : STAGES.slice(1).map((_, i) => element("path", { class: "way", d: `M${pixel((i + 1) * column - 3)} 4l5 5-5 5` })),
      this.methods.map(method).flat(),
    ];
  }

  lesson(state) {
    const [ppo, grpo] = METHODS.map((method) => needs(method, state));
    const trained = (stages) => stages.filter(({ state }) => state === "trained").length;
    return `PPO needs ${count(ppo)}, ${trained(ppo)} of them trained; GRPO ${count(grpo)}, ${trained(grpo)} trained. `
      + `Only stage 3 differs: without the critic, GRPO needs ${memory(ppo) - memory(grpo)} GB less.`;
  }
}

/** The model of a stage, or the hole where there is none; between the two while one fades. */
function machine({ part, name, state, size }, { left, wide, floor, tall, solid }) {
  const [x, middle] = [pixel(left), left + wide / 2];
  const box = { x, y: pixel(floor - tall), width: pixel(wide), height: pixel(tall), rx: Math.min(8, tall / 2) };
  const caption = (text, i, style) => words(middle, floor + 18 + 16 * i, text, { class: style, "text-anchor": "middle" });
  const names = lines(name, (wide + 8) / 6.9);
  return [
    element("rect", { ...box, class: "hole", opacity: pixel(1 - solid) }),
    element("rect", { ...box, class: `block ${part}`, opacity: solid }),
    part === "critic" && state === "none" ? group({ left: left + 8, wide: wide - 16, line: floor - tall / 2 }) : [],
    words(middle, floor - tall - 7, `${size} GB`, { class: size ? "name" : "soft", "text-anchor": "middle" }),
    names.map((text, i) => caption(text, i, "name")),
    caption(STATES[state], names.length, "soft"),
  ].flat();
}

/** The advantages of a group on the line of their mean. */
function group({ left, wide, line }) {
  const step = wide / GROUP.length;
  const end = scale(0, 2, line, line - TALLEST / 2);
  return [
    GROUP.map((advantage, i) => mark({ middle: left + (i + 0.5) * step, wide: Math.min(12, 0.7 * step), line, end: end(advantage) })),
    element("line", { x1: pixel(left), x2: pixel(left + wide), y1: pixel(line), y2: pixel(line), class: "mean" }),
  ].flat();
}

const memory = (stages) => stages.reduce((total, { size }) => total + size, 0);

function count(stages) {
  const models = stages.filter(({ state }) => state !== "none").length;
  return `${models} ${models === 1 ? "model" : "models"}`;
}

/** What a method has at each stage: the model or what does its work, its state, its gigabytes, and its state in PPO. */
function needs(method, { reward, reference }) {
  const settings = { rewardModel: reward === "model", reference };
  const [own, most] = [{ method, ...settings }, { method: "ppo", rewardModel: true, reference: true }].map(modelsOf);
  return STAGES.map(({ part, model, otherwise }) => ({
    part, state: own[part], usual: most[part], name: own[part] === "none" ? otherwise : model,
    size: gigabytes(own[part], BILLIONS, { training: true }),
  }));
}

customElements.define("grpo-models", Models);
