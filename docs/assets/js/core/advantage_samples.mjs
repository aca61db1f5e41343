// Advantages of many groups, drawn with a seed, and how they are spread.
import { average, groupAdvantages } from "./grpo.mjs";
import { makeRng } from "./rng.mjs";

/** How one reward is drawn: random() gives uniform numbers, p is the probability of a correct sample. */
const REWARDS = {
  binary: (random, p) => (random() < p ? 1 : 0),
  uniform: (random) => random(),
  normal: (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()), // Box and Muller 1958
};

/** Advantages (groups * G,) and how many groups had equal rewards. More groups of a seed begin with the same ones. */
export function drawAdvantages({ kind, p, groupSize, groups, seed }) {
  const random = makeRng(seed);
  const advantages = [];
  let zeroSignals = 0;
  for (let g = 0; g < groups; g++) {
    const found = groupAdvantages(Array.from({ length: groupSize }, () => REWARDS[kind](random, p)));
    advantages.push(...found.advantages);
    if (found.zeroSignal) zeroSignals += 1;
  }
  return { advantages, zeroSignals };
}

/** Mean, standard deviation, largest size, share between -0.5 and 0.5, and how many values differ by 0.001 or more. */
export function describe(values) {
  const mean = average(values);
  return {
    mean,
    std: Math.sqrt(average(values.map((x) => (x - mean) ** 2))),
    largest: values.reduce((most, x) => Math.max(most, Math.abs(x)), 0),
    middle: average(values.map((x) => (Math.abs(x) < 0.5 ? 1 : 0))),
    different: new Set(values.map((x) => Math.round(1000 * x))).size,
  };
}

/** Share of the values in each bin: [{ middle, share }]; the bins are as wide as their middles are apart. */
export function histogram(values, { low = -4, high = 4, width = 0.1 } = {}) {
  const counts = Array.from({ length: Math.round((high - low) / width) + 1 }, () => 0);
  for (const x of values) {
    const bin = Math.round((x - low) / width);
    counts[Math.min(counts.length - 1, Math.max(0, bin))] += 1; // the ends hold all that is beyond them
  }
  return counts.map((count, i) => ({ middle: low + i * width, share: count / values.length }));
}

/** Density of the standard normal distribution. */
export const bell = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
