// One run of the simulation as the page shows it: all its steps and its curves. No page, no browser.
import { Simulation, bestAction } from "../../core/bandit.mjs";
import { MOST_STEPS } from "./settings.mjs";

const OF_STEPS = ["maxProbability", "entropy", "kl", "meanReward", "clipFraction", "zeroSignal"];

export class Run {
  /**
   * At the policy of the start. Row t of the `curves` belongs to the state after step t, and to the group of step t where
   * there is one (null in row 0). `best` is the place of the best action, counted from 0; `records` is what the steps told.
   */
  constructor(settings, seed) {
    this.simulation = new Simulation(settings, { seed });
    this.best = bestAction(settings.rewardTable);
    this.records = [];
    this.start = this.simulation.policy; // (K,), before the first step
    const { policy, maxProbability, entropy, kl } = this.simulation;
    const start = { maxProbability, entropy, kl };
    this.curves = { best: [policy[this.best]] };
    for (const name of OF_STEPS) this.curves[name] = [start[name] ?? null];
  }

  get steps() {
    return this.simulation.steps;
  }

  get isFull() {
    return this.steps >= MOST_STEPS;
  }

  /** Makes steps, as long as there is room. */
  advance(count) {
    const end = Math.min(this.steps + count, MOST_STEPS);
    while (this.steps < end) {
      const step = this.simulation.step();
      this.records.push(step);
      this.curves.best.push(step.policy[this.best]);
      for (const name of OF_STEPS) this.curves[name].push(step[name]);
    }
  }

  /** First step after which the best action is more likely than all others together; null if there is none. */
  get half() {
    const step = this.curves.best.findIndex((p) => p > 0.5);
    return step < 0 ? null : step;
  }

  /** The policy (K,) after step t, and what that step told: null for t = 0. */
  at(t) {
    const record = this.records[t - 1] ?? null;
    return { record, policy: record?.policy ?? this.start };
  }

  /** The numbers of the state after step t. */
  readouts(t) {
    const { curves, simulation } = this;
    const { policy } = this.at(t);
    const [kl, maxProbability, entropy, clipFraction] = ["kl", "maxProbability", "entropy", "clipFraction"].map((name) => curves[name][t]);
    return {
      steps: t,
      kl,
      maxProbability,
      likeliest: policy.every((p) => p === maxProbability) ? null : policy.indexOf(maxProbability) + 1,
      entropy,
      expectedReward: policy.reduce((total, p, a) => total + p * simulation.settings.rewardTable[a], 0),
      clipFraction,
      silent: curves.zeroSignal.slice(0, t + 1).filter(Boolean).length,
    };
  }
}
