// <grpo-training-step>: one real step of GRPO on a small bandit, in five stages (catalogue W17).
import { Simulation, singlePeak } from "../core/bandit.mjs";
import { expectedRewards } from "../core/many_runs.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { slider, wholeNumber } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { stepper } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const SETTINGS = { rewardTable: singlePeak(4, { width: 3, actions: 5 }), groupSize: 6, klCoef: 0.04, lr: 0.5 };

class TrainingStep extends Explorable {
  static controls = {
    stage: { control: stepper, label: "Stage", values: [1, 2, 3, 4, 5], initial: 1 },
    before: { control: slider, label: "Steps made before this one", values: range(0, 30, 1), initial: 0, show: String },
    seed: { control: wholeNumber, label: "Seed", low: 0, high: 9999, initial: 3 },
  };
  static examples = { "First step": { before: 0, stage: 5, seed: 3 }, "Fifteen steps later": { before: 15, stage: 5, seed: 3 } };

  build() {
    this.group = table({ caption: "The group", columns: ["Sample", "action", "reward", "A", "ρ · A"] });
    this.policy = table({ caption: "The policy", columns: ["Action", "before", "pull", "after"] });
    return [element("div", { class: "grpo-pair" }, this.group.node, this.policy.node)];
  }

  draw({ stage, before, seed }) {
    const simulation = new Simulation(SETTINGS, { seed });
    while (simulation.steps < before) simulation.step();
    const { logits } = simulation;
    const step = simulation.step();
    const pulls = simulation.logits.map((logit, j) => (logit - logits[j]) / SETTINGS.lr);
    this.step = step;
    const from = (first, cell) => (stage >= first ? cell : ""); // what later stages bring is still empty
    this.group.fill(step.actions.map((action, i) => {
      const advantage = step.advantages[i];
      return [String(i + 1), String(action), from(2, fixed(step.rewards[i])), from(3, signed(advantage, 3)),
        from(4, signed(step.updates[0].ratios[i] * advantage, 3))];
    }));
    this.policy.fill(step.policyBefore.map((p, j) => [String(j + 1), percent(p, 1), from(5, signed(pulls[j], 3)),
      from(5, barCell(percent(step.policy[j], 1), step.policy[j]))]));
  }

  lesson({ stage }) {
    const { actions, meanReward, std, zeroSignal, policyBefore, policy, updates } = this.step;
    const [mean, kl, loss] = [meanReward, updates[0].kl, -updates[0].objective].map((x) => fixed(x, 3));
    const [was, is] = expectedRewards([policyBefore, policy], SETTINGS.rewardTable).map((reward) => fixed(reward, 3));
    return [
      `1. Sample. The policy draws a group of ${actions.length} actions: ${actions.join(", ")}.`,
      `2. Score. A rule gives each action its reward. The mean of the group is ${mean}.`,
      zeroSignal
        ? "3. Compare. All rewards are equal: every advantage is 0, and this group teaches nothing."
        : `3. Compare. Each reward minus the mean ${mean}, divided by the standard deviation ${fixed(std, 3)}.`,
      `4. Loss. Every ratio is 1, so the mean of ρ · A is 0. The KL is ${kl}, the loss 0 + 0.04 · ${kl} = ${loss}.`,
      `5. Update. One step of learning rate 0.5 along the pulls: the expected reward goes from ${was} to ${is}.`,
    ][stage - 1];
  }
}

customElements.define("grpo-training-step", TrainingStep);
