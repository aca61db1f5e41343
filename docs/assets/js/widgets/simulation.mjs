// <grpo-simulation>: the ten-action bandit, trained by the real algorithm in the browser (catalogue S1-C*, B1 to B3, B5,
// R1 to R5, P1 to P3, P5). The comparison of the algorithms (B4, P4) is a widget of its own, comparison.mjs.
//
// A run is determined by its settings, its seed and its number of steps, and all three are in the address; any change of a
// setting starts it anew. Steps are computed when they are asked for, and then shown: `time` is counted in steps, and 13.4
// is the film of step 14. What is sent or copied is the whole run.
//
// Longer than 150 lines, because it is the one page on which all settings, readouts and charts of a run come together.
import { button } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { folded } from "../ui/folded.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { isStill } from "../ui/moving.mjs";
import { sendRuns, sentRuns } from "../ui/runs.mjs";
import { Widget } from "../ui/widget.mjs";
import { board } from "./simulation/board.mjs";
import { SECONDS, stageAt } from "./simulation/film.mjs";
import { flowStrip } from "./simulation/flow.mjs";
import { groupView } from "./simulation/group.mjs";
import { historyView } from "./simulation/history.mjs";
import { panel } from "./simulation/panel.mjs";
import { Run } from "./simulation/run.mjs";
import { MOST_STEPS, description, difference, fromAddress, otherwise, randomSeed, samples, steps, toAddress, toCore } from "./simulation/settings.mjs";
import { AT_ONCE, transport } from "./simulation/transport.mjs";

const READOUTS = ["Steps", "KL from the start", "Max π(a)", "Entropy (nats)", "Expected reward", "Clip fraction", "Groups without signal"];
const FOLDS = ["Step detail", "Policy as a table", "History as a table"];
const READABLE = 4; // times the usual speed: faster, nobody can follow single samples or sentences
const RUN_SPEED = 4; // at the usual speed 50 steps take a minute

class SimulationWidget extends Widget {
  static key = "sim";

  setup() {
    this.state = fromAddress((name) => this.read(name));
    this.speed ??= RUN_SPEED;
    this.seen = true;
    this.panel = panel(this.state, (settings, options) => this.change(settings, options), () => this.keep());
    this.views = { board: board(), group: groupView(), history: historyView((step) => this.seek(step)), flow: flowStrip() };
    this.folds = FOLDS.map((name) => folded(name));
    this.transport = this.makeTransport();
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.printed = element("p", { class: "grpo-printed" });
    this.readouts = Object.fromEntries(READOUTS.map((name) => [name, element("dd")]));
    this.build();
    const { steps: made } = this.state;
    this.restart();
    this.advance(made);
    this.say(made ? this.where() : this.opening());
    this.keep();
  }

  makeTransport() {
    return transport({
      run: () => this.runOrPause(), step: () => this.oneStep(), reset: () => this.reset(), seek: (step) => this.seek(step),
      pace: (speed) => this.pace(speed), speed: this.speed, settings: this.panel.opener,
      actions: [
        ["Copy link", () => this.copyLink()],
        ["Download CSV", async () => (await import("./simulation/csv.mjs")).saveCsv(this.run, this.state.seed)],
        ["Print", () => print()],
      ],
    });
  }

  build() {
    const { board: picture, group, history, flow } = this.views;
    const screen = element("section", { class: "grpo-board", "aria-label": "Policy" }, this.status, picture.node, this.transport.node);
    const readouts = element("dl", { class: "grpo-readouts" }, READOUTS.map((name) =>
      element("div", {}, element("dt", {}, name), this.readouts[name])));
    const under = element("div", { class: "grpo-under" }, picture.key, button("Send to worksheet", () => this.send()));
    const below = element("div", { class: "grpo-below" }, element("div", {}, readouts, flow.node), history.node);
    this.append(
      element("div", { class: "grpo-play" }, element("div", {}, screen, this.printed, under),
        element("div", { class: "grpo-beside" }, this.panel.node, group.node), below),
      ...this.folds);
    this.folds.forEach((fold) => fold.addEventListener("toggle", () => this.openTables()));
    this.addEventListener("grpo-open", () => screen.scrollIntoView({ block: "start", behavior: "instant" }));
    new ResizeObserver(() => this.draw()).observe(screen);
    new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting; // the last of several
      this.go();
    }).observe(this);
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
      const changed = difference(this.kept, this.state) || "The same settings";
      const drawn = this.kept.g === this.state.g ? "" : `each step draws ${samples(this.state.g)} and `;
      this.say(look || `${changed}: ${drawn}the run starts again with seed ${this.state.seed}.`);
    }
    this.showTransport();
    if (keep) this.keep();
    this.dispatchEvent(new CustomEvent("grpo-settings", { bubbles: true }));
  }

  /** Writes the address. Not while a slider moves or a run is shown: browsers allow about three changes a second. */
  keep() {
    this.kept = { ...this.state };
    this.write(toAddress(this.state));
  }

  reset() {
    const { lock } = this.state;
    this.change(lock ? {} : { seed: randomSeed() });
    this.say(lock ? `Reset: seed ${this.state.seed} again.` : `Reset: new seed ${this.state.seed}.`);
  }

  /** A run of no steps. The one before stays as a ghost. */
  restart() {
    this.playing = false;
    if (this.run?.steps) this.ghost = { run: this.run, made: this.made };
    this.made = { ...this.state };
    if (this.ghost) this.ghost.name = ["the run before", otherwise(this.ghost.made, this.made), `seed ${this.ghost.made.seed}`].filter(Boolean).join(", ");
    this.run = new Run(this.settings, this.state.seed);
    this.advance(0);
  }

  /** Makes steps and shows the state after them. */
  advance(count) {
    this.make(count);
    this.jump(this.run.steps);
  }

  make(count) {
    this.run.advance(count);
    this.state.steps = this.run.steps;
  }

  // Time

  get step() {
    return Math.ceil(this.time);
  }

  oneStep() {
    this.time = this.step;
    if (this.time === this.run.steps) {
      if (this.run.isFull) return this.sayFull();
      this.make(1);
      this.keep();
    }
    this.play(this.time + 1);
  }

  runOrPause() {
    if (this.playing) return this.pause();
    if (this.time === this.run.steps) {
      if (this.run.isFull) return this.sayFull();
      this.make(this.state.n);
      this.keep();
    }
    this.play(this.run.steps);
  }

  /** Shows the steps until `end`, as a film or at once. */
  play(end) {
    this.from = this.time;
    this.end = end;
    if (isStill() || this.speed === AT_ONCE) return this.finish();
    this.playing = true;
    if (end - this.from > 1) this.say(`Running ${steps(end - this.step)}. Press Pause to stop.`);
    this.showTransport();
    this.go();
  }

  /** A single step is there to be watched. */
  get tempo() {
    return this.end - this.from > 1 ? this.speed : Math.min(1, this.speed);
  }

  /** Asks for the next moment, while it plays and is in sight. */
  go() {
    cancelAnimationFrame(this.frame);
    let last = null;
    const next = (at) => {
      if (!this.playing || !this.seen || !this.isConnected) return;
      if (last !== null) this.time = Math.min(this.end, this.time + (Math.min(0.1, (at - last) / 1000) * this.tempo) / SECONDS);
      last = at;
      if (this.time >= this.end) return this.finish();
      this.draw();
      this.frame = requestAnimationFrame(next);
    };
    this.frame = requestAnimationFrame(next);
  }

  finish() {
    this.jump(this.end);
    this.say(this.end - this.from > 1 ? this.where() : this.told(this.end));
  }

  pause() {
    this.playing = false;
    this.draw();
    this.say(`Paused at step ${this.step} of ${this.run.steps}.`);
  }

  pace(speed) {
    this.speed = speed;
    if (this.playing && speed === AT_ONCE) this.finish();
  }

  seek(step) {
    this.jump(step);
    this.say(step ? this.told(step) : this.opening());
  }

  jump(step) {
    this.playing = false;
    this.time = step;
    this.draw();
  }

  disconnectedCallback() {
    this.playing = false;
  }

  // Picture and numbers

  draw() {
    const { run, views, step, ghost, playing } = this;
    const t = step ? this.time - step + 1 : 1;
    const crowd = playing && this.tempo > READABLE;
    const { record } = run.at(step);
    views.board.draw({ run, step, t, ghost, crowd });
    views.group.draw({ record, size: this.state.g, t: crowd ? 1 : t });
    views.flow.light(t < 1 && !crowd ? stageAt(t) : -1);
    if (playing && this.drawn === step) return;
    this.drawn = step;
    views.history.draw({ run, step, ghost });
    views.flow.show(record);
    this.showReadouts(step);
    this.showTransport();
    if (playing && step > 1 && this.end - this.from > 1) this.say(crowd ? this.passed(step) : this.told(step - 1));
    if (playing) return;
    this.tables?.show(run, step); // not while a run is shown
    this.printed.textContent = `${description(this.state)}.`;
  }

  showReadouts(step) {
    const { kl, maxProbability, likeliest, entropy, expectedReward, clipFraction, silent } = this.run.readouts(step);
    const texts = [String(step), fixed(kl, 3), `${fixed(maxProbability, 3)} (${likeliest === null ? "all equal" : `a = ${likeliest}`})`, fixed(entropy, 3), fixed(expectedReward, 3),
      clipFraction === null ? "–" : percent(clipFraction), step ? `${silent} of ${step}` : "0"];
    READOUTS.forEach((name, i) => void (this.readouts[name].textContent = texts[i]));
  }

  async openTables() {
    try {
      this.tables ??= (await import("./simulation/tables.mjs")).tables(this.folds);
      this.tables.show(this.run, this.step);
    } catch {
      this.say("The tables could not be loaded. Check your connection and open them again.");
    }
  }

  showTransport() {
    const { step, run, playing, time } = this;
    const more = `Run ${run.steps ? `${this.state.n} more` : steps(this.state.n)}`;
    const label = playing ? "Pause" : time < run.steps ? `Play to step ${run.steps}` : more;
    this.transport.show({ step, steps: run.steps, label, playing });
    this.status.setAttribute("aria-live", playing ? "off" : "polite"); // a film that plays does not talk into everything
  }

  // Sentences

  say(sentence) {
    this.status.textContent = sentence;
  }

  sayFull() {
    this.say(`A run ends after ${MOST_STEPS} steps. Press Reset to start a new one.`);
  }

  opening() {
    const { run, ghost } = this;
    const pale = ghost ? ` Pale: ${ghost.name}, in which action ${run.best + 1} reached ${percent(ghost.run.curves.best.at(-1))}.` : "";
    return `${this.state.start === "biased" ? "Before the first step." : "Every action is equally likely."}${pale}`;
  }

  /** Where a run is, while it goes by too fast for more. */
  passed(step) {
    return `Step ${step} of ${this.end}: π(${this.run.best + 1}) is ${fixed(this.run.curves.best[step], 3)}.`;
  }

  /** What a step changed. */
  told(step) {
    const { record } = this.run.at(step);
    const best = `π(${this.run.best + 1}) is ${fixed(this.run.curves.best[step], 3)}.`;
    if (record.zeroSignal) return `Step ${step}: all rewards are equal, so there is no signal. ${best}`;
    const gains = record.policy.map((p, a) => p - record.policyBefore[a]);
    const [most, least] = [Math.max(...gains), Math.min(...gains)];
    const points = (gain) => `${gains.indexOf(gain) + 1} (${signed(100 * gain, 1)} points)`;
    return `Step ${step}: action ${points(most)} gains most, ${points(least)} loses most. ${best}`;
  }

  where() {
    const { half, best, curves } = this.run;
    const name = `π(${best + 1})`;
    const reached = half === null ? `${name} has not passed 0.5.` : `${name} passed 0.5 in step ${half}.`;
    return `After ${steps(this.run.steps)} action ${best + 1}, the best, has probability ${fixed(curves.best.at(-1), 3)}. ${reached}`;
  }

  // Handing on

  async copyLink() {
    const address = String(this.addressWith(toAddress(this.state)));
    const { copy } = await import("../ui/files.mjs");
    this.say((await copy(address)) ? "Link copied: it shows this run with these settings." : `Copy this address: ${address}`);
  }

  /** Sends the whole run, and shows its end first. */
  send() {
    const { settings, state, run } = this;
    if (!run.steps) return this.say("There is no run to send yet: press One step or Run.");
    this.jump(run.steps);
    const again = sentRuns().some((sent) => sent.seed === state.seed && sent.steps !== run.steps && JSON.stringify(sent.settings) === JSON.stringify(settings))
      ? " You already sent a run with this seed: for a new run, unlock the seed and press Reset." : "";
    this.say(`Sent: seed ${state.seed}, ${steps(run.steps)}. ${sendRuns([{ settings, seed: state.seed, steps: run.steps }])}${again} `);
    this.status.append(element("a", { href: worksheetAddress() }, "Open the worksheet"));
  }
}

/** Taken from a link of the page: it is another one where the pages are files on a disk. */
const worksheetAddress = () => document.querySelector("article a[href*=worksheet]").href;

customElements.define("grpo-simulation", SimulationWidget);
