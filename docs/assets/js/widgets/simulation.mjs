// <grpo-simulation>: the ten-action bandit, trained by the real algorithm in the browser (catalogue S1-C*, B1 to B3, B5,
// R1 to R5, P1 to P3, P5). The comparison of the algorithms (B4, P4) is a widget of its own, comparison.mjs.
//
// A run is determined by its settings, its seed and its number of steps. All three stand in the address, so a reload or a
// copied link shows the same run; any change of a setting starts it anew.
import { Simulation } from "../core/bandit.mjs";
import { button, toggle, wholeNumber } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { copy, download } from "../ui/files.mjs";
import { csv, fixed, percent } from "../ui/format.mjs";
import { sendRun } from "../ui/runs.mjs";
import { Widget } from "../ui/widget.mjs";
import { historyView } from "./simulation/history.mjs";
import { panel } from "./simulation/panel.mjs";
import { policyView } from "./simulation/policy.mjs";
import { MOST_STEPS, bestAction, fromAddress, randomSeed, toAddress, toCore } from "./simulation/settings.mjs";
import { flowStrip, stepDetail } from "./simulation/step_detail.mjs";

const READOUTS = ["Steps", "KL from the start", "Max π(a)", "Entropy (nats)", "Expected reward", "Clip fraction", "Groups without signal"];

class SimulationWidget extends Widget {
  setup() {
    this.key = "sim";
    this.state = fromAddress((name) => this.read(name));
    this.panel = panel(this.state, (settings, options) => this.change(settings, options));
    this.policy = policyView();
    this.history = historyView();
    this.detail = stepDetail();
    this.flow = flowStrip();
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.readouts = Object.fromEntries(READOUTS.map((name) => [name, element("dd")]));
    this.append(
      element("div", { class: "grpo-columns" },
        element("div", {}, this.buttons(), this.status,
          element("dl", { class: "grpo-readouts" }, READOUTS.map((name) =>
            element("div", {}, element("dt", {}, name), this.readouts[name]))),
          this.flow.node, this.policy.node, this.history.node),
        this.panel.node),
      this.detail.node);
    const { steps } = this.state;
    this.restart();
    this.advance(steps);
  }

  buttons() {
    const n = wholeNumber({ label: "N", value: this.state.n, low: 1, high: 500, change: (value) => this.change({ n: value }, { restart: false }) });
    n.input.dataset.setting = "n";
    this.runButton = button(`Run ${this.state.n} steps`, () => this.runSteps(), { class: "grpo-button grpo-primary" });
    this.animate = toggle({ label: "Animate", value: false, change: () => {} });
    return element("div", { class: "grpo-bar" },
      button("One step", () => this.oneStep(), { class: "grpo-button grpo-primary" }), n.node, this.runButton, this.animate.node,
      button("Reset", () => this.reset()),
      button("Copy link", () => this.copyLink()),
      button("Download CSV", () => download("bandit-history.csv", this.asCsv(), "text/csv")),
      button("Send to worksheet", () => this.send()));
  }

  /** The settings as core/bandit.mjs takes them. */
  get settings() {
    return toCore(this.state);
  }

  change(settings, { restart = true } = {}) {
    Object.assign(this.state, settings);
    this.panel.show(this.state);
    this.runButton.textContent = `Run ${this.state.n} steps`;
    if (restart) {
      this.restart();
      this.say(`Settings changed: the run starts anew with seed ${this.state.seed}.`);
    }
    this.write(toAddress(this.state));
    this.dispatchEvent(new CustomEvent("grpo-settings", { bubbles: true }));
  }

  reset() {
    this.change(this.state.lock ? {} : { seed: randomSeed() });
    this.say(this.state.lock ? `Reset: the same seed ${this.state.seed} again.` : `Reset: new seed ${this.state.seed}.`);
  }

  /** Back to the policy of the start. */
  restart() {
    this.stop();
    this.simulation = new Simulation(this.settings, { seed: this.state.seed });
    this.last = null;
    this.best = bestAction(this.settings.rewardTable);
    const { policy, maxProbability, entropy, kl } = this.simulation;
    this.curves = { steps: 0, best: [policy[this.best]], maxProbability: [maxProbability], entropy: [entropy], kl: [kl], meanReward: [null], clipFraction: [null], zeroSignal: [null] };
    this.state.steps = 0;
    this.draw();
  }

  /** Makes steps and shows what came out; returns how many there was room for. */
  advance(count, { play = false } = {}) {
    const room = Math.min(count, MOST_STEPS - this.curves.steps);
    const { curves } = this;
    for (let i = 0; i < room; i++) {
      const step = (this.last = this.simulation.step());
      curves.best.push(step.policy[this.best]);
      for (const name of ["maxProbability", "entropy", "kl", "meanReward", "clipFraction", "zeroSignal"]) curves[name].push(step[name]);
    }
    curves.steps += room;
    this.state.steps = curves.steps;
    this.draw({ play });
    this.write(toAddress(this.state));
    return room;
  }

  oneStep() {
    this.stop();
    if (!this.advance(1, { play: true })) return this.full();
    const { steps, actions, zeroSignal, policy } = this.last;
    this.say(`Step ${steps}: drew actions ${actions.join(", ")}. ${zeroSignal ? "All rewards are equal: no signal." : `π(${this.best + 1}) is ${fixed(policy[this.best], 3)}.`}`);
  }

  runSteps() {
    if (this.frame) {
      this.stop();
      return this.say(`Paused after step ${this.curves.steps}.`);
    }
    if (this.curves.steps >= MOST_STEPS) return this.full();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!this.animate.input.checked || still) {
      this.advance(this.state.n);
      return this.sayWhere();
    }
    const end = Math.min(this.curves.steps + this.state.n, MOST_STEPS);
    this.runButton.textContent = "Pause";
    const tick = () => {
      this.frame = null;
      if (!this.isConnected) return;
      this.advance(1);
      if (this.curves.steps < end) this.frame = setTimeout(tick, 60);
      else {
        this.stop();
        this.sayWhere();
      }
    };
    this.frame = setTimeout(tick, 60);
  }

  stop() {
    clearTimeout(this.frame);
    this.frame = null;
    if (this.runButton) this.runButton.textContent = `Run ${this.state.n} steps`;
  }

  disconnectedCallback() {
    this.stop();
  }

  full() {
    this.say(`A run ends after ${MOST_STEPS} steps. Press Reset to start a new one.`);
  }

  draw(options) {
    const { policy, steps, kl, maxProbability, entropy } = this.simulation;
    const { rewardTable } = this.settings;
    const start = this.simulation.startLogp.map(Math.exp);
    this.policy.draw({ policy, before: this.last?.policyBefore ?? policy, start, rewards: rewardTable });
    this.history.draw(this.curves, this.best + 1);
    this.detail.show(this.last);
    this.flow.show(this.last, options);
    const expected = policy.reduce((total, p, a) => total + p * rewardTable[a], 0);
    const silent = this.curves.zeroSignal.filter(Boolean).length;
    const values = [steps, fixed(kl, 3), `${fixed(maxProbability, 3)} (a = ${policy.indexOf(maxProbability) + 1})`, fixed(entropy, 3), fixed(expected, 3), this.last ? percent(this.last.clipFraction) : "–", steps ? `${silent} of ${steps}` : "0"];
    READOUTS.forEach((name, i) => void (this.readouts[name].textContent = values[i]));
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  sayWhere() {
    const half = this.history.half();
    const reached = half === null ? `π(${this.best + 1}) has not passed 0.5.` : `π(${this.best + 1}) passed 0.5 in step ${half}.`;
    this.say(`After ${this.curves.steps} steps π(${this.best + 1}) is ${fixed(this.curves.best.at(-1), 3)}. ${reached}`);
  }

  async copyLink() {
    const address = String(this.addressWith(toAddress(this.state)));
    this.say((await copy(address)) ? "Link copied: it shows this run with these settings." : `Copy this address: ${address}`);
  }

  asCsv() {
    const { curves } = this;
    const columns = ["best", "maxProbability", "entropy", "kl", "meanReward", "clipFraction"];
    const rows = curves.best.map((_, t) => [t, ...columns.map((name) => curves[name][t] ?? ""), t ? Number(curves.zeroSignal[t]) : ""]);
    return csv([["step", "best_probability", "max_probability", "entropy", "kl", "mean_reward", "clip_fraction", "zero_signal"], ...rows]);
  }

  send() {
    if (!this.curves.steps) return this.say("There is no run to send yet: press One step or Run.");
    const count = sendRun({ settings: this.settings, seed: this.state.seed, steps: this.curves.steps });
    this.say(`Sent: seed ${this.state.seed}, ${this.curves.steps} steps. The worksheet now has ${count} ${count === 1 ? "run" : "runs"} to fill its tables from.`);
  }
}

customElements.define("grpo-simulation", SimulationWidget);
