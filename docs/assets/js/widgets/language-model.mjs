// <grpo-language-model>: the course's language model, trained by GRPO in this tab, with the reader's own reward.
//
// Settings and seed determine a run, and the address has them. The worker, the weights and the views are loaded when Run is
// pressed. The worker makes one step when it is asked, so the page decides when the next one comes.
import { written } from "../core/lm/reward.mjs";
import { button } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { folded } from "../ui/folded.mjs";
import { percent } from "../ui/format.mjs";
import { Widget } from "../ui/widget.mjs";
import { OPENINGS } from "./language-model/openings.mjs";
import { panel } from "./language-model/panel.mjs";
import { TASKS, difference, fit, fromAddress, measured, prompts, toAddress, toCore, usual, SETTINGS } from "./language-model/settings.mjs";
import { transport } from "./simulation/transport.mjs";

const PER_SECOND = 2; // steps, at the usual speed
const FIRST_SPEED = 4;
const MILLISECONDS = 80; // between two pictures

/** Addresses of what comes with Run, from that of the site's script; null where the site is opened from a disk. */
function assets() {
  const script = document.querySelector("script[src$='assets/js/index.mjs']");
  return script && location.protocol !== "file:" && window.Worker ? new URL("..", script.src) : null;
}

class LanguageModel extends Widget {
  static key = "lm";

  setup() {
    Object.assign(this, { speed: FIRST_SPEED, step: 0, group: 0, chosen: null, ghost: null, run: null });
    const { state, ignored } = this.fromLink();
    this.state = state;
    this.linked = state.step; // where a link leads: the first run goes there at once
    this.panel = panel(state, (settings) => this.change(settings), (name) => this.open(name));
    this.transport = transport({
      run: () => this.runOrPause(), step: () => this.oneStep(), reset: () => this.reset(), seek: (step) => this.seek(step),
      pace: (speed) => void (this.speed = speed), speed: this.speed, settings: this.panel.opener,
      actions: [["Copy link", () => this.copyLink()], ["Copy log (metrics.csv)", () => this.copyLog()], ["Download log", () => this.saveLog()]],
    });
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.asked = element("div", { class: "lm-asked" });
    this.picture = element("div", { class: "lm-picture" });
    this.python = folded("The same run in Python");
    this.numbers = folded("The curves as numbers");
    this.build();
    this.showTransport();
    this.say(ignored.length ? `The link has settings of no use here; ignored: ${ignored.join("; ")}.` : this.invitation());
    if (state.open) this.ask(state.open);
  }

  /** An opening's settings come first, so that a link needs only its name. */
  fromLink() {
    const given = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("lm.")).map(([name, value]) => [name.slice(3), value]);
    const open = given.find(([name]) => name === "open")?.[1];
    const known = Object.hasOwn(OPENINGS, open ?? "");
    const { state, ignored } = fromAddress([...Object.entries(known ? OPENINGS[open].settings : {}).map(([name, value]) => [name, String(value)]), ...given]);
    if (open !== undefined && !known) ignored.push(`open = ${open.slice(0, 30)} (one of ${Object.keys(OPENINGS).join(", ")})`);
    return { state: { ...state, open: known ? open : null }, ignored };
  }

  build() {
    const board = element("section", { class: "grpo-board", "aria-label": "Run" }, this.status, this.asked, this.picture, this.transport.node);
    this.below = element("div", { class: "lm-below" });
    this.append(element("div", { class: "grpo-play" }, element("div", {}, board, this.below),
      element("div", { class: "grpo-beside" }, this.panel.node)), this.numbers, this.python);
    this.picture.append(element("p", { class: "lm-empty" }, "The curve appears here while the model learns. Run loads the model (120 kB) and its arithmetic; nothing leaves your browser."));
    this.python.addEventListener("toggle", () => this.showPython());
    this.numbers.addEventListener("toggle", () => this.showNumbers());
    this.onVisible = () => this.visibility();
    document.addEventListener("visibilitychange", this.onVisible);
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.onVisible) document.addEventListener("visibilitychange", this.onVisible);
  }

  disconnectedCallback() {
    this.playing = false;
    this.worker?.terminate();
    this.worker = this.run = null;
    document.removeEventListener("visibilitychange", this.onVisible);
  }

  // Settings

  change(settings, { keepOpening = false } = {}) {
    const before = { ...this.state };
    Object.assign(this.state, settings);
    if (settings.task) this.takeTask(before.task);
    const less = fit(this.state);
    if (!keepOpening) this.state.open = this.opening = null;
    this.asked.replaceChildren();
    this.panel.show(this.state, !("terms" in settings) || keepOpening);
    this.end();
    const changed = difference(before, this.state);
    if (changed) this.say(`${changed}. ${less ? `${less}. ` : ""}Press Run to start with step 1.`);
    this.write({ ...toAddress(this.state), open: this.state.open });
    this.showPython();
  }

  /** Another task brings its own settings, where the reader had those of the task before. */
  takeTask(before) {
    for (const name of Object.keys(SETTINGS)) {
      if (name !== "task" && this.state[name] === usual(name, before)) this.state[name] = usual(name, this.state.task);
    }
    const { state } = fromAddress(Object.entries({ task: this.state.task }));
    Object.assign(this.state, { terms: state.terms, prompt: TASKS[this.state.task].prompt });
  }

  /** Ends the run, which stays as a dashed line. */
  end() {
    this.playing = false;
    if (this.run?.steps) this.ghost = this.run;
    this.run = null;
    this.step = this.state.step = 0;
    this.group = 0;
    this.chosen = null;
    this.draw();
  }

  reset() {
    this.end();
    this.write(toAddress(this.state));
    this.say(`Reset. ${this.invitation()}`);
  }

  // Openings

  open(name) {
    const { state } = fromAddress(Object.entries(OPENINGS[name].settings).map(([key, value]) => [key, String(value)]));
    this.ghost = null;
    this.run = null;
    this.change({ ...state, open: name }, { keepOpening: true });
    this.panel.close();
    this.ask(name);
    this.asked.querySelector("button").focus();
  }

  ask(name) {
    const { ask, choices } = OPENINGS[name];
    this.opening = { name, guess: null };
    this.say(`${OPENINGS[name].name}. Guess first, then it runs.`);
    const start = (guess) => {
      this.opening.guess = guess;
      this.asked.replaceChildren();
      this.transport.node.querySelector(".grpo-run").focus();
      this.runOrPause();
    };
    this.asked.replaceChildren(element("div", { class: "lm-question", role: "group", "aria-label": "Your guess" }, element("p", {}, ask),
      element("div", { class: "grpo-bar" }, choices.map((text, i) => button(text, () => start(i))), button("Run without a guess", () => start(null), { class: "grpo-button lm-quiet" }))));
  }

  /** What a finished run says about the guess. */
  verdict() {
    const { name, guess, before } = this.opening;
    const { right, verdict, choices, then, next } = OPENINGS[name];
    const came = right(this.run, before);
    if (then && !before) {
      this.asked.replaceChildren(element("div", { class: "grpo-bar" }, button(next, () => {
        const first = this.run;
        this.change(then, { keepOpening: true });
        this.opening.before = first;
        this.transport.node.querySelector(".grpo-run").focus();
        this.runOrPause();
      }, { class: "grpo-button grpo-primary" })));
    }
    const decided = came !== null && guess !== null && (!before || right(before) === null);
    const said = decided ? `You guessed “${choices[guess]}”: ${came === guess ? "right" : came < 0 ? "none of the three came true" : `it was “${choices[came]}”`}. ` : "";
    return `${said}${verdict(this.run, before)}`;
  }

  // Running

  async load() {
    const base = assets();
    if (!base) throw new Error("the pages were opened from a disk, or this browser has no workers");
    const [views, file] = await Promise.all([import("./language-model/screen.mjs"), fetch(new URL("runs/charlm.safetensors", base))]);
    if (!file.ok) throw new Error(`the weights did not come (${file.status})`);
    const weights = await file.arrayBuffer();
    this.worker = new Worker(new URL("js/widgets/language-model/worker.mjs", base), { type: "module" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = () => this.fail(new Error("the worker did not start"));
    this.worker.postMessage({ kind: "load", file: weights }, [weights]);
    this.Run = views.Run;
    this.curves ??= views.curves((step) => this.seek(step));
    this.rows ??= views.completions((row, letter) => this.choose(row, letter), (by) => this.turn(by));
    this.term ??= views.termView();
    this.picture.replaceChildren(this.curves.main, element("div", { class: "lm-small" }, this.curves.small));
    this.below.replaceChildren(this.rows.node, this.term.node);
    this.numbers.append(this.curves.numbers);
  }

  fail(error) {
    this.playing = false;
    this.worker?.terminate();
    this.worker = null;
    this.showTransport();
    this.say(`The model cannot train here: ${error.message}. Below is a recorded run, and the command that trains it in Python.`);
    this.below.replaceChildren(...this.fallback);
  }

  async runOrPause() {
    if (this.playing) return this.pause();
    if (this.run?.isFull) this.end();
    await this.play(this.linked || Infinity);
  }

  async oneStep() {
    if (this.playing) return this.pause();
    if (this.run && this.step < this.run.steps) return this.seek(this.step + 1);
    if (this.run?.isFull) return this.say("This run is finished. Run again repeats it; change a setting for another one.");
    await this.play((this.run?.steps ?? 0) + 1);
  }

  /** Trains until step `end`. */
  async play(end) {
    this.asked.replaceChildren();
    this.playing = true;
    this.goal = end;
    this.showTransport();
    try {
      if (!this.worker) {
        this.say("Loading the model …");
        await this.load();
      }
    } catch (error) {
      return this.fail(error);
    }
    if (!this.playing) return;
    if (this.run) return this.next();
    this.run = new this.Run(this.state);
    this.id = (this.id ?? 0) + 1;
    this.worker.postMessage({ kind: "start", id: this.id, terms: this.state.terms, settings: toCore(this.state), prompts: prompts(this.state), targets: measured(this.state).targets, seed: this.state.seed });
  }

  hear({ kind, id, exact, record, isIdle, text }) {
    if (id !== this.id || !this.run) return;
    if (kind === "stopped") return this.stop(text);
    if (kind === "started") this.run.start = exact;
    else this.run.add(record);
    if (this.playing || this.step === this.run.steps - 1) this.look(this.run.steps);
    if (isIdle) return this.stop(this.idle());
    if (this.run.isFull || this.run.steps >= this.goal) return this.stop();
    this.later();
    if (this.playing) this.next();
  }

  /** Asks for the next step; in the background at once, because timers sleep there. */
  next() {
    const pause = this.speed === Infinity || document.hidden || this.linked ? 0 : 1000 / (PER_SECOND * this.speed) - (performance.now() - (this.askedAt ?? -1e9));
    const ask = () => {
      if (!this.playing || !this.run) return;
      this.askedAt = performance.now();
      this.worker.postMessage({ kind: "step" });
    };
    clearTimeout(this.timer);
    if (pause > 0) this.timer = setTimeout(ask, pause);
    else ask();
  }

  pause() {
    this.playing = false;
    clearTimeout(this.timer);
    this.draw();
    this.say(`Paused at step ${this.run?.steps ?? 0}.`);
  }

  /** The run stops: it is finished, or cannot go on. */
  stop(text) {
    this.playing = false;
    this.linked = 0;
    this.draw();
    const done = this.run.isFull || text;
    if (this.opening && this.run.steps && done) return this.say(this.verdict());
    this.say(text ?? this.where());
  }

  visibility() {
    if (document.hidden) {
      this.hiddenAt = this.playing ? this.run?.steps : undefined;
      if (this.hiddenAt !== undefined && this.timer) this.next();
    } else if (this.hiddenAt !== undefined) {
      if (this.playing) this.say(`The run went on while this tab was in the background, from step ${this.hiddenAt} to ${this.run.steps}.`);
      this.draw();
    }
  }

  // What is seen

  seek(step) {
    if (this.playing) this.pause();
    if (!this.run) return;
    this.look(Math.min(Math.max(0, step), this.run.steps));
    this.state.step = this.step === this.run.steps ? 0 : this.step;
    this.write(toAddress(this.state));
    this.draw();
    this.say(this.where());
  }

  /** Shows a step, and of its groups one that teaches something. */
  look(step) {
    Object.assign(this, { step, group: this.run.telling(step), chosen: null });
  }

  choose(row, letter) {
    if (this.playing) this.pause();
    this.chosen = { row, letter };
    this.draw();
    this.rows.node.querySelector("[aria-pressed=true]")?.focus();
    this.term.node.scrollIntoView({ block: "nearest" });
  }

  turn(by) {
    const { p } = this.run.state;
    this.group = (this.group + by + p) % p;
    this.chosen = null;
    this.draw();
  }

  /** Draws soon, but a fast run not every step: the worker needs the processor more. */
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
    const { step = 0, ghost, playing, group, chosen } = this;
    const run = this.run ?? new this.Run(this.state);
    this.curves.draw({ run, step, ghost, name: measured(run.state).name });
    this.rows.draw({ run, step, group, chosen, playing });
    this.term.draw(step && chosen ? { run, step, group, chosen } : null);
    if (playing && step) this.say(`Step ${step}: mean reward ${run.records[step - 1].meanReward.toFixed(2)}.`);
    if (!playing) this.showNumbers();
  }

  showTransport() {
    const made = this.run?.steps ?? 0;
    const label = this.playing ? "Pause" : this.run?.isFull ? "Run again" : made ? "Go on" : `Run ${this.state.steps} steps`;
    this.transport.show({ step: this.step ?? 0, steps: made, label, playing: this.playing });
    this.status.setAttribute("aria-live", this.playing ? "off" : "polite");
  }

  showNumbers() {
    if (this.numbers.open && this.curves && this.run) this.curves.showNumbers(this.run);
  }

  async showPython() {
    if (!this.python.open) return;
    const { inPython } = await import("./language-model/python.mjs");
    const copier = (text) => button("Copy", async () => this.say((await this.toClipboard(text)) ? "Copied." : "This browser does not let the page copy: select the text."));
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
    if (this.run.state.g === 1) return `With G = 1 a completion is its own mean: every advantage is 0. After ${this.run.steps} steps nothing has moved, so the run stops.`;
    return `All rewards were equal within every group for ${this.run.steps} steps: no signal, so no weight moves, and the run stops. Make the reward easier to earn, or easier to miss.`;
  }

  where() {
    const { run, step } = this;
    const record = run.records[step - 1];
    const exact = `${measured(run.state).name}: ${percent(run.curve("exact")[step], 1)}`;
    if (!step) return `Before the first step. ${exact}.`;
    return `Step ${step} of ${run.state.steps}. Mean reward ${record.meanReward.toFixed(2)}; ${exact}.${run.isFull && step === run.steps ? " Press a letter below, or a point of a curve." : ""}`;
  }

  // Handing on

  async toClipboard(text) {
    return (await import("../ui/files.mjs")).copy(text);
  }

  async copyLink() {
    const address = String(this.addressWith({ ...toAddress(this.state), open: this.state.open }));
    this.say((await this.toClipboard(address)) ? "Link copied: it has all settings, the reward and the seed." : `Copy this address: ${address}`);
  }

  async copyLog() {
    if (!this.run?.steps) return this.say("There is no log yet: press Run.");
    this.say((await this.toClipboard(this.run.csv())) ? "Log copied, with the columns of metrics.csv: paste it into Read your run." : "This browser does not let the page copy. Choose Download log.");
  }

  async saveLog() {
    if (!this.run?.steps) return this.say("There is no log yet: press Run.");
    (await import("../ui/files.mjs")).download("metrics.csv", this.run.csv(), "text/csv");
  }
}

customElements.define("grpo-language-model", LanguageModel);
