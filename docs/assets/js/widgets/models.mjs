// <grpo-models>: which model each station of a training step needs in PPO and in GRPO (catalogue W09).
import { modelsOf } from "../core/models.mjs";
import { choice, toggle } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, SCHEMATIC } from "../ui/explorable.mjs";
import { picks } from "../ui/picks.mjs";

const STATIONS = [
  { part: "policy", task: "1. Write completions", model: "policy" },
  { part: "reward", task: "2. Score them", model: "reward model", otherwise: "a rule" },
  { part: "critic", task: "3. Compare with what was expected", model: "critic", otherwise: "mean of the group" },
  { part: "reference", task: "4. Update, but not too far", model: "reference policy", otherwise: "the clip only" },
];
const STATES = { trained: "\u25b2 trained", frozen: "\u25a0 frozen", none: "\u25cb no model" };

class Models extends Explorable {
  static source = SCHEMATIC;
  static controls = {
    method: { control: picks, label: "Method", options: [["ppo", "PPO"], ["grpo", "GRPO"]], initial: "ppo" },
    reward: {
      control: choice, label: "Reward comes from", initial: "model",
      options: [["model", "a trained reward model"], ["rule", "a rule that checks the answer"]],
    },
    reference: { control: toggle, label: "Keep a reference policy, for a KL penalty", initial: true },
  };

  build() {
    this.flow = element("ol", { class: "grpo-flow", "aria-label": "Stations of a training step" });
    return [this.flow];
  }

  draw(state) {
    const models = shown(state);
    this.flow.replaceChildren(...STATIONS.map(({ part, task, model, otherwise }) =>
      element("li", { class: `grpo-model ${models[part]}` }, task,
        element("strong", { class: "grpo-readout" }, models[part] === "none" ? otherwise : model),
        element("span", { class: "grpo-readout" }, STATES[models[part]]))));
  }

  lesson(state) {
    const states = Object.values(shown(state));
    const count = (wanted) => states.filter((each) => each === wanted).length;
    const needed = states.length - count("none");
    const models = needed === 1 ? "model" : "models";
    const kinds = `${count("trained")} trained, ${count("frozen")} frozen`;
    return `${state.method.toUpperCase()} needs ${needed} ${models} here: ${kinds}.`;
  }
}

const shown = ({ method, reward, reference }) => modelsOf({ method, rewardModel: reward === "model", reference });

customElements.define("grpo-models", Models);
