// <grpo-simulation>: the ten-action bandit, trained by the real algorithm in the browser (catalogue S1-C*, B1 to B3, B5,
// R1 to R5, P1 to P3, P5). The comparison of the algorithms (B4, P4) is a widget of its own, comparison.mjs.
//
// A run is determined by its settings, its seed and its number of steps. All three stand in the address, so a reload or a
// copied link shows the same run; any change of a setting starts it anew.
//
// Longer than 150 lines, because it is the one page on which all settings, readouts and charts of a run come together.
import { button, toggle, wholeNumber } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { copy, download } from "../ui/files.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { sendRuns, sentRuns } from "../ui/runs.mjs";
import { Widget } from "../ui/widget.mjs";
import { historyView } from "./simulation/history.mjs";
import { panel } from "./simulation/panel.mjs";
import { policyView } from "./simulation/policy.mjs";
import { Run } from "./simulation/run.mjs";
import { MOST_STEPS, fromAddress, randomSeed, toAddress, toCore } from "./simulation/settings.mjs";
import { flowStrip, stepDetail } from "./simulation/step_detail.mjs";

const READOUTS = ["Steps", "KL from the start", "Max π(a)", "Entropy (nats)", "Expected reward", "Clip fraction", "Groups without signal"];
const FRAME = 60; // milliseconds for a step of an animated run

class SimulationWidget extends Widget {
  static key = "sim";

  setup() {
    this.state = fromAddress((name) => this.read(name));
    this.panel = panel(this.state, (settings, options) => this.change(settings, options), () => this.keep());
    this.views = { policy: policyView(), history: historyView(), detail: stepDetail(), flow: flowStrip() };
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.readouts = Object.fromEntries(READOUTS.map((name) => [name, element("dd")]));
    const { policy, history, detail, flow } = this.views;
    this.append(
      element("div", { class: "grpo-columns" },
        element("div", {}, this.buttons(), this.status,
          element("dl", { class: "grpo-readouts" }, READOUTS.map((name) =>
            element("div", {}, element("dt", {}, name), this.readouts[name]))),
          flow.node, detail.node, policy.node, history.node),
        this.panel.node));
    const { steps } = this.state;
    this.restart();
    this.advance(steps);
    this.keep();
  }

  buttons() {
    const n = wholeNumber({ label: "Steps per run", value: this.state.n, low: 1, high: 500,
      change: (value) => this.change({ n: value }, { restart: false }) });
    n.input.dataset.setting = "n";
    const primary = { class: "grpo-button grpo-primary" };
    this.runButton = button("", () => this.runOrPause(), primary);
    this.animate = toggle({ label: "Animate", value: false, change: (on) => on || this.pause() });
    return element("div", { class: "grpo-bar" },
      button("One step", () => this.oneStep(), primary), n.node, this.runButton, this.animate.node,
      button("Reset", () => this.reset()),
      button("Copy link", () => this.copyLink()),
      button("Download CSV", () => download(`bandit-history-seed-${this.state.seed}.csv`, this.run.asCsv(), "text/csv")),
      button("Send to worksheet", () => this.send()));
  }

  /** The settings as core/bandit.mjs takes them. */
  get settings() {
    return toCore(this.state);
  }

  /** Takes over what the reader changed; whatever determines a run starts it anew. */
  change(settings, { restart = true, keep = true, look = "" } = {}) {
    Object.assign(this.state, settings);
    this.panel.show(this.state);
    if (restart) {
      this.restart();
      this.say(`Settings changed: the run starts anew with seed ${this.state.seed}.${look}`);
    }
    this.showButton();
    if (keep) this.keep();
    this.dispatchEvent(new CustomEvent("grpo-settings", { bubbles: true }));
  }

  /** Writes the address. Not while a slider moves or a run is shown: browsers allow about three changes a second. */
  keep() {
    this.write(toAddress(this.state));
  }

  reset() {
    const { lock } = this.state;
    this.change(lock ? {} : { seed: randomSeed() });
    this.say(lock ? `Reset: the same seed ${this.state.seed} again.` : `Reset: new seed ${this.state.seed}.`);
  }

  restart() {
    this.stop();
    this.run = new Run(this.settings, this.state.seed);
    this.advance(0);
  }

  advance(count, options) {
    this.run.advance(count);
    this.state.steps = this.run.steps;
    this.draw(options);
  }

  oneStep() {
    this.stop();
    if (this.run.isFull) return this.sayFull();
    this.advance(1, { play: true });
    this.keep();
    const { steps, actions, zeroSignal } = this.run.last;
    this.say(`Step ${steps}: drew actions ${actions.join(", ")}. ${zeroSignal ? "All rewards are equal: no signal." : this.bestNow()}`);
  }

  runOrPause() {
    if (this.timer) return this.pause();
    if (this.run.isFull) return this.sayFull();
    const animated = this.animate.input.checked && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (animated) {
      this.say(`Running ${this.state.n} steps. Press Pause to stop.`);
      return this.play(this.run.steps + this.state.n);
    }
    this.advance(this.state.n);
    this.keep();
    this.sayWhere();
  }

  /** Shows the steps one by one. */
  play(end) {
    this.timer = setTimeout(() => {
      this.advance(1);
      if (this.run.steps < end && !this.run.isFull) return this.play(end);
      this.stop();
      this.keep();
      this.sayWhere();
    }, FRAME);
    this.showButton();
  }

  pause() {
    if (!this.timer) return;
    this.stop();
    this.keep();
    this.say(`Paused after step ${this.run.steps}.`);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.showButton();
  }

  disconnectedCallback() {
    this.stop();
  }

  showButton() {
    this.runButton.textContent = this.timer ? "Pause" : `Run ${this.state.n} steps`;
  }

  draw(options) {
    const { run, views } = this;
    const { policy, startLogp, settings } = run.simulation;
    views.policy.draw({ policy, before: run.last?.policyBefore ?? policy, start: startLogp.map(Math.exp), rewards: settings.rewardTable });
    views.history.draw(run);
    views.detail.show(run.last);
    views.flow.show(run.last, options);
    const { steps, kl, maxProbability, likeliest, entropy, expectedReward, clipFraction, silent } = run.readouts();
    const texts = [String(steps), fixed(kl, 3), `${fixed(maxProbability, 3)} (${likeliest === null ? "all equal" : `a = ${likeliest}`})`, fixed(entropy, 3), fixed(expectedReward, 3),
      clipFraction === null ? "–" : percent(clipFraction), steps ? `${silent} of ${steps}` : "0"];
    READOUTS.forEach((name, i) => void (this.readouts[name].textContent = texts[i]));
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  sayFull() {
    this.say(`A run ends after ${MOST_STEPS} steps. Press Reset to start a new one.`);
  }

  bestNow() {
    return `π(${this.run.best + 1}) is ${fixed(this.run.curves.best.at(-1), 3)}.`;
  }

  sayWhere() {
    const { half, steps, best } = this.run;
    const reached = half === null ? `π(${best + 1}) has not passed 0.5.` : `π(${best + 1}) passed 0.5 in step ${half}.`;
    this.say(`After ${steps} steps ${this.bestNow()} ${reached}`);
  }

  async copyLink() {
    const address = String(this.addressWith(toAddress(this.state)));
    this.say((await copy(address)) ? "Link copied: it shows this run with these settings." : `Copy this address: ${address}`);
  }

  send() {
    const { settings, state, run } = this;
    if (!run.steps) return this.say("There is no run to send yet: press One step or Run.");
    const { steps } = run;
    const again = sentRuns().some((sent) => sent.seed === state.seed && sent.steps !== steps && JSON.stringify(sent.settings) === JSON.stringify(settings))
      ? " It has the seed of a run that you sent before: for a new run press Reset, with the seed unlocked." : "";
    this.say(`Sent: seed ${state.seed}, ${steps} ${steps === 1 ? "step" : "steps"}. ${sendRuns([{ settings, seed: state.seed, steps }])}${again}`);
  }
}

customElements.define("grpo-simulation", SimulationWidget);
