// The whole arithmetic of the last step (S1-P3), and the four stages of the loop with its numbers (S1-P5).
import { sum } from "../../core/grpo.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, signed } from "../../ui/format.mjs";
import { table } from "../../ui/table.mjs";

/** Details { node, show(step) }; step is what Simulation.step() returned, or null before the first. */
export function stepDetail() {
  const first = element("p", {}, "Run at least one step to see its numbers.");
  const facts = element("p", { class: "grpo-readout" });
  const samples = table({
    caption: "Samples of the last group",
    columns: ["sample", "action", "reward R", "advantage A", "π_old", "π after", "ρ after the step", "clip in the last update"],
  });
  const actions = table({ caption: "Change of the policy in this step", columns: ["action", "π before", "π after", "change"] });
  const updates = table({
    caption: "The updates with this group, each before it was made",
    columns: ["update", "ratios from", "to", "clip binds at", "KL", "objective"],
  });
  const moments = element("p", { class: "grpo-readout" },
    "ρ is π after the step, divided by π_old. The clip is judged before each update: in the first one every ρ is 1.");
  const body = element("div", { hidden: true }, facts, samples.node, moments, updates.node, actions.node);
  const node = element("details", { class: "grpo-details grpo-step-detail" }, element("summary", {}, "Step detail"), first, body);

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
  return { node, show };
}

const STAGES = ["Sample G actions", "Score each", "Normalize in the group", "Update the policy"];

/** Four boxes { node, show(step, { play }) }: the loop, with the numbers of the last step. */
export function flowStrip() {
  const boxes = STAGES.map((name) => ({ name, text: element("span", { class: "grpo-readout" }) }));
  const items = boxes.map(({ name, text }, i) => element("li", {}, element("strong", {}, `${i + 1}. ${name}`), text));
  const node = element("ol", { class: "grpo-flow", "aria-label": "The four stages of a step" }, items);
  let timer = null;

  const light = (stage) => items.forEach((item, i) => item.classList.toggle("current", i === stage));

  /** One Step walks through the stages; a run only shows the numbers. */
  function show(step, { play = false } = {}) {
    clearTimeout(timer);
    light(-1);
    const texts = step === null ? ["", "", "", ""] : summary(step);
    boxes.forEach(({ text }, i) => void (text.textContent = texts[i]));
    if (!play) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return light(3);
    const walk = (stage) => {
      light(stage);
      if (stage < 3) timer = setTimeout(walk, 350, stage + 1);
    };
    walk(0);
  }
  return { node, show };
}

function summary(step) {
  const up = step.advantages.filter((a) => a > 0).length;
  const down = step.advantages.filter((a) => a < 0).length;
  const moves = step.policy.map((p, a) => p - step.policyBefore[a]);
  const most = moves.indexOf(Math.max(...moves));
  const drawn = step.actions.length > 8 ? `${step.actions.slice(0, 8).join(" ")} …` : step.actions.join(" ");
  return [
    drawn,
    `mean ${fixed(step.meanReward, 3)}`,
    step.zeroSignal ? "no signal" : `${up} above, ${down} below the mean`,
    step.zeroSignal && Math.max(...moves) < 5e-4 ? "unchanged" : `most: action ${most + 1}, ${signed(moves[most], 3)}`,
  ];
}
