// What people ask about and need not worry about. Each rule returns { id, level: "normal", facts, rows, keys } or null.
import { highest, lowest, mean, median, share, shareOf, show } from "./run_view.mjs";
import { finding, fallOf, from } from "./run_rules.mjs";

const normal = (id, facts, rows, keys) => finding(id, "normal", facts, rows, keys);

/** The loss is beta times the KL: the ratio of the two to two digits, if it is the same on all lines where it can be seen. */
export function klWeight(view) {
  const [loss, kl] = [view.curve("loss"), view.curve("kl")];
  if (!loss || !kl) return null;
  const other = new Map(kl.points.map(({ row, value }) => [row, value]));
  const ratios = loss.points.filter(({ row, value }) => value >= 3e-4 && other.get(row) > 1e-4).map(({ row, value }) => value / other.get(row));
  if (ratios.length < 2) return null;
  const usual = median(ratios);
  return shareOf(ratios, (ratio) => Math.abs(ratio - usual) < 0.15 * usual) > 0.8 ? Number(usual.toPrecision(2)) : null;
}

export function lossZero(view) {
  const loss = view.curve("loss") ?? view.curve("policyLoss");
  const gradient = view.curve("gradNorm");
  if (!loss || view.n > 1 && shareOf(loss.values, (value) => Math.abs(value) < 5e-4) <= 0.4 || view.n === 1 && Math.abs(loss.values[0]) >= 5e-4) return null;
  if (gradient && !(gradient.median > 1e-3)) return null;
  const beta = klWeight(view);
  return normal("loss_zero", [
    `\`${loss.name}\` is about 0 on ${loss.values.filter((value) => Math.abs(value) < 5e-4).length} of ${loss.length} lines. That is expected on the first update of a fresh batch.`,
    beta !== null && `What is left is the KL term: loss ≈ ${show(beta)} × \`${view.nameOf("kl")}\`, rounded to the digits of the log. When it rises, the KL rises.`,
    gradient && `The gradient norm is not 0 (median ${show(gradient.median)}), so the model is being updated.`,
    view.reward && "Judge the run by its reward.",
  ], [], ["loss"]);
}

export function lossNegative(view) {
  const loss = view.curve("loss") ?? view.curve("policyLoss");
  if (!loss || shareOf(loss.values, (value) => value < -5e-4) < 0.15) return null;
  const both = loss.values.some((value) => value > 5e-4);
  return normal("loss_negative", [`\`${loss.name}\` is ${both ? "above and below 0" : "negative"}. The loss of GRPO has no floor at 0 and does not measure progress.`], [], ["loss"]);
}

export function lossRising(view) {
  const loss = view.curve("loss");
  const beta = klWeight(view);
  if (beta === null || lossZero(view) || view.n < 8 || !(loss.q4 > 2 * loss.q1)) return null;
  return normal("loss_rising", [`\`${loss.name}\` rises ${from(loss)}, and it is ${show(beta)} × \`${view.nameOf("kl")}\` on nearly every line: it is the KL term that rises.`], [], ["loss", "kl"]);
}

export function klPlain(view) {
  const [kl, gradient] = ["kl", "gradNorm"].map(view.curve);
  if (!kl || kl.length < 3) return null;
  if (kl.values.every((value) => value === 0) && ["TRL", "Unsloth"].includes(view.library) && (!gradient || gradient.median > 0)) {
    return normal("kl_none", [`\`${kl.name}\` is 0 on every line: β is probably 0, so no KL is computed.`], [], ["kl"]);
  }
  return lowest(kl.values) < -1e-5 ? normal("kl_negative", [`\`${kl.name}\` is below 0 on ${kl.values.filter((value) => value < 0).length} of ${kl.length} lines: an estimate (k1) may be, the true KL is not.`], [], ["kl"]) : null;
}

export function clipZero(view) {
  const clip = view.curve("clip");
  if (!clip || clip.length < 3) return null;
  if (view.oldClip) return normal("clip_zero", ["`clip_ratio` of TRL 0.16 was compared the wrong way round: ignore it."], [], ["clip"]);
  const zero = shareOf(clip.values, (value) => value === 0);
  if (zero === 1) {
    return normal("clip_zero", [`\`${clip.name}\` is exactly 0 on every line: with one update per batch the ratio is exactly 1, and nothing can be clipped.`], [], ["clip"]);
  }
  const above = clip.values.filter((value) => value > 0);
  if (zero >= 0.25 && zero <= 0.8 && isAlternating(view)) {
    return normal("alternating", [
      `${share(1 - view.reward.length / view.n)} of the lines have no reward and no length: the same completions serve several updates, and those metrics are printed only when new text is generated.`,
      `\`${clip.name}\` is 0 on the first update of a batch and ${show(mean(above))} on the next: normal${mean(above) < 0.05 ? ", and low" : ""}.`,
    ], [], ["clip"]);
  }
  if (clip.q4 <= 0.05 && clip.median > 0) return normal("clip_low", [`\`${clip.name}\` is ${show(clip.median)}: the policy moves little within a batch.`], [], ["clip"]);
  return null;
}

const isAlternating = (view) => view.reward && view.n >= 4 && view.reward.length <= 0.7 * view.n && view.reward.length >= 0.2 * view.n;

export function gradientLarge(view) {
  const gradient = view.curve("gradNorm");
  return gradient && gradient.median > 10 && normal("grad_large", [`\`${gradient.name}\` has a median of ${show(gradient.median)}. It is printed before clipping to max_grad_norm.`], [], ["gradNorm"]);
}

export function someTies(view) {
  const { ties } = view;
  if (!ties || ties.q4 >= 0.9 && ties.q1 >= 0.9 || !(ties.median > 0.05)) return null;
  const level = mean(ties.values);
  if (ties.q4 >= 0.9 && view.reward && view.reward.z > 2.5) {
    return normal("solved", [`\`${ties.name}\` rises ${from(ties)} while the reward rises ${from(view.reward)}: the prompts are solved, and the rest of the run teaches little.`], [], ["ties"]);
  }
  return normal("ties_some", [level < 0.2 ? `Only ${share(level)} of the groups tie.` : level < 0.5 ? `${share(level)} of the groups tie. 20 to 50 % are usual.`
    : `${share(level)} of the groups tie: that share of the generation cost buys no gradient.`], [], ["ties"]);
}

export function rewardScale(view) {
  const { reward } = view;
  if (!reward) return null;
  const [low, high] = ["rewardMin", "rewardMax"].map(view.curve);
  if (low && high && low.median < 0 && high.median > 0 && low.values.every((value) => value === low.values[0]) && Math.abs(reward.median) < 0.15 * high.median) {
    return normal("reward_negative", [`The score is about ${show(Number(reward.median.toFixed(2)))} on a scale from ${show(low.values[0])} to ${show(high.values[0])}: about half of the answers are right. A cut answer usually gets the lowest score.`], [], ["reward"]);
  }
  if (!(lowest(reward.values) < 0)) return null;
  return normal("reward_negative", ["The reward is negative on some lines because the reward functions give penalties. Only differences inside a group matter."], [], ["reward"]);
}

export function advantageMean(view) {
  const advantage = view.curve("advMean");
  if (!advantage || !(advantage.median < -1e-3)) return null;
  return normal("advantage_negative", [`\`${advantage.name}\` is ${show(advantage.median)}: it is a mean over tokens, so below 0 only says that bad answers are longer.`], [], ["advMean"]);
}

export function learningRateZero(view) {
  const rate = view.curve("lr");
  if (!rate) return null;
  if (rate.values.every((value) => value === 0)) return normal("lr_zero", [`\`${rate.name}\` is printed as 0: three decimals cannot show a usual rate.`], [], ["lr"]);
  const top = highest(rate.values);
  if (top < 2e-8 && rate.q4 >= rate.q1) return normal("warmup", [`The learning rate has reached ${show(top)}: this is still the warm-up, and too early to judge.`], [], ["lr"]);
  return rate.values.at(-1) < 1e-9 && rate.length > 4 && rate.q4 < rate.q1 ? normal("lr_zero", ["The learning rate ends at 0: that is the schedule."], [], ["lr"]) : null;
}

export function klSpike(view) {
  const kl = view.curve("kl");
  if (!kl || kl.length < 8) return null;
  const usual = Math.max(kl.median, 1e-6);
  const place = kl.values.findIndex((value, i) => value > 20 * usual && value > 0.5 && (kl.values[i + 1] ?? Infinity) < 5 * usual);
  if (place < 0 || !(median(kl.values.slice(-kl.quarter)) < 5 * usual)) return null;
  return normal("kl_spike", [`\`${kl.name}\` jumps to ${show(kl.values[place])} in ${view.unit} ${view.steps[kl.points[place].row]} (median ${show(kl.median)}) and is back on the next line: one token with a large log-ratio.`], [kl.points[place].row], ["kl"]);
}

export function lengths(view) {
  const length = view.curve("length");
  const { reward } = view;
  if (!length || view.n < 8 || !reward || reward.z < 2.5 || Math.abs(length.z) < 4 || (view.cut && view.cut.q4 >= 0.1)) return null;
  if (Math.abs(length.q4 - length.q1) < 0.1 * length.q1) return null;
  return normal("length_moves", [`Completions get ${length.z > 0 ? "longer" : "shorter"} (${show(length.q1)} to ${show(length.q4)} tokens) while the reward rises.`], [], ["length"]);
}

export function entropyMoves(view) {
  const entropy = view.curve("entropy");
  if (!entropy || view.n < 8 || !view.reward || view.reward.z < 2.5) return null;
  if (entropy.q4 < 0.7 * entropy.q1) return normal("entropy_falls", [`\`${entropy.name}\` falls ${from(entropy)} while the reward rises: usual when a task is being learned.`], [], ["entropy"]);
  return null;
}

export function cutSome(view) {
  const { cut } = view;
  if (!cut || cut.q1 >= 0.15 || cut.q4 > 0.4) return null;
  const level = Math.max(cut.q1, cut.q4);
  return level >= 0.05 ? normal("cut_some", [`\`${cut.name}\`: the length limit cuts ${share(level)} of the completions. Watch it; from 15 % on it decides what is learned.`], [], ["cut"]) : null;
}

export function samplerFine(view) {
  const curve = view.curve("logpDiff");
  return curve && curve.median <= 0.08 ? normal("sampler_fine", [`Sampler and trainer differ by ${show(curve.median)} per token (\`${curve.name}\`); ${curve.median > 0.03 ? "0.005 to 0.03 is usual in bf16" : "that is usual"}.`], [], ["logpDiff"]) : null;
}

/** How the reward goes, if nothing alarms. */
export function course(view) {
  const { reward } = view;
  if (!reward) return null;
  if (view.n < 8) {
    return view.n > 1 ? normal("too_short", [`${view.n} lines are too few to see a trend. Only rules that need none were used.`], [], ["reward"])
      : normal("too_short", ["One line shows a state, not a trend. Only rules that need no trend were used."], [], ["reward"]);
  }
  if (fallOf(view)) return null;
  if (view.top !== null && reward.q1 >= 0.9 * view.top && reward.q4 >= 0.9 * view.top) {
    return normal("near_top", [`\`${reward.name}\` is ${show(reward.q4)} of ${show(view.top)}: nearly saturated, so little is left to learn.`], [], ["reward"]);
  }
  if (reward.z > 2.5) return normal("rising", [`\`${reward.name}\` rises ${from(reward)}. Nothing in this log is alarming.`], [], ["reward"]);
  if (reward.length < 20 && highest(reward.values) === lowest(reward.values)) return normal("too_short", [`\`${reward.name}\` is ${show(reward.q1)} on all ${reward.length} lines.`], [], ["reward"]);
  const noisy = reward.noise > 0.3 * Math.max(Math.abs(reward.median), 1e-9);
  return reward.length < 20 ? normal("too_short", [`\`${reward.name}\` goes ${from(reward)}; ${noisy ? "it jumps from line to line because each step has other prompts, so " : ""}${reward.length} lines with a reward are too few to see a trend.`], [], ["reward"]) : null;
}
