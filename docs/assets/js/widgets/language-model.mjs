// <grpo-language-model>: the course's language model, trained by GRPO in this tab, with the reader's own reward.
//
// Settings and seed determine a run, and the address has them; any change of a setting starts a new one, and the run before
// stays as a dashed line. The worker, the weights and the views come when Run is pressed (trainer.mjs, screen.mjs).
//
// Longer than 150 lines, because it is the one place at which settings, run, views and sentences come together.
import { written } from "../core/lm/reward.mjs";
import { button } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { folded } from "../ui/folded.mjs";
import { percent } from "../ui/format.mjs";
import { Widget } from "../ui/widget.mjs";
import { asking } from "./language-model/asking.mjs";
import { OPENINGS } from "./language-model/openings.mjs";
import { panel } from "./language-model/panel.mjs";
import { SETTINGS, TASKS, difference, fit, fromAddress, measured, prompts, toAddress, toCore, usual } from "./language-model/settings.mjs";
import { Trainer } from "./language-model/trainer.mjs";
import { transport } from "./simulation/transport.mjs";

const SPEED = 4;
const MILLISECONDS = 80; // between two pictures of a fast run: the worker needs the processor more
const LINKED = /^lm\.(.*)$/;

class LanguageModel extends Widget {
  static key = "lm";

  setup() {
    const { state, ignored } = fromLink();
    Object.assign(this, { state, step: 0, group: 0, chosen: null, ghost: null, run: null });
    this.linked = state.step; // where a link leads: the first run goes there at once
    this.trainer = new Trainer({
      started: (exact) => this.started(exact), step: (record, isIdle) => this.took(record, isIdle),
      stopped: (sentence) => this.stop(sentence), failed: (error) => this.fail(error),
    });
    this.trainer.speed = SPEED;
    this.panel = panel(state, (settings) => this.change(settings), (name) => this.open(name));
    this.asking = asking(() => this.focusAndRun(), (settings) => this.second(settings));
    this.transport = this.makeTransport();
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.picture = element("div", { class: "lm-picture" }, element("p", { class: "lm-empty" },
      "The curve appears here while the model learns. Run loads the model (120 kB) and its arithmetic; nothing leaves your browser."));
    this.below = element("div", { class: "lm-below" });
    this.python = folded("The same run in Python");
    this.numbers = folded("The curves as numbers");
    this.build();
    this.say(ignored.length ? `Ignored in this link: ${ignored.join("; ")}.` : this.invitation());
    if (state.open) this.asking.ask(state.open);
    this.showTransport();
  }

  makeTransport() {
    return transport({
      run: () => this.runOrPause(), step: () => this.oneStep(), reset: () => this.reset(), seek: (step) => this.seek(step),
      pace: (speed) => void (this.trainer.speed = speed), speed: SPEED, settings: this.panel.opener,
      actions: [["Copy link", () => this.copyLink()], ["Copy log (metrics.csv)", () => this.copyLog()], ["Download log", () => this.saveLog()]],
    });
  }

  build() {
    const board = element("section", { class: "grpo-board", "aria-label": "Run" }, this.status, this.asking.node, this.picture, this.transport.node);
    this.append(element("div", { class: "grpo-play" }, element("div", {}, board, this.below),
      element("div", { class: "grpo-beside" }, this.panel.node)), this.numbers, this.python);
    this.python.addEventListener("toggle", () => this.showPython());
    this.numbers.addEventListener("toggle", () => this.showNumbers());
    this.onVisible = () => this.visibility();
    document.addEventListener("visibilitychange", this.onVisible);
  }

  disconnectedCallback() {
    this.trainer.close();
    document.removeEventListener("visibilitychange", this.onVisible);
  }

  // Settings

  change(settings, { opening = null } = {}) {
    const before = { ...this.state };
    Object.assign(this.state, settings, { open: opening });
    if (settings.task && !opening) this.takeTask(before.task);
    const less = fit(this.state);
    if (!opening) this.asking.close();
    this.panel.show(this.state, opening || !("terms" in settings));
    this.end();
    const changed = difference(before, this.state);
    if (changed) this.say(`${changed}. ${less ? `${less}. ` : ""}Press Run to start with step 1.`);
    this.keep();
    this.showPython();
  }

  /** Another task brings its own settings, where the reader had those of the task before. */
  takeTask(before) {
    for (const name of Object.keys(SETTINGS)) {
      if (name !== "task" && this.state[name] === usual(name, before)) this.state[name] = usual(name, this.state.task);
    }
    const { state: { terms } } = fromAddress([["task", this.state.task]]);
    Object.assign(this.state, { terms, prompt: TASKS[this.state.task].prompt });
  }

  keep() {
    this.write({ ...toAddress(this.state), open: this.state.open });
  }

  /** Ends the run, which stays as a dashed line. */
  end() {
    this.trainer.giveUp();
    if (this.run?.steps) this.ghost = this.run;
    Object.assign(this, { run: null, step: 0, group: 0, chosen: null });
    this.state.step = 0;
    this.draw();
  }

  reset() {
    this.end();
    this.keep();
    this.say(`Reset. ${this.invitation()}`);
  }

  open(name) {
    const { state } = fromAddress(Object.entries(OPENINGS[name].settings).map(([key, value]) => [key, String(value)]));
    this.change(state, { opening: name });
    this.ghost = null;
    this.draw();
    this.panel.close();
    this.say(`${OPENINGS[name].name}. Guess first, then it runs.`);
    this.asking.ask(name);
    this.asking.node.querySelector("button").focus();
  }

  /** The other run of an opening. */
  second(settings) {
    this.change(settings, { opening: this.state.open });
    this.focusAndRun();
  }

  focusAndRun() {
    this.transport.node.querySelector(".grpo-run").focus(); // the button that was pressed goes
    this.runOrPause();
  }

  // Running

  async load() {
    const [views] = await Promise.all([import("./language-model/screen.mjs"), this.trainer.load()]);
    this.Run = views.Run;
    this.curves = views.curves((step) => this.seek(step));
    this.rows = views.completions((row, letter) => this.choose(row, letter), (by) => this.turn(by));
    this.term = views.termView();
    this.picture.replaceChildren(this.curves.main, element("div", { class: "lm-small" }, this.curves.small));
    this.below.replaceChildren(this.rows.node, this.term.node);
    this.numbers.append(this.curves.numbers);
  }

  fail(error) {
    this.trainer.close();
    this.showTransport();
    this.say(`The model cannot train here: ${error.message}. Below is a recorded run, and the command that trains it in Python.`);
    this.below.replaceChildren(...this.fallback);
  }

  runOrPause() {
    if (this.trainer.playing) return this.pause();
    if (this.run?.isFull) this.end();
    return this.play(this.linked || Infinity);
  }

  oneStep() {
    if (this.trainer.playing) return this.pause();
    if (this.run && this.step < this.run.steps) return this.seek(this.step + 1);
    if (this.run?.isFull) return this.say("This run is finished. Run again repeats it; change a setting for another one.");
    return this.play((this.run?.steps ?? 0) + 1);
  }

  /** Trains until step `goal`. */
  async play(goal) {
    this.asking.hide();
    this.goal = goal;
    this.trainer.hurry = this.linked > 0;
    this.trainer.playing = true;
    this.showTransport();
    if (!this.trainer.worker) {
      this.say("Loading the model …");
      try {
        await this.load();
      } catch (error) {
        return this.fail(error);
      }
    }
    if (!this.trainer.playing) return;
    if (this.run) return this.trainer.next();
    const { state } = this;
    this.run = new this.Run(state);
    this.trainer.start({ terms: state.terms, settings: toCore(state), prompts: prompts(state), targets: measured(state).targets, seed: state.seed });
  }

  started(exact) {
    this.run.start = exact;
    this.later();
  }

  took(record, isIdle) {
    const follows = this.trainer.playing || this.step === this.run.steps;
    this.run.add(record);
    if (follows) this.look(this.run.steps);
    if (isIdle) this.stop(this.idle());
    else if (this.run.isFull || this.run.steps >= this.goal) this.stop();
    else this.later();
  }

  pause() {
    this.trainer.pause();
    this.draw();
    this.say(`Paused at step ${this.run?.steps ?? 0}.`);
  }

  /** The run has reached its goal or, with a sentence, cannot go on. */
  stop(sentence) {
    this.trainer.pause();
    this.linked = 0;
    this.draw();
    const verdict = (this.run.isFull || sentence) && this.run.steps ? this.asking.verdict(this.run) : null;
    this.say(verdict ?? sentence ?? this.where());
  }

  /** In the background a run goes on; coming back, the reader is told. */
  visibility() {
    const { trainer, run } = this;
    if (document.hidden) {
      this.left = trainer.playing ? run?.steps : undefined;
      if (run && trainer.timer && trainer.playing) trainer.next();
    } else if (this.left !== undefined) {
      this.draw();
      this.say(`The run went on while this tab was in the background, from step ${this.left} to ${run.steps}.`);
    }
  }

  // What is seen

  seek(step) {
    if (this.trainer.playing) this.pause();
    if (!this.run) return;
    this.look(Math.min(Math.max(0, step), this.run.steps));
    this.state.step = this.step === this.run.steps ? 0 : this.step;
    this.keep();
    this.draw();
    this.say(this.where());
  }

  /** Shows a step, and of its groups one that teaches something. */
  look(step) {
    Object.assign(this, { step, group: this.run.telling(step), chosen: null });
  }

  choose(row, letter) {
    if (this.trainer.playing) this.pause();
    this.chosen = { row, letter };
    this.draw();
    this.rows.node.querySelector("[aria-pressed=true]")?.focus({ preventScroll: true });
    this.term.node.scrollIntoView({ block: "nearest" });
  }

  turn(by) {
    const { p } = this.run.state;
    this.group = (this.group + by + p) % p;
    this.chosen = null;
    this.draw();
  }

  later() {
    if (performance.now() - this.drawnAt < MILLISECONDS) return;
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.drawnAt = performance.now();
    this.showTransport();
    if (!this.curves) return;
    const { step, ghost, group, chosen, trainer: { playing } } = this;
    const run = this.run ?? new this.Run(this.state);
    this.curves.draw({ run, step, ghost, name: measured(run.state).name });
    this.rows.draw({ run, step, group, chosen, playing });
    this.term.draw(step && chosen ? { run, step, group, chosen } : null);
    if (playing && step) this.say(`Step ${step}: mean reward ${run.records[step - 1].meanReward.toFixed(2)}.`);
    if (!playing) this.showNumbers();
  }

  showTransport() {
    const { step, run, state, trainer: { playing } } = this;
    const label = playing ? "Pause" : run?.isFull ? "Run again" : run?.steps ? "Go on" : `Run ${state.steps} steps`;
    this.transport.show({ step, steps: run?.steps ?? 0, label, playing });
    this.status.setAttribute("aria-live", playing ? "off" : "polite"); // a run does not talk into everything
  }

  showNumbers() {
    if (this.numbers.open && this.curves && this.run) this.curves.showNumbers(this.run);
  }

  async showPython() {
    if (!this.python.open) return;
    const { inPython } = await import("./language-model/python.mjs");
    const copier = (text) => button("Copy", async () => this.say((await toClipboard(text)) ? "Copied." : "This browser does not let the page copy: select the text."));
    this.python.replaceChildren(this.python.firstChild, ...inPython(this.state, copier));
  }

  // Sentences

  say(sentence) {
    if (this.status.textContent !== sentence) this.status.textContent = sentence;
  }

  invitation() {
    const { task, terms, g, p } = this.state;
    const what = { pizza: "Only “pizza.” earns a reward, 4.", sums: "The right sum earns 1, anything else 0.", own: `The reward is ${written(terms)}.` }[task];
    return `${what} Each step draws ${p} × ${g} completions. Press Run.`;
  }

  idle() {
    const { state, steps } = this.run;
    if (state.g === 1) return `With G = 1 a completion is its own mean: every advantage is 0. After ${steps} steps nothing has moved, so the run stops.`;
    return `All rewards were equal within every group for ${steps} steps: no signal, so no weight moves, and the run stops. Change the reward so that some completions earn more than others.`;
  }

  where() {
    const { run, step } = this;
    const exact = `${measured(run.state).name}: ${percent(run.curve("exact")[step], 1)}`;
    if (!step) return `Before the first step. ${exact}.`;
    const more = run.isFull && step === run.steps ? " Press a letter below, or a point of a curve." : "";
    return `Step ${step} of ${run.state.steps}. Mean reward ${run.records[step - 1].meanReward.toFixed(2)}; ${exact}.${more}`;
  }

  // Handing on

  async copyLink() {
    const address = String(this.addressWith({ ...toAddress(this.state), open: this.state.open }));
    this.say((await toClipboard(address)) ? "Link copied: it has all settings, the reward and the seed." : `Copy this address: ${address}`);
  }

  async copyLog() {
    if (!this.run?.steps) return this.say("There is no log yet: press Run.");
    this.say((await toClipboard(this.run.csv())) ? "Log copied, with the columns of metrics.csv: paste it into Read your run." : "This browser does not let the page copy. Choose Download log.");
  }

  async saveLog() {
    if (!this.run?.steps) return this.say("There is no log yet: press Run.");
    (await import("../ui/files.mjs")).download("metrics.csv", this.run.csv(), "text/csv");
  }
}

const toClipboard = async (text) => (await import("../ui/files.mjs")).copy(text);

/** { state, ignored } of the page's address. An opening's settings come first, so that a link needs only its name. */
function fromLink() {
  const given = [...new URLSearchParams(location.search)].flatMap(([name, value]) => (LINKED.test(name) ? [[LINKED.exec(name)[1], value]] : []));
  const open = given.find(([name]) => name === "open")?.[1];
  const known = Object.hasOwn(OPENINGS, open ?? "");
  const first = Object.entries(known ? OPENINGS[open].settings : {}).map(([name, value]) => [name, String(value)]);
  const { state, ignored } = fromAddress([...first, ...given]);
  if (open !== undefined && !known) ignored.push(`open = ${open.slice(0, 30)} (one of ${Object.keys(OPENINGS).join(", ")})`);
  return { state: { ...state, open: known ? open : null }, ignored };
}

customElements.define("grpo-language-model", LanguageModel);
