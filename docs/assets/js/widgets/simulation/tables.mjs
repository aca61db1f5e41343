// The numbers behind the pictures as tables: the whole arithmetic of a step (S1-P3), the policy and the history. They are
// in three folds, and loaded when the first of them is opened.
import { sum } from "../../core/grpo.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, signed } from "../../ui/format.mjs";
import { table } from "../../ui/table.mjs";

const HISTORY = { best: "π(best)", maxProbability: "max π", meanReward: "mean reward", entropy: "entropy", kl: "KL", clipFraction: "clip fraction" };

/** Puts the tables into their folds, <details> in this order: step, policy, history; { show(run, step) } fills them. */
export function tables([stepFold, policyFold, historyFold]) {
  const [step, policy] = [stepTables(), policyTable()];
  const history = table({ caption: "Training history, one row per step", columns: ["step", ...Object.values(HISTORY)] });
  stepFold.append(...step.nodes);
  policyFold.append(policy.node);
  historyFold.append(history.node);

  function show(run, at) {
    step.show(run.at(at).record);
    policy.show(run, at);
    if (!historyFold.open) return; // 2000 rows are made only for those who look at them
    const { curves } = run;
    history.fill(curves.best.map((_, t) => [String(t), ...Object.keys(HISTORY).map((name) => fixed(curves[name][t], 3))]));
  }
  return { show };
}

function policyTable() {
  const numbers = table({
    caption: "Policy: probability and reward of each action",
    columns: ["action a", "reward R(a)", "π at the start", "π before the step", "π(a) now", "change"],
  });
  const show = (run, at) => {
    const { record, policy } = run.at(at);
    const before = record?.policyBefore ?? policy;
    numbers.fill(policy.map((p, a) => [
      String(a + 1), fixed(run.simulation.settings.rewardTable[a], 2), fixed(run.start[a], 3), fixed(before[a], 3), fixed(p, 3), signed(p - before[a], 3),
    ]));
  };
  return { node: numbers.node, show };
}

/** { nodes, show(step) }; step is what Simulation.step() returned, or null before the first. */
function stepTables() {
  const first = element("p", {}, "Run at least one step to see its numbers.");
  const facts = element("p", { class: "grpo-readout" });
  const samples = table({
    caption: "Samples of the last group",
    columns: ["sample", "action", "reward R", "advantage A", "π_old", "π after", "ρ after the step", "clip in the last update"],
  });
  const actions = table({ caption: "Change of the policy in this step", columns: ["action", "π before", "π after", "change"] });
  const updates = table({
    caption: "The updates with this group: values before each one",
    columns: ["update", "ratios from", "to", "clip binds at", "KL", "objective"],
  });
  const moments = element("p", { class: "grpo-readout" },
    "ρ is π after the step, divided by π_old. The clip applies before each update: in the first one every ρ is 1.");
  const body = element("div", { hidden: true }, facts, samples.node, moments, updates.node, actions.node);

  function show(step) {
    first.hidden = step !== null;
    body.hidden = step === null;
    if (step === null) return;
    const { policyBefore: before, policy: after } = step;
    facts.textContent = `Step ${step.steps}: mean reward ${fixed(step.meanReward, 3)}, standard deviation ${fixed(step.std, 3)}, `
      + `sum of advantages ${fixed(sum(step.advantages), 3)}.`
      + (step.zeroSignal ? " All rewards are equal: no signal, every advantage is 0." : "");
    samples.fill(step.actions.map((action, i) => [
      String(i + 1), String(action), fixed(step.rewards[i], 2), signed(step.advantages[i], 3), fixed(before[action - 1], 3),
      fixed(after[action - 1], 3), fixed(step.ratios[i], 3), step.clipped[i] ? "binds" : "–",
    ]));
    updates.node.hidden = step.updates.length < 2;
    updates.fill(step.updates.map(({ ratios, clipped, kl, objective }, k) => [
      String(k + 1), fixed(Math.min(...ratios), 3), fixed(Math.max(...ratios), 3), `${sum(clipped)} of ${clipped.length}`,
      fixed(kl, 4), signed(objective, 4),
    ]));
    actions.fill(after.map((p, a) => [
      String(a + 1), fixed(before[a], 4), fixed(p, 4),
      `${Math.abs(p - before[a]) < 5e-5 ? "" : p > before[a] ? "▲ " : "▼ "}${signed(p - before[a], 4)}`,
    ]));
  }
  return { nodes: [first, body], show };
}
