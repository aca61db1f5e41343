// The bandit simulation, as in grader/simulation.py; tests/golden/simulation.json holds the two together.
// K actions, counted from 1 in all results; G samples in a group; entropy and KL in nats.
import { entropy, groupAdvantages, klDivergence, logSoftmax, policyStep } from "./grpo.mjs";
import { checkRange, makeRng, sampleCategorical } from "./rng.mjs";

export const ALGORITHMS = ["grpo", "reinforce", "reinforce_baseline", "actor_critic"];

/** Rewards max(0, 1 - |a - peak| / width) of the actions a = 1, ..., actions. */
export const singlePeak = (peak = 7, { width = 5, actions = 10 } = {}) =>
  Array.from({ length: actions }, (_, j) => Math.max(0, 1 - Math.abs(j + 1 - peak) / width));

/** Rewards with a summit of 0.7 at action 3 and one of 1 at action 8. */
export function doublePeak() {
  const high = singlePeak(8, { width: 3 });
  return singlePeak(3, { width: 3 }).map((low, j) => Math.max(0.7 * low, high[j]));
}

/** Rewards a / 10 of ten actions. */
export const linear = () => singlePeak().map((_, j) => (j + 1) / 10);

/** Settings, beside rewardTable (K,). */
export const DEFAULTS = {
  algorithm: "grpo",
  groupSize: 8,
  lr: 0.5,
  clipEps: 0.2, // null: no clip
  klCoef: 0, // weight of KL(pi || policy at the start)
  innerSteps: 1, // updates with one group
  divideByStd: true, // false: Dr. GRPO
  correction: 0, // the variance divides by G - correction
  criticLr: 0.1, // how far the critic's value moves to the mean reward
  temperature: 1, // of softmax(logits / temperature)
  startAction: null, // favoured at the start
  startLogit: 0, // its logit; the others are 0
};

function checkSettings(settings) {
  const { rewardTable, algorithm, divideByStd } = settings;
  const refuse = (words) => {
    throw new RangeError(words);
  };
  const unknown = Object.keys(settings).find((name) => name !== "rewardTable" && !(name in DEFAULTS));
  if (unknown) refuse(`there is no setting ${unknown}`);
  if (!ALGORITHMS.includes(algorithm)) refuse(`algorithm must be one of ${ALGORITHMS}, got ${algorithm}`);
  if (typeof divideByStd !== "boolean") refuse(`divideByStd must be true or false, got ${divideByStd}`);
  checkRange("number of rewards", rewardTable?.length, 1);
  for (const reward of rewardTable) checkRange("reward", reward, -Infinity);
  const ranges = {
    groupSize: [1, Infinity, true],
    lr: [0],
    clipEps: [0],
    klCoef: [0],
    innerSteps: [0, Infinity, true],
    correction: [0, 1, true],
    criticLr: [0],
    temperature: [0.001],
    startAction: [1, rewardTable.length, true],
    startLogit: [-Infinity],
  };
  for (const [name, range] of Object.entries(ranges)) {
    const mayBeNull = name === "clipEps" || name === "startAction";
    if (settings[name] !== null || !mayBeNull) checkRange(name, settings[name], ...range);
  }
}

/** A run, step by step. Its policy (K,), entropy, kl (to the start) and maxProbability are those of now. */
export class Simulation {
  constructor(settings, { seed }) {
    this.settings = { ...DEFAULTS, ...settings };
    checkSettings(this.settings);
    this.random = makeRng(seed);
    const { rewardTable, startAction, startLogit, temperature } = this.settings;
    this.startLogits = rewardTable.map((_, j) => (j + 1 === startAction ? startLogit : 0));
    this.startLogp = logSoftmax(this.startLogits, temperature);
    this.moveTo(this.startLogits, this.startLogp);
    this.steps = 0;
    this.totalReward = 0;
    this.value = 0; // of the critic
  }

  moveTo(logits, logp) {
    this.logits = logits;
    this.policy = logp.map(Math.exp);
    this.entropy = entropy(logp);
    this.kl = klDivergence(logp, this.startLogp);
    this.maxProbability = Math.max(...this.policy);
  }

  /** Draws one group, updates the policy, and tells all about it. */
  step() {
    const { settings, policy: policyBefore } = this;
    const { algorithm, rewardTable, groupSize, lr, temperature } = settings;
    const actions = Array.from({ length: groupSize }, () => sampleCategorical(policyBefore, this.random()));
    const rewards = actions.map((action) => rewardTable[action]);
    const group = groupAdvantages(rewards, settings);
    const { mean } = group;
    let baseline = mean;
    if (algorithm === "reinforce_baseline") baseline = this.totalReward / (this.steps * groupSize || 1);
    else if (algorithm !== "grpo") baseline = this.value; // 0 without a critic
    const advantages = algorithm === "grpo" ? group.advantages : rewards.map((reward) => reward - baseline);
    const options = algorithm.startsWith("reinforce") ? { lr, temperature } : settings; // one update, no clip, no KL
    const update = policyStep(this.logits, actions, advantages, this.startLogits, options);
    this.moveTo(update.logits, update.logp);
    this.steps += 1;
    this.totalReward += mean * groupSize;
    if (algorithm === "actor_critic") this.value += settings.criticLr * (mean - this.value);
    return {
      steps: this.steps,
      actions: actions.map((action) => action + 1), // (G,)
      rewards, // (G,)
      meanReward: mean,
      std: group.std,
      zeroSignal: group.zeroSignal,
      baseline,
      advantages, // (G,)
      updates: update.updates, // see policyStep
      clipped: update.clipped, // (G,), in the last update
      clipFraction: update.clipFraction,
      ratios: update.ratios, // (G,), after the step
      policyBefore, // (K,): it drew the group
      policy: this.policy, // (K,), and from here on after the step
      entropy: this.entropy,
      kl: this.kl,
      maxProbability: this.maxProbability,
      value: this.value,
    };
  }
}

/**
 * A whole run as arrays. Row t of policy, entropy, kl and maxProbability belongs to the policy after t steps; row t of
 * actions, meanReward, zeroSignal and clipFraction to the group that it drew.
 */
export function run(settings, { seed, steps }) {
  checkRange("steps", steps, 0, Infinity, true);
  const simulation = new Simulation(settings, { seed });
  const found = { actions: [], meanReward: [], zeroSignal: [], clipFraction: [] };
  for (const name of ["policy", "entropy", "kl", "maxProbability"]) found[name] = [simulation[name]];
  while (simulation.steps < steps) {
    const step = simulation.step();
    for (const name in found) found[name].push(step[name]);
  }
  return found;
}
