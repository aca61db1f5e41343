// Rules that turn numbers into findings: { id, level, facts, rows, keys }. A rule that does not apply returns null.
// `facts` are sentences with the run's own numbers; what they mean and what to do is data of the page.
import { highest, lowest, mean, median, share, shareOf, show } from "./run_view.mjs";

export const finding = (id, level, facts, rows = [], keys = []) => ({ id, level, facts: facts.filter(Boolean), rows, keys });
const enough = (view, least = 8) => view.n >= least;
const at = (view, row) => `${view.unit} ${view.steps[row]}`;
export const from = (curve) => `from ${show(curve.q1)} to ${show(curve.q4)}`;
const rowsOf = (curve, test) => curve.points.filter(({ value }) => test(value)).map(({ row }) => row);
const isFlat = (curve) => curve && Math.abs(curve.z) < 2.5;
const rises = (curve) => curve && curve.z > 2.5 && curve.q4 > curve.q1;

// Stop here first

export function notANumber(view) {
  const bad = ["loss", "policyLoss", "gradNorm", "kl", "entropy", "advMax", "advMean", "ppoKl", "rewardStd"]
    .flatMap((key) => view.raw(key).filter(({ value }) => !Number.isFinite(value)).map(({ row, value }) => ({ key, row, value })));
  if (!bad.length) return null;
  const row = lowest(bad.map((each) => each.row));
  const first = bad.filter((each) => each.row === row);
  const rows = [...new Set(bad.map((each) => each.row))];
  const recovers = rows.length < 0.5 * (view.n - row) && !rows.includes(view.n - 1);
  const names = first.map(({ key, value }) => `\`${view.nameOf(key)}\` is ${show(value)}`);
  const others = view.n - rows.length;
  const after = (curve) => curve?.points.filter((each) => each.row >= row).map(({ value }) => value) ?? [];
  const [reward, length] = [after(view.reward), after(view.curve("length"))];
  const has = (...keys) => first.some(({ key }) => keys.includes(key));
  const isDead = has("loss", "policyLoss", "entropy", "kl") && !reward.some((value) => value);
  const isAlone = row === 0 && has("advMax", "advMean", "rewardStd") && reward.some((value) => value);
  return finding(recovers ? "nan_once" : "nan", recovers ? "look" : "stop", [
    `${names.slice(0, 4).join(", ")} in ${at(view, row)}.`,
    row === 0 && !recovers && view.steps[0] > 1 && `That is the first line here, so the first nan is earlier, outside this excerpt.`,
    recovers ? `${rows.length} of ${view.n} lines have it, and the later ones are finite again: an update that was skipped.`
      : others ? `It stays so in all later lines; only the ${others} lines before it are finite.` : `So it is in all ${view.n} lines${isDead ? ": the weights are nan, and the run is dead" : ""}.`,
    !recovers && isDead && reward.length > 0 && `What follows is a consequence: reward ${show(reward.at(-1))}${length.length ? `, length ${show(length.at(-1))} tokens` : ""}.`,
    !recovers && isAlone && `Advantages or their standard deviation are nan although rewards are numbers (${show(reward[0])}): a group of one, or a reward that is nan.`,
    !recovers && first.length === 1 && first[0].key === "gradNorm" && row === 0 && "Only the gradient is nan, from the first line on: look at the settings of accumulation and precision before the data.",
  ], rows, first.map(({ key }) => key));
}

/** How many completions the length limit cuts: { level (0 to 1), facts, rows } or null. */
function cutting(view) {
  const { cut } = view;
  const [low, high, length] = ["minLength", "maxLength", "length"].map(view.curve);
  if (cut) return { level: cut.q1, end: cut.q4, rows: rowsOf(cut, (value) => value >= 0.15), by: "metric" };
  if (low && high && low.length === high.length) {
    const equal = low.points.filter(({ value }, i) => high.values[i] >= 16 && Math.abs(value - high.values[i]) <= 0.01 * high.values[i]);
    if (equal.length > 0.5 * low.length) return { level: 1, end: 1, rows: equal.map(({ row }) => row), by: "equal" };
  }
  if (!length || length.length < 10 || view.library === "SkyRL") return null; // SkyRL prints the padded width
  const limit = highest(length.values);
  const hit = rowsOf(length, (value) => value === limit);
  const isEarly = hit.some((row) => row < view.n / 2); // at the end it may be what a collapse left
  return limit >= 16 && isEarly && hit.length >= 0.12 * length.length ? { level: hit.length / length.length, end: 0, rows: hit, by: "maximum", limit } : null;
}

export function truncation(view) {
  const found = cutting(view);
  if (!found || (found.by === "metric" && found.level < 0.15)) return null;
  const [low, high, length, ended] = ["minLength", "maxLength", "length", "ended"].map(view.curve);
  const limit = high ? highest(high.values) : found.limit;
  const reward = view.reward;
  const isSilent = reward && highest(reward.values.map(Math.abs)) < 1e-9;
  return finding("truncation", found.level >= 0.5 && found.by !== "maximum" ? "stop" : "look", [
    found.by === "metric" && `\`${view.cut.name}\`: the length limit cuts ${share(found.level)} of the completions at the start and ${share(found.end)} at the end. This is not the clip of the ratio.`,
    found.by === "equal" && `The shortest completion is as long as the longest (${show(limit)} tokens) on ${found.rows.length} of ${view.n} lines: all are cut.`,
    found.by === "maximum" && `\`${length.name}\` has exactly its maximum, ${show(limit)}, on ${found.rows.length} of ${length.length} lines: on these every completion was cut.`,
    low && high && found.by === "metric" && low.median === high.median && `Shortest and longest completion: ${show(high.median)} tokens, so all end at the limit.`,
    ended && ended.median === 0 && "Completions that ended by themselves: none (`mean_terminated_length` is 0).",
    length && limit && length.median < 0.7 * limit && `The mean is ${show(length.median)} tokens and the longest has ${show(limit)}: a heavy tail.`,
    isSilent && "The answer is never reached, so every reward is 0 and there is no signal.",
    ended && ended.median > 0 && `Completions that ended have ${show(ended.median)} tokens on average.`,
    view.library === "verl" && "verl counts a completion only if it reaches `max_response_length`; what `max_model_len` cuts is missing, and tokens of tools are included.",
  ], found.rows, ["cut", "length", "ended"]);
}

const EDGE = 1e-6;
/** Where the rewards of a run without signal stand: "low", "high" or "between". */
function placeOf(view) {
  const { reward } = view;
  if (!reward) return "unknown";
  const parts = [...view.functions.values()].map((each) => each.mean).filter(Boolean);
  const level = reward.q4;
  if (level <= 0.01 && parts.every((part) => part.q4 <= 0.01)) return "low";
  const isRound = (curve) => curve.values.every((value) => value > 0 && Number.isInteger(2 * value) && value === curve.values[0]);
  if (reward.length > 2 && [reward, ...parts].every(isRound)) return "high"; // each part at one round value all the time
  if (view.top !== null && level >= 0.97 * view.top && level > 0) return "high";
  const low = view.curve("rewardMin");
  return low && Math.abs(level - low.median) < EDGE && level < (view.top ?? Infinity) - EDGE && level <= 0 ? "low" : "between";
}

export function noSignal(view) {
  const { ties, spread } = view;
  const [most, least] = ["advMax", "advMin"].map(view.curve);
  const noAdvantages = most && least && Math.max(highest(most.values.map(Math.abs)), highest(least.values.map(Math.abs))) < EDGE;
  const noSpread = spread && highest(spread.curve.values.map(Math.abs)) < EDGE;
  const byTies = ties && ties.q1 >= 0.9 && ties.q4 >= 0.9;
  if (!(byTies || (!ties && noSpread) || (!ties && noAdvantages))) return null;
  const place = placeOf(view);
  const gradient = view.curve("gradNorm");
  const between = [...view.functions.entries()].filter(([, { std }]) => std && std.median > 0.01);
  const entropy = view.curve("entropy");
  const kl = view.curve("kl");
  const far = place !== "high" && kl && kl.length > 2 && kl.q4 > 1 && kl.q4 > 2 * kl.values[0] ? kl : null;
  return finding(place === "high" ? "saturated" : "no_signal", place === "high" ? "look" : "stop", [
    byTies && `\`${ties.name}\`: in ${share(mean(ties.values))} of the groups all completions got the same reward, so their advantages are 0.`,
    !byTies && noSpread && `\`${spread.curve.name}\` is 0 on all ${spread.curve.length} lines: every completion of a group got the same reward.`,
    !byTies && !noSpread && noAdvantages && `The largest and the smallest advantage are 0 on all ${most.length} lines.`,
    place === "low" && `The reward is ${show(view.reward.q4)} throughout: nothing succeeds. Either every answer is wrong, the format is never hit, or the reward function never says yes.`,
    place === "high" && (view.top === null ? `The reward is ${show(view.reward.q4)} on every line. If that is its maximum, the prompts are solved (saturated), and there is nothing left to learn from them.`
      : `The reward is ${show(view.reward.q4)}, the top: the prompts are solved, and there is nothing left to learn from them.`),
    place === "between" && `The reward is ${show(view.reward.median)}, neither the lowest nor the highest: the completions of a prompt are alike, or the reward is too coarse to tell them apart.`,
    between.length > 0 && `\`${between[0][1].std.name}\` is ${show(between[0][1].std.median)}: that is over the whole batch, with different prompts, and may be above 0 while every group ties.`,
    far && `\`${far.name}\` is ${show(far.q4)}: the policy is far from its start, so it was probably lost in the first lines. Use a smaller learning rate.`,
    entropy && entropy.q4 < 0.05 && `Entropy is ${show(entropy.q4)}: sampling is nearly deterministic.`,
    gradient && gradient.median < 1e-9 && "Loss and gradient are 0 for this reason; here a loss of 0 is not harmless.",
    gradient && gradient.median > 1e-6 && `The gradient (${show(gradient.median)}) can then only come from a KL or entropy term.`,
  ], ties ? rowsOf(ties, (value) => value >= 0.9) : [], ["ties", "reward", "rewardStd"]);
}

export function zeroGradient(view) {
  const gradient = view.curve("gradNorm");
  if (!gradient || shareOf(gradient.values, (value) => value === 0) <= 0.8) return null;
  const { ties, spread } = view;
  const differs = ties ? ties.median < 0.9 : spread?.kind === "group" && spread.curve.median > EDGE;
  if (!differs || gradient.length < 2) return null;
  const kl = view.curve("kl");
  const still = kl && kl.values.every((value) => value === 0);
  return finding("grad_zero", "stop", [
    `\`${gradient.name}\` is exactly 0 on ${gradient.values.filter((value) => value === 0).length} of ${gradient.length} lines.`,
    ties && `Yet only ${share(ties.median)} of the groups tie, so there is something to learn from.`,
    spread?.kind === "group" && `Rewards differ inside groups: \`${spread.curve.name}\` is ${show(spread.curve.median)}.`,
    still && `\`${kl.name}\` is exactly 0 on ${kl.length} lines: the weights do not change.`,
    "This is not the usual loss of 0: there the gradient is above 0. No gradient reaches the optimizer.",
  ], rowsOf(gradient, (value) => value === 0), ["gradNorm", "kl"]);
}

// The run turned bad

/** How much a curve stands above or below its usual level at the end, in the rows after `start`. */
function companions(view, start) {
  const grew = (key, test) => {
    const curve = view.curve(key);
    if (!curve || curve.length < 8) return null;
    const before = curve.points.filter(({ row }) => row < start).map(({ value }) => value);
    const after = curve.points.filter(({ row }) => row >= start);
    if (before.length < 3 || !after.length) return null;
    const usual = median(before);
    const hit = after.find(({ value }) => test(value, usual));
    return hit ? { key, name: curve.name, row: hit.row, usual, value: hit.value, most: highest(after.map(({ value }) => value)) } : null;
  };
  return [
    grew("kl", (value, usual) => value > 10 * usual && value > 0.1),
    grew("gradNorm", (value, usual) => value > 8 * usual && value > 0.05),
    grew("entropy", (value, usual) => value > 2.2 * usual || value < 0.25 * usual),
    grew("ppoKl", (value, usual) => Math.abs(value) > 10 * Math.abs(usual) && Math.abs(value) > 0.1),
    grew("cut", (value, usual) => value > 0.4 && usual < 0.15),
  ].filter(Boolean).sort((a, b) => a.row - b.row);
}

/** The fall of the reward: { from, to, best, worst, sure } with rows of the best stretch, or null. */
export function fallOf(view) {
  const { reward } = view;
  if (!reward || reward.length < 8) return null;
  const w = Math.max(3, Math.round(reward.length / 6));
  const windows = reward.windows(w);
  const last = windows.at(-1);
  const earlier = windows.slice(0, Math.max(1, windows.length - w));
  const best = highest(earlier);
  const place = earlier.indexOf(best);
  const floor = Math.min(lowest(reward.values), 0);
  const drop = best - last;
  const isReal = drop > 5 * reward.noise * Math.sqrt(2 / w) * reward.widening(w, place + w);
  const size = drop / Math.max(best - floor, 1e-12);
  if (!isReal || size <= 0.25) return null;
  return { from: best, to: last, size, first: reward.points[place].row, end: reward.points[place + w - 1].row,
    best: reward.points.slice(place, place + w).map(({ row }) => row) };
}

export function collapse(view) {
  const fall = fallOf(view);
  if (!fall) return null;
  const others = companions(view, fall.first + 1);
  if (!others.length && learningRate(view)) return null; // that finding says more
  const isCollapse = fall.size > 0.35 && others.some(({ key }) => key !== "cut" && key !== "ppoKl");
  const falls = view.reward.points.find(({ row, value }) => row > fall.end && value < fall.from - 0.5 * (fall.from - fall.to));
  const first = others.length ? others.filter(({ row }) => row === others[0].row) : [];
  const { cut, spread } = view;
  const limited = cut && cut.q1 < 0.1 && cut.q4 > 0.4;
  const afterwards = spread && spread.curve.points.filter(({ row }) => row >= fall.end);
  const dead = afterwards?.length && Math.abs(afterwards.at(-1).value) < EDGE;
  const rate = view.curve("lr");
  return finding(limited && !others.some(({ key }) => key === "kl") ? "length_limit" : isCollapse ? "collapse" : "falling", isCollapse || limited ? "stop" : "look", [
    `\`${view.reward.name}\` falls from ${show(fall.from)} (best stretch, ${at(view, fall.best[0])} to ${view.steps[fall.best.at(-1)]}) to ${show(fall.to)} at the end.`,
    first.length > 0 && `First to move: ${first.map(({ name, usual, value }) => `\`${name}\` (${show(usual)} before, ${show(value)})`).join(" and ")} in ${at(view, first[0].row)}${falls ? `; the reward is halfway down in ${at(view, falls.row)}` : ""}.`,
    ...others.filter((each) => !first.includes(each)).slice(0, 2).map(({ name, usual, row, value }) => `Then \`${name}\`: ${show(usual)} before, ${show(value)} in ${at(view, row)}.`),
    limited && `The length limit cuts ${share(cut.q1)} of the completions at first and ${share(cut.q4)} at the end.`,
    isCollapse && dead && "At the end all rewards are equal, so the run cannot recover by itself.",
    first.length && first[0].row <= fall.best.at(-1) ? `Go back to a checkpoint before ${at(view, first[0].row)}.`
      : `Go back to a checkpoint near ${at(view, fall.best.at(-1))}${first.length ? `, before ${at(view, first[0].row)}` : ""}.`,
    rate && highest(rate.values) >= 3e-5 && `The learning rate reaches ${show(highest(rate.values))}, which is high for full fine-tuning.`,
    rate && highest(rate.values) >= 1e-5 && highest(rate.values) < 3e-5 && view.settings.lora !== "yes" && `The learning rate reaches ${show(highest(rate.values))}, high for full fine-tuning.`,
  ], [...new Set([...first.map(({ row }) => row), ...(falls ? [falls.row] : [])])], ["reward", ...others.map(({ key }) => key)]);
}

export function learningRate(view) {
  const rate = view.curve("lr");
  const high = view.settings.lr ?? (rate ? highest(rate.values) : null);
  if (high === null) return null;
  const kl = view.curve("kl");
  const falls = enough(view) && (fallOf(view) || (view.reward?.z < -2.5));
  if (high >= 3e-5 && falls && view.settings.lora !== "yes") {
    return finding("lr_high", "look", [`The learning rate is ${show(high)}, and the reward falls ${from(view.reward)}.`,
      "For full fine-tuning this is ten times too high or more; with LoRA it may be right, so say in the settings which one you train."], [], ["lr", "reward"]);
  }
  if (high <= 1e-6 && view.settings.lora === "yes" && kl && view.steps.at(-1) >= 100 && kl.q4 < 1e-4) {
    return finding("lr_low", "look", [`The learning rate is ${show(high)} with LoRA, and after ${view.steps.at(-1)} steps the KL is only ${show(kl.q4)}: the policy has hardly moved.`], [], ["lr", "kl"]);
  }
  return null;
}

export function entropyLow(view) {
  const entropy = view.curve("entropy");
  if (!entropy || !enough(view) || !(entropy.q4 < 0.06 && entropy.q4 < 0.3 * entropy.q1)) return null;
  const held = heldOutFalls(view);
  const top = view.top;
  const stuck = view.reward && isFlat(view.reward) && top !== null && view.reward.q4 < 0.9 * top;
  if (!held && !stuck) return null;
  return finding("entropy_low", "look", [
    `\`${entropy.name}\` falls ${from(entropy)}: little exploration is left. A falling entropy is not a sign of success.`,
    view.reward && `The training reward goes ${from(view.reward)}${levelsOff(view) === null ? "" : `; it levels off near ${at(view, levelsOff(view))}`}.`,
    "More steps alone will not help.",
  ], [], ["entropy", "reward"]);
}

/** The row from which the reward stays at its last level. */
function levelsOff(view) {
  const { reward } = view;
  if (!reward || reward.length < 12 || !rises(reward)) return null;
  const near = reward.q4 - Math.max(2 * reward.noise, 0.1 * (reward.q4 - reward.q1));
  const place = reward.values.findLastIndex((value) => value < near) + 1;
  return place > 0 && place < 0.7 * reward.length ? reward.points[place].row : null;
}

export function entropyHigh(view) {
  const entropy = view.curve("entropy");
  if (!entropy || !enough(view) || !(entropy.q4 > 2 * entropy.q1 && entropy.q4 > 1)) return null;
  return finding("entropy_high", "look", [`\`${entropy.name}\` rises ${from(entropy)}, more than twice.`,
    view.reward && `The reward goes ${from(view.reward)} at the same time.`], entropy.moved() === null ? [] : [entropy.moved()], ["entropy"]);
}

/** Whether the held-out score has passed its best: { best, row, last } or null. */
function heldOutFalls(view) {
  const held = view.curve("heldOut");
  if (!held || held.length < 6) return null;
  const place = held.values.indexOf(highest(held.values));
  const last = mean(held.values.slice(-3));
  const holds = view.reward && view.reward.q4 > view.reward.q1 - 2 * view.reward.noise;
  if (place >= held.length - 3 || !holds || held.values[place] - last <= 4 * held.noise + 0.02) return null;
  return { name: held.name, best: held.values[place], row: held.points[place].row, last };
}

export function overTrained(view) {
  const found = heldOutFalls(view);
  return found && finding("overtrained", "look", [
    `\`${found.name}\`, the held-out score, peaks at ${show(found.best)} in ${at(view, found.row)} and ends at ${show(found.last)}.`,
    `The training reward goes ${from(view.reward)} and does not show it.`,
    `The best checkpoint is near ${at(view, found.row)}.`,
  ], [found.row], ["heldOut", "reward"]);
}

export function clipHigh(view) {
  const clip = view.curve("clip");
  if (!clip || view.oldClip || !(clip.q4 > 0.2) || !enough(view)) return null;
  return finding("clip_high", "look", [`\`${clip.name}\` goes ${from(clip)}: the clip stops ${share(clip.q4)} of the tokens. With CISPO, GSPO or SAPO this name means something else.`], [], ["clip"]);
}

// What the reward says

const FORMAT = /format|xml|tag|think|structure|json|syntax/i;
const ACCURACY = /accura|correct|answer|solution|result|verif|math|exact|reference|number/i;
export function formatOnly(view) {
  if (!enough(view)) return null;
  const parts = [...view.functions].filter(([, part]) => part.mean).map(([name, part]) => ({ name, curve: part.mean }));
  const format = parts.filter(({ name }) => FORMAT.test(name));
  const accuracy = parts.filter(({ name }) => ACCURACY.test(name) && !FORMAT.test(name));
  const size = (curve) => Math.max(1, highest(curve.values.map(Math.abs)));
  const risen = format.find(({ curve }) => (curve.q4 - curve.q1) / size(curve) > 0.2 && rises(curve));
  const left = accuracy.length === 1 ? accuracy[0].curve : null;
  if (!risen || !left || !((left.q4 - left.q1) / size(left) < 0.02 && left.q4 / size(left) < 0.3)) return null;
  const length = view.curve("length");
  const { spread, reward } = view;
  const rate = view.curve("lr");
  return finding("format_only", "look", [
    `\`${risen.curve.name}\` rises ${from(risen.curve)}, while \`${left.name}\` goes ${from(left)}.`,
    reward && rises(reward) && `The total rises ${from(reward)} only because of the format.`,
    left.q1 < 0.01 ? "Accuracy is about 0 from the start: test that function on a known right answer first." : "Accuracy falls: the cheap part of the reward has won.",
    length && length.z < -2.5 && length.q4 < 0.8 * length.q1 && `Completions get shorter (${show(length.q1)} to ${show(length.q4)} tokens).`,
    spread && spread.curve.q4 < 0.6 * spread.curve.q1 && `\`${spread.curve.name}\` shrinks ${from(spread.curve)}.`,
    rate && highest(rate.values) >= 1e-5 && `The learning rate reaches ${show(highest(rate.values))}, high for full fine-tuning.`,
  ], [], ["reward"]);
}

export function smallDifferences(view) {
  const { spread, reward, ties } = view;
  if (!spread || !reward || view.n < 3) return null;
  const [size, level] = [spread.curve.median, Math.abs(reward.median)];
  if (!(size > EDGE && size < 0.01 * level) || (ties && ties.median >= 0.5) || (!ties && view.top !== null && reward.q4 > 0.97 * view.top)) return null;
  const gradient = view.curve("gradNorm");
  const kl = view.curve("kl");
  return finding("small_std", "look", [
    `Rewards differ by only ${show(size)} around ${show(reward.median)}.`,
    "Dividing by this standard deviation makes full-size advantages of it: the run optimizes noise.",
    gradient && gradient.median > 1 && `The gradient is large for that (${show(gradient.median)}).`,
    kl && kl.q4 > 2 * kl.q1 && enough(view) && isFlat(reward) && `The KL grows ${from(kl)} without a gain in reward.`,
  ], [], ["rewardStd", "reward"]);
}

export function pair(view) {
  const { spread } = view;
  if (view.settings.group === 2) return finding("pair", "look", ["You say that a group has two completions."]);
  if (!spread || view.n < 4 || spread.kind === "batch") return null;
  const near = (value, other) => Math.abs(value - other) < 2e-3;
  const { values } = spread.curve;
  const parts = [...view.functions.values()].map((each) => each.mean).filter(Boolean);
  const halves = parts.some((part) => part.values.every((value) => [0, 0.5, 1].some((other) => near(value, other))));
  if (!values.every((value) => near(value, 0) || near(value, Math.SQRT1_2)) || !values.some((value) => near(value, Math.SQRT1_2)) || !(halves || !parts.length)) return null;
  return finding("pair", "look", ["The standard deviation is 0 or 0.707 on every line, and the mean of a reward is 0, 0.5 or 1: `num_generations` is 2."], [], ["rewardStd", "reward"]);
}

export function plateau(view) {
  const { reward, top } = view;
  if (!reward || reward.length < 20 || !isFlat(reward) || (top !== null && reward.q4 >= 0.9 * top)) return null;
  const held = view.curve("heldOut");
  const [kl, rate] = ["kl", "lr"].map(view.curve);
  const still = kl && rate && rate.median <= 2e-6 && kl.q4 < 1e-4 && view.steps.at(-1) >= 50;
  const noisy = view.settings.prompts === 1 || (view.n < 100 && reward.noise > 0.3 * Math.max(Math.abs(reward.median), 1e-9));
  return finding("plateau", "look", [
    `\`${reward.name}\` goes ${from(reward)} over ${reward.length} lines; the noise of a line is ${show(reward.noise)}, so no trend can be seen.`,
    noisy && "Each line is a few prompts, so the noise is as large as what a run gains in 100 lines: this may be too short to tell.",
    held && `The held-out score goes ${from(held)}.`,
    still && `\`${kl.name}\` is only ${show(kl.q4)}: the policy has hardly moved. With LoRA, a learning rate of ${show(rate.median)} is too small.`,
    "This is not a diagnosis: truncation, ties and a zero gradient were looked for first and not found.",
  ], [], ["reward"]);
}

// Two policies

export function klAtStart(view) {
  const kl = view.curve("kl");
  if (!kl) return null;
  const first = kl.values[0];
  const epochs = view.curve("epoch");
  const isExcerpt = epochs && epochs.values[0] > 0.01 + 3 * Math.abs((epochs.values.at(-1) - epochs.values[0]) / Math.max(1, epochs.length - 1));
  const isFirst = kl.points[0].row === 0 && view.steps[0] <= 1 && !(view.unit === "line" && isExcerpt);
  const single = view.n === 1 && isFirst && first > 0.05;
  if (!single && !(view.n > 1 && isFirst && first > 0.3 && kl.values.at(-1) < 1.5 * first)) return null;
  const ppo = view.curve("ppoKl");
  return finding("kl_start", "look", [
    `\`${kl.name}\` is ${show(first)} in ${at(view, 0)}. The policy still equals the reference there, so it should be about 0: reference and policy differ.`,
    ppo && Math.abs(ppo.values[0]) > 0.02 && `\`${ppo.name}\` is ${show(ppo.values[0])} before any update, so the old log-probabilities differ from the trainer's too: sampler and trainer disagree, or a mask is shifted.`,
    view.curve("policyLoss")?.values[0] === 0 && "A policy loss of 0 is fine in the first step.",
  ], [0], ["kl", "ppoKl"]);
}

const LIMITS = { logpDiff: [0.08, "mean difference of log-probabilities, usually 0.005 to 0.03"], mismatchKl: [0.05, "KL between sampler and trainer"],
  multError: [1.05, "1 is perfect; NeMo-RL itself looks closer above 1.05"], probDiff: [0.02, "mean difference of probabilities"] };

export function sampler(view) {
  const found = Object.entries(LIMITS).map(([key, [limit, what]]) => ({ key, limit, what, curve: view.curve(key) })).find(({ curve, limit }) => curve && Math.max(curve.median, median(curve.values.slice(-curve.quarter))) > limit);
  if (found) {
    const last = median(found.curve.values.slice(-found.curve.quarter));
    return finding("sampler", "look", [`\`${found.curve.name}\` is ${show(Math.max(last, found.curve.median))} (${found.what}; a reason to look above ${found.limit}).`,
      found.curve.q4 > 2 * found.curve.q1 && `It grows ${from(found.curve)}.`], [], [found.key, "reward"]);
  }
  const ppo = view.curve("ppoKl");
  return view.n === 1 && ppo && Math.abs(ppo.values[0]) > 0.05 && !view.curve("kl") && view.steps[0] <= 1
    ? finding("sampler", "look", [`\`${ppo.name}\` is ${show(ppo.values[0])} in the first step, before any update: old and new log-probabilities should be equal.`], [0], ["ppoKl"]) : null;
}

export function notSynced(view) {
  if (!enough(view) || !isFlat(view.reward)) return null;
  const grown = Object.keys(LIMITS).map(view.curve).find((curve) => curve && curve.q4 > 4 * curve.q1 && curve.q4 > 0.05 && !/mult_prob/.test(curve.name));
  const [clip, ppo, gradient] = ["clip", "ppoKl", "gradNorm"].map(view.curve);
  const apart = clip && ppo && clip.q4 > 0.3 && clip.q4 > 1.3 * clip.q1 && Math.abs(ppo.q4) > 5 * Math.abs(ppo.q1);
  if (!grown && !apart) return null;
  return finding("not_synced", "stop", [
    `The reward stays at its first level (${show(view.reward.q1)}, then ${show(view.reward.q4)}),`
      + ` while ${(grown ? [grown] : [clip, ppo]).map((curve) => `\`${curve.name}\` grows ${from(curve)}`).join(" and ")}.`,
    gradient && gradient.q4 > 3 * gradient.q1 && `\`${gradient.name}\` grows ${from(gradient)}.`,
    "The trainer moves, but the samples do not follow: the sampler seems to keep old weights.",
  ], [], ["clip", "ppoKl", "reward", "gradNorm"]);
}
