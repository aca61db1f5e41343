// <grpo-group-advantages>: set the rewards of one group and read off its advantages (catalogue S3-W10).
//
// The numbers are those of exercise 1. In the page's address: r (the rewards), divide=no (by the standard deviation) and
// std=sample (the variance divides by G - 1).
import { groupAdvantages } from "../core/grpo.mjs";
import { button, group, slider, toggle } from "../ui/controls.mjs";
import { divergingBars } from "../ui/diverging_bars.mjs";
import { element } from "../ui/element.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";
import { Widget } from "../ui/widget.mjs";

const MOST = 6; // samples in a group
const REWARDS = Array.from({ length: 21 }, (_, i) => i / 20);
const DEFAULT = [1, 1, 0, 0, 0, 0.5];
const PRESETS = {
  Mixed: DEFAULT,
  "One correct": [1, 0, 0, 0, 0, 0],
  "All correct": [1, 1, 1, 1, 1, 1],
  "All wrong": [0, 0, 0, 0, 0, 0],
  "A group of one": [1],
};

class GroupAdvantages extends Widget {
  setup() {
    this.rewards = rewardsIn(this.read("r")) ?? [...DEFAULT];
    this.divideByStd = this.read("divide") !== "no";
    this.sample = this.read("std") === "sample";
    this.sliders = Array.from({ length: MOST }, (_, i) => slider({
      label: `Sample ${i + 1}`,
      values: REWARDS,
      value: this.rewards[i] ?? 0,
      show: (reward) => fixed(reward),
      change: (reward) => {
        this.rewards[i] = reward;
        this.draw();
      },
      commit: () => this.commit(),
    }));
    this.toggles = {
      divide: this.option("Divide by the standard deviation", "divideByStd"),
      sample: this.option("Divide by G \u2212 1 and not by G", "sample"),
    };
    this.chart = divergingBars({ limit: 2.8, ticks: [-2, -1, 0, 1, 2], digits: 0, name: "advantage of each sample" });
    this.table = table({ caption: "Rewards and advantages", columns: ["sample", "reward", "reward \u2212 mean", "advantage", "pushed"] });
    this.summary = element("p", { class: "grpo-readout" });
    this.status = element("p", { role: "status", class: "grpo-status" });
    const presets = Object.entries(PRESETS).map(([name, rewards]) => button(name, () => this.set({ rewards })));
    this.append(
      element("div", { class: "grpo-bar", role: "group", "aria-label": "Example groups" }, presets, button("Reset", () => this.reset())),
      element("div", { class: "grpo-scorer" },
        element("div", {},
          group("Rewards of one group", ...this.sliders.map(({ node }) => node)),
          group("How they are scaled", this.toggles.divide.node, this.toggles.sample.node)),
        element("div", {}, this.chart.node, this.summary, this.table.node)),
      this.status);
    this.draw();
    this.status.textContent = this.lesson();
  }

  option(label, name) {
    const change = (on) => {
      this[name] = on;
      this.draw();
      this.commit();
    };
    return toggle({ label, value: this[name], change });
  }

  reset() {
    this.set({ rewards: DEFAULT, divideByStd: true, sample: false });
  }

  /** Takes over new values, shows them in the controls, and says what came out. */
  set({ rewards, divideByStd = this.divideByStd, sample = this.sample }) {
    Object.assign(this, { rewards: [...rewards], divideByStd, sample });
    this.rewards.forEach((reward, i) => this.sliders[i].set(reward));
    this.toggles.divide.set(divideByStd);
    this.toggles.sample.set(sample);
    this.draw();
    this.commit();
  }

  draw() {
    this.found = groupAdvantages(this.rewards, { divideByStd: this.divideByStd, correction: this.sample ? 1 : 0 });
    const { mean, std, advantages } = this.found;
    const size = this.rewards.length;
    this.sliders.forEach(({ node }, i) => (node.hidden = i >= size));
    this.chart.draw(advantages);
    this.table.fill(this.rewards.map((reward, i) =>
      [String(i + 1), fixed(reward), signed(reward - mean, 3), signed(advantages[i], 3), FATES[direction(advantages[i])]]));
    const undefinedStd = this.sample && size === 1;
    this.summary.textContent =
      `G = ${size}, mean ${fixed(mean, 4)}, standard deviation ${undefinedStd ? "0 / 0" : fixed(std, 4)}, `
      + `sum of the advantages ${fixed(advantages.reduce((total, x) => total + x, 0), 3)}`;
  }

  /** Keeps the state in the address and says in a sentence what the group teaches. */
  commit() {
    const same = this.rewards.join() === DEFAULT.join();
    this.write({ r: same ? null : this.rewards.join(), divide: this.divideByStd ? null : "no", std: this.sample ? "sample" : null });
    this.status.textContent = this.lesson();
  }

  lesson() {
    const { advantages, zeroSignal } = this.found;
    if (this.rewards.length === 1) {
      const library = this.sample ? " Code that divides by G \u2212 1 gets 0 / 0 here, which is not a number." : "";
      return `A group of one has nothing to compare its sample with: the advantage is 0, and it teaches nothing.${library}`;
    }
    if (zeroSignal) return "Zero signal: all rewards are equal, so every advantage is exactly 0, and the group teaches nothing.";
    const count = (side) => advantages.filter((advantage) => direction(advantage) === side).length;
    return `${count(1)} of ${advantages.length} samples become more likely, ${count(-1)} less likely.`;
  }
}

const FATES = { 1: "\u25b2 up", 0: "\u2013", "-1": "\u25bc down" };

/** Where an advantage pushes its sample: 1 up, -1 down, 0 nowhere. Rounding errors push nowhere. */
const direction = (advantage) => Math.sign(Number(advantage.toFixed(3)));

/** Rewards as they stand in an address, "1,0,0.5"; null if they are not one to six numbers from 0 to 1. */
function rewardsIn(text) {
  const rewards = (text ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  const valid = rewards.length <= MOST && rewards.every((reward) => reward >= 0 && reward <= 1);
  return valid ? rewards.map((reward) => Math.round(20 * reward) / 20) : null;
}

customElements.define("grpo-group-advantages", GroupAdvantages);
