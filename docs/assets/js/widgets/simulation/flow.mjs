// The four stages of the loop with the numbers of a step (S1-P5).
import { element } from "../../ui/element.mjs";
import { fixed, signed } from "../../ui/format.mjs";

const STAGES = ["Sample G actions", "Score each", "Normalize in the group", "Update the policy"];

/** Four boxes { node, show(step), light(stage) }: the loop with the numbers of a step, and the stage that the film shows. */
export function flowStrip() {
  const texts = STAGES.map(() => element("span", { class: "grpo-readout" }));
  const items = STAGES.map((name, i) => element("li", {}, element("strong", {}, `${i + 1}. ${name}`), texts[i]));
  const node = element("ol", { class: "grpo-flow", "aria-label": "The four stages of a step" }, items);
  const light = (stage) => items.forEach((item, i) => item.classList.toggle("current", i === stage));
  const show = (step) => {
    const said = step === null ? ["", "", "", ""] : summary(step);
    texts.forEach((text, i) => void (text.textContent = said[i]));
  };
  return { node, show, light };
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
