// What a recorded run of a language model shows at a step: the groups and the accuracy that were last recorded until then.
import { groupAdvantages } from "./grpo.mjs";

/** The steps at which completions or the accuracy were recorded, in order. */
export const framesOf = ({ moments, points }) =>
  [...new Set([...moments.map(({ step }) => step), ...points.map(([step]) => step)])].sort((a, b) => a - b);

/** { measured, accuracy, drawn, groups: [{ prompt, right, completions: [{ text, reward, advantage }] }] } */
export function shownAt({ moments, points, prompts }, step) {
  const [measured, accuracy] = points.filter(([at]) => at <= step).at(-1);
  const { step: drawn, groups } = moments.filter((moment) => moment.step <= step).at(-1);
  return { measured, accuracy, drawn, groups: groups.map((group, p) => groupOf(prompts[p], group)) };
}

function groupOf(prompt, group) {
  const rewards = group.map(([, reward]) => reward);
  const { advantages } = groupAdvantages(rewards, {});
  const completions = group.map(([tokens, reward], i) =>
    ({ text: tokens.join("").split("\n")[0].trim(), reward, advantage: advantages[i] }));
  return { prompt, right: rewards.filter((reward) => reward === 1).length, completions };
}
