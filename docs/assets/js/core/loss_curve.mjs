// What a run logs as its loss, beside what the loss does: its gradient (catalogue B04).
import { Simulation } from "./bandit.mjs";
import { policyStep } from "./grpo.mjs";
import { expectedRewards } from "./many_runs.mjs";

/**
 * One run as arrays, one entry for each group: the loss in the last update with the group, which is what trainers log;
 * the length of the loss's gradient with respect to the logits in the first one; and the expected reward of the policy
 * that drew it.
 */
export function lossCurve(settings, { seed, steps }) {
  const simulation = new Simulation(settings, { seed });
  const found = { loss: [], gradient: [], reward: [] };
  while (simulation.steps < steps) {
    const { logits } = simulation;
    const step = simulation.step();
    const actions = step.actions.map((action) => action - 1);
    // One update with learning rate 1 moves the logits by the gradient of the objective, which is minus the loss.
    const options = { ...simulation.settings, lr: 1, innerSteps: 1 };
    const moved = policyStep(logits, actions, step.advantages, simulation.startLogits, options);
    found.loss.push(-step.updates.at(-1).objective);
    found.gradient.push(Math.hypot(...moved.logits.map((logit, j) => logit - logits[j])));
    found.reward.push(...expectedRewards([step.policyBefore], simulation.settings.rewardTable));
  }
  return found;
}
