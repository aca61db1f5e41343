// <grpo-group-advantages>: set the rewards of one group and read off its advantages (catalogue W10).
//
// The numbers are those of exercise 1. In the page's address: r (the rewards), divide=no (by the standard deviation) and
// std=sample (the variance divides by G - 1).
import { groupAdvantages, sum } from "../core/grpo.mjs";
import { group, nearest, slider, toggle } from "../ui/controls.mjs";
import { divergingBars } from "../ui/diverging_bars.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const MOST = 6; // samples in a group
const REWARDS = range(0, 1, 0.05);
const MIXED = "1,1,0,0,0,0.5";
const AS_TAUGHT = { divide: true, std: "population" };

class GroupAdvantages extends Explorable {
  static controls = {
    r: { control: rewardSliders, label: "Rewards of one group", values: [], initial: MIXED },
    divide: { control: toggle, label: "Divide by the standard deviation", initial: AS_TAUGHT.divide },
    std: {
      control: divisor, label: "Divide by G \u2212 1 instead of G",
      options: [["population"], ["sample"]], initial: AS_TAUGHT.std,
    },
  };
  static handles = ["r"];
  static examples = {
    Mixed: { ...AS_TAUGHT, r: MIXED },
    "One correct": { ...AS_TAUGHT, r: "1,0,0,0,0,0" },
    "All correct": { ...AS_TAUGHT, r: "1,1,1,1,1,1" },
    "All wrong": { ...AS_TAUGHT, r: "0,0,0,0,0,0" },
    "A group of one": { ...AS_TAUGHT, r: "1" },
  };
  static guess = {
    ask: "One of six answers is correct (reward 1), the others are wrong (reward 0). What is the advantage of the correct one?",
    of: this.examples["One correct"], values: range(0, 4, 0.05), truth: ({ found }) => found.advantages[0],
  };

  /** The base class reads what a control offers; the rewards may be anything from 0 to 1. */
  control(name, spec) {
    if (name === "r") {
      this.first.r = rewardsIn(this.getAttribute("r")) ?? this.first.r;
      this.state.r = rewardsIn(this.read("r")) ?? this.first.r;
    }
    return super.control(name, spec);
  }

  build() {
    this.chart = divergingBars({ limit: 2.8, ticks: [-2, -1, 0, 1, 2], digits: 0, name: "advantage of each sample: drag one to change its reward", hand: this.lift() });
    this.summary = element("p", { class: "grpo-readout" });
    this.table = table({
      caption: "Rewards and advantages",
      columns: ["sample", "reward", "reward \u2212 mean", "advantage", "pushed"],
    });
    return [this.chart.node, this.summary, this.table.node];
  }

  /** A bar that is dragged up raises the reward of its sample; the sliders do the same for keys. */
  lift() {
    let rewards, at, start;
    return {
      take: (i) => {
        [rewards, at] = [this.state.r.split(",").map(Number), i];
        start = rewards[i];
      },
      to: (change) => {
        rewards[at] = REWARDS[nearest(REWARDS, start + change / 2)]; // the standard deviation of 0 and 1 is about a half
        this.state.r = rewards.join();
        this.controls.r.set(this.state.r);
        this.draw(this.state);
      },
      end: () => this.commit(),
    };
  }

  draw({ r, divide, std: kind }) {
    const rewards = r.split(",").map(Number);
    this.found = groupAdvantages(rewards, { divideByStd: divide, correction: kind === "sample" ? 1 : 0 });
    const { mean, std, advantages } = this.found;
    const noSpread = kind === "sample" && rewards.length === 1; // the variance is 0 / 0
    this.undefined = noSpread && divide;
    this.chart.draw(this.undefined ? [] : advantages, this.guesses);
    const score = (advantage) => (this.undefined ? NO_NUMBER : signed(advantage, 3));
    this.table.fill(rewards.map((reward, i) => [String(i + 1), fixed(reward), signed(reward - mean, 3),
      score(advantages[i]), FATES[direction(advantages[i])]]));
    const total = sum(advantages);
    this.summary.textContent = `G = ${rewards.length}, mean ${fixed(mean, 4)}, `
      + `standard deviation ${noSpread ? NO_NUMBER : fixed(std, 4)}, sum of the advantages ${score(total)}`;
  }

  lesson() {
    const { advantages, zeroSignal } = this.found;
    if (advantages.length === 1) {
      return `A group of one has nothing to compare its sample with: ${this.undefined
        ? "with G \u2212 1 the advantage is 0 / 0, which is not a number. The course wants 0."
        : "the advantage is 0, and it teaches nothing."}`;
    }
    if (zeroSignal) {
      return "Zero signal: all rewards are equal, so every advantage is exactly 0, and the group teaches nothing.";
    }
    const count = (side) => advantages.filter((advantage) => direction(advantage) === side).length;
    return `${count(1)} of ${advantages.length} samples become more likely, ${count(-1)} less likely.`;
  }
}

const NO_NUMBER = "0 / 0";
const FATES = { 1: "\u25b2 up", 0: "\u2013", "-1": "\u25bc down" };

/** Where an advantage pushes its sample: 1 up, -1 down, 0 nowhere. Rounding errors push nowhere. */
const direction = (advantage) => Math.sign(Number(advantage.toFixed(3)));

/** A slider for each sample, as a control whose value is the rewards as text: "1,0,0.5". */
function rewardSliders({ label, value, change, commit }) {
  let rewards;
  const sliders = Array.from({ length: MOST }, (_, i) => slider({
    label: `Sample ${i + 1}`, values: REWARDS, value: 0, show: (reward) => fixed(reward), commit,
    change: (reward) => {
      rewards[i] = reward;
      change(rewards.join());
    },
  }));
  const set = (text) => {
    rewards = text.split(",").map(Number);
    sliders.forEach((one, i) => {
      one.node.hidden = i >= rewards.length;
      one.set(rewards[i] ?? 0);
    });
  };
  set(value);
  return { node: group(label, ...sliders.map(({ node }) => node)), set };
}

/** A box to tick whose value is the word of the address: "population" or "sample". */
function divisor({ value, change, ...spec }) {
  const box = toggle({ ...spec, value: value === "sample", change: (on) => change(on ? "sample" : "population") });
  return { ...box, set: (word) => box.set(word === "sample") };
}

/** Rewards as they stand in an address, in steps of 0.05; null if they are not one to six numbers from 0 to 1. */
function rewardsIn(text) {
  const rewards = (text ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  const valid = rewards.length <= MOST && rewards.every((reward) => reward >= 0 && reward <= 1);
  return valid ? rewards.map((reward) => Math.round(20 * reward) / 20).join() : null;
}

customElements.define("grpo-group-advantages", GroupAdvantages);
