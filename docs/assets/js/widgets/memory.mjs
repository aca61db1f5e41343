// <grpo-memory>: memory of the models of PPO and GRPO (catalogue W02).
import { gigabytes, modelsOf } from "../core/models.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { choice, slider, toggle } from "../ui/controls.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { percent } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const NAMES = { policy: "policy", critic: "critic", reference: "reference policy", reward: "reward model" };

class Memory extends Explorable {
  static controls = {
    size: {
      control: slider, label: "Size of each model", values: range(1, 70, 1), initial: 7,
      show: (size) => `${size} billion`,
    },
    count: {
      control: choice, label: "Count", initial: "weights",
      options: [["weights", "weights only, 2 bytes each"], ["training", "training state, 16 bytes where trained"]],
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
    "While training": { size: 7, count: "training", reward: "rule", reference: true },
  };

  build() {
    this.table = table({ caption: "Memory in GB", columns: ["model", "PPO", "GRPO"] });
    return [this.table.node];
  }

  draw(state) {
    const { ppo, grpo } = memory(state);
    const total = sum(ppo);
    const row = (name, a, b) => [name, barCell(String(a), a / total), barCell(String(b), b / total)];
    this.table.fill([
      ...Object.entries(NAMES).map(([part, name]) => row(name, ppo[part], grpo[part])),
      row("together", total, sum(grpo)),
    ]);
  }

  lesson(state) {
    const { ppo, grpo } = memory(state);
    const saved = sum(ppo) - sum(grpo);
    const reward = ppo.reward - grpo.reward;
    const less = `PPO ${sum(ppo)} GB, GRPO ${sum(grpo)} GB: ${saved} GB or ${percent(saved / sum(ppo))} less.`;
    if (!reward) return `${less} All of it is the critic.`;
    return `${less} ${ppo.critic} GB of that is the critic; ${reward} GB is the reward model, `
      + "which PPO does not need either where a rule can score.";
  }
}

const sum = (parts) => Object.values(parts).reduce((total, x) => total + x, 0);

/** Gigabytes of each model: { ppo, grpo }. */
function memory({ size, count, reward, reference }) {
  const of = (method, rewardModel) => Object.fromEntries(Object.entries(modelsOf({ method, rewardModel, reference }))
    .map(([part, state]) => [part, gigabytes(state, size, { training: count === "training" })]));
  return { ppo: of("ppo", reward !== "rule"), grpo: of("grpo", reward === "model") };
}

customElements.define("grpo-memory", Memory);
