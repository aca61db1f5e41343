// <grpo-memory>: the models of PPO and GRPO as blocks on a shelf, as wide as the memory that they take; what GRPO leaves out
// is a hole (catalogue W02, W09).
import { gigabytes, modelsOf } from "../core/models.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { choice, slider, toggle } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { percent } from "../ui/format.mjs";
import { hatching } from "../ui/hatching.mjs";
import { table } from "../ui/table.mjs";

const HEIGHT = 256;
const SHELVES = [["PPO", 26, "ppo"], ["GRPO", 136, "grpo"]]; // name, upper edge
const BLOCK = 70; // high
const HOLES = { critic: "no critic", reward: "a rule", reference: "none" };
const NAMES = { policy: "policy", critic: "critic", reference: "reference policy", reward: "reward model" };

class Memory extends Explorable {
  static controls = {
    size: {
      control: slider, label: "Size of each model", values: range(1, 70, 1), initial: 7,
      show: (size) => `${size} billion`,
    },
    count: {
      control: choice, label: "Count", initial: "weights",
      options: [["weights", "weights only, 2 bytes each"], ["training", "training state, 16 bytes if trained"]],
    },
    reward: {
      control: choice, label: "Reward comes from", initial: "mixed",
      options: [["mixed", "PPO: a model, GRPO: a rule"], ["model", "a model for both"], ["rule", "a rule for both"]],
    },
    reference: { control: toggle, label: "Keep a reference policy, for a KL penalty", initial: true },
  };
  static examples = {
    "The usual comparison": { size: 7, count: "weights", reward: "mixed", reference: true },
    "The same reward for both": { size: 7, count: "weights", reward: "rule", reference: true },
    "As few as possible": { size: 7, count: "weights", reward: "rule", reference: false },
    "While training": { size: 7, count: "training", reward: "rule", reference: true },
  };

  build() {
    this.chart = chart(HEIGHT, (width) => this.paint(width));
    this.table = table({ caption: "Memory in GB", columns: ["model", "PPO", "GRPO"] });
    return [this.chart.node, this.table.node];
  }

  draw(state) {
    const { ppo, grpo } = memory(state);
    this.table.fill([
      ...Object.entries(NAMES).map(([part, name]) => [name, String(ppo[part]), String(grpo[part])]),
      ["together", String(sum(ppo)), String(sum(grpo))],
    ]);
    this.chart.redraw();
  }

  paint(width) {
    const both = memory(this.state);
    const x = scale(0, sum(both.ppo), 1, width - 1);
    const shelf = ([name, top, method]) => {
      let from = 0;
      const blocks = Object.keys(NAMES).filter((part) => both.ppo[part]).map((part) => {
        const [left, right] = [x(from), x((from += both.ppo[part]))];
        return block(part, both[method][part], both.ppo[part], { left, wide: right - left, top });
      });
      return [
        words(0, top - 8, name, { class: "name" }),
        words(width, top - 8, `${models(both[method])}, ${sum(both[method])} GB`, { class: "name", "text-anchor": "end" }),
        blocks.flat(),
      ].flat();
    };
    return [
      hatching("memory"),
      SHELVES.map(shelf).flat(),
      words(0, HEIGHT - 22, "The width of a block is the size of its model.", { class: "soft" }),
      words(0, HEIGHT - 4, both.grpo.critic === 0 ? "Dashed: PPO keeps it in memory, GRPO does without it." : "", { class: "soft" }),
    ];
  }

  lesson(state) {
    const { ppo, grpo } = memory(state);
    const saved = sum(ppo) - sum(grpo);
    const reward = ppo.reward - grpo.reward;
    const less = `PPO ${sum(ppo)} GB, GRPO ${sum(grpo)} GB: ${saved} GB or ${percent(saved / sum(ppo))} less.`;
    if (!reward) return `${less} All of it is the critic.`;
    return `${less} ${ppo.critic} GB of that is the critic; ${reward} GB is the reward model, `
      + "which PPO does not need either if a rule can score.";
  }
}

/** A model's block, or the hole where the other method has one. */
function block(part, gigabytes, otherwise, { left, wide, top }) {
  const style = gigabytes ? `block ${part}` : "hole";
  const box = { x: pixel(left + 1.5), y: top, width: pixel(Math.max(1, wide - 3)), height: BLOCK, rx: 8, class: style };
  const name = gigabytes ? NAMES[part] : HOLES[part];
  const size = gigabytes ? `${gigabytes} GB` : `\u2212${otherwise} GB`;
  const marks = [element("rect", box)];
  const lines = wrapped(name, wide - 16);
  if (!lines) return marks;
  const looks = gigabytes ? `label ${part}` : "label";
  const label = (text, i) => words(left + 10, top + 20 + 17 * i, text, { class: i < lines.length ? `${looks} name` : looks });
  return [...marks, ...[...lines, size].map(label)];
}

/** A name in lines that fit so many pixels; null if a word does not. */
function wrapped(name, room) {
  const fits = (text) => 7.6 * text.length <= room;
  if (fits(name)) return [name];
  const lines = name.split(" ");
  return lines.every(fits) ? lines : null;
}

const models = (parts) => {
  const count = Object.values(parts).filter(Boolean).length;
  return `${count} ${count === 1 ? "model" : "models"}`;
};
const sum = (parts) => Object.values(parts).reduce((total, x) => total + x, 0);

/** Gigabytes of each model: { ppo, grpo }. */
function memory({ size, count, reward, reference }) {
  const of = (method, rewardModel) => Object.fromEntries(Object.entries(modelsOf({ method, rewardModel, reference }))
    .map(([part, state]) => [part, gigabytes(state, size, { training: count === "training" })]));
  return { ppo: of("ppo", reward !== "rule"), grpo: of("grpo", reward === "model") };
}

customElements.define("grpo-memory", Memory);
