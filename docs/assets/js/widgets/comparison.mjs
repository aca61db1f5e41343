// <grpo-comparison>: GRPO, REINFORCE and REINFORCE with a baseline on the simulation's problem (catalogue S1-B4, S1-P4).
//
// REINFORCE may draw as many samples per step as GRPO, or one, as in its textbook form. Adding 5 to all rewards changes
// nothing about which action is best; it shows what a baseline is for. Runs, charts and tables are in
// comparison/results.mjs, which is loaded when the button is pressed.
import { DEFAULTS, singlePeak } from "../core/bandit.mjs";
import { button, choice } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { percent } from "../ui/format.mjs";
import { sendRuns } from "../ui/runs.mjs";
import { Widget } from "../ui/widget.mjs";

const STEPS = 200;
const OUTDATED = "The simulation's settings or seed have changed: run the comparison again.";
const CHOICES = {
  measure: { label: "Left chart shows", options: [["max", "max π: how certain"], ["best", "π(best): how right"]] },
  samples: { label: "REINFORCE draws", options: [["group", "G samples per step, like GRPO"], ["one", "1 sample per step"]] },
  offset: { label: "Rewards", options: [["0", "as they are"], ["5", "5 added to each"]] },
};

class Comparison extends Widget {
  static key = "cmp";

  setup() {
    this.state = {};
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.append(
      element("div", { class: "grpo-choices" }, Object.keys(CHOICES).map((name) => this.control(name))),
      element("div", { class: "grpo-bar" },
        button(`Run comparison (${STEPS} steps)`, () => this.compare(), { class: "grpo-button grpo-primary" }),
        button("Send comparison to worksheet", () => this.send()),
        button("Download comparison CSV", () => this.save())),
      this.status);
  }

  control(name) {
    const { label, options } = CHOICES[name];
    const given = this.read(name);
    this.state[name] = options.some(([option]) => option === given) ? given : options[0][0];
    const control = choice({ label, options, value: this.state[name], change: (value) => this.change(name, value) });
    control.input.dataset.setting = name;
    return control.node;
  }

  connectedCallback() {
    super.connectedCallback();
    document.addEventListener("grpo-settings", this.compareSettings);
  }

  disconnectedCallback() {
    document.removeEventListener("grpo-settings", this.compareSettings);
  }

  compareSettings = () => {
    if (this.isOutdated()) this.say(OUTDATED);
  };

  /** Whether the simulation has other settings or another seed than those that were compared. */
  isOutdated() {
    return Boolean(this.found) && JSON.stringify(this.source()) !== JSON.stringify(this.found.source);
  }

  change(name, value) {
    this.state[name] = value;
    this.write({ [name]: value === CHOICES[name].options[0][0] ? null : value });
    if (name !== "measure") return this.turn && this.compare();
    if (this.found) this.draw();
  }

  /** Settings and seed of the simulation on this page; the defaults where there is none. */
  source() {
    const simulation = document.querySelector("grpo-simulation");
    const { settings, seed } = simulation?.state
      ? { settings: simulation.settings, seed: simulation.state.seed }
      : { settings: { ...DEFAULTS, rewardTable: singlePeak() }, seed: 0 };
    const rewardTable = settings.rewardTable.map((reward) => reward + Number(this.state.offset));
    return { settings: { ...settings, rewardTable }, seed };
  }

  async compare() {
    const source = this.source();
    const turn = (this.turn = {}); // a later comparison takes the place of one that still runs
    this.found = null;
    this.say("Comparing …");
    try {
      this.results ??= await import("./comparison/results.mjs");
    } catch {
      return this.say("The comparison could not be loaded. Check your connection and press the button again.");
    }
    const progress = (share) => {
      if (this.turn !== turn || !this.isConnected) return false;
      this.say(`Comparing … ${percent(Math.floor(4 * share) / 4)}`); // in quarters: it is read out
      return true;
    };
    const found = await this.results.compare({ ...source, steps: STEPS, oneSample: this.state.samples === "one", progress });
    if (!found || this.turn !== turn) return;
    if (!this.view) this.append((this.view = this.results.resultsView(STEPS)).node);
    this.found = { source, ...found };
    this.draw();
    this.say(`Compared. ${this.results.verdict(this.found)}`);
  }

  draw() {
    this.view.draw(this.found, { measure: this.state.measure, seed: this.found.source.seed });
  }

  send() {
    if (!this.found) return this.say("There is nothing to send yet: press Run comparison.");
    if (this.isOutdated()) return this.say(OUTDATED);
    const { of, source: { seed } } = this.found;
    this.say(`Sent: the three runs with seed ${seed}. ${sendRuns(of.map(({ settings }) => ({ settings, seed, steps: STEPS })))}`);
  }

  async save() {
    if (!this.found) return this.say("There is nothing to download yet: press Run comparison.");
    const { download } = await import("../ui/files.mjs");
    download(`bandit-comparison-seed-${this.found.source.seed}.csv`, this.results.asCsv(this.found), "text/csv");
  }

  say(sentence) {
    this.status.textContent = sentence;
  }
}

customElements.define("grpo-comparison", Comparison);
