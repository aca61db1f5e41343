// <grpo-comparison>: GRPO, REINFORCE and REINFORCE with a baseline on the simulation's problem (catalogue S1-B4, S1-P4).
//
// All three start from the same policy and use the same seeds. Lines are means over 20 seeds, bands reach from the 10 %
// to the 90 % quantile. REINFORCE may draw as many samples per step as GRPO, or one, as in its textbook form. Adding 5
// to all rewards changes nothing about which action is best; it shows what a baseline is for.
import { DEFAULTS, run, singlePeak } from "../core/bandit.mjs";
import { legendItem } from "../ui/chart.mjs";
import { button, choice } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { download } from "../ui/files.mjs";
import { csv, fixed, percent } from "../ui/format.mjs";
import { lineChart } from "../ui/line_chart.mjs";
import { sendRuns } from "../ui/runs.mjs";
import { table } from "../ui/table.mjs";
import { Widget } from "../ui/widget.mjs";
import { LARGEST_SHOWN_SEED, bestAction } from "./simulation/settings.mjs";

const STEPS = 200;
const SEEDS = 20;
const ALGORITHMS = [
  ["grpo", "GRPO", "line-blue"],
  ["reinforce", "REINFORCE", "line-orange"],
  ["reinforce_baseline", "REINFORCE + baseline", "line-green"],
];
const RESULTS = ["algorithm", "max π, this seed", "step of π(best) > 0.9, this seed", "π(best), mean ± sd", "median step > 0.5",
  "median step > 0.9", "ends on the best", "steps in which entropy rises"];
const OUTDATED = "The simulation's settings or its seed changed: run the comparison again.";
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
      this.status, this.resultsView());
  }

  control(name) {
    const { label, options } = CHOICES[name];
    const given = this.read(name);
    this.state[name] = options.some(([option]) => option === given) ? given : options[0][0];
    const control = choice({ label, options, value: this.state[name], change: (value) => this.change(name, value) });
    control.input.dataset.setting = name;
    return control.node;
  }

  resultsView() {
    this.charts = [lineChart({ top: 1, ticks: [0, 0.25, 0.5, 0.75, 1] }), lineChart({ top: 2.4, ticks: [0, 1, 2], digits: 0 })];
    this.titles = this.charts.map(() => element("h3", { class: "grpo-title" }));
    this.table = table({ caption: `Results after ${STEPS} steps`, columns: RESULTS });
    const names = ALGORITHMS.map(([, name]) => name);
    const columns = ["step", ...["π", "H"].flatMap((symbol) => names.map((name) => `${name}: ${symbol}`))];
    this.curves = table({ caption: "Curves: means over the seeds", columns });
    this.results = element("div", { hidden: true },
      element("p", { class: "grpo-legend" }, ALGORITHMS.map(([, name, style]) => legendItem(style, name))),
      element("div", { class: "grpo-pair" }, this.charts.map((chart, i) => element("section", {}, this.titles[i], chart.node))),
      this.table.node,
      element("details", { class: "grpo-details" }, element("summary", {}, "Curves as a table"), this.curves.node));
    return this.results;
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
    if (!this.found) return;
    if (name === "measure") this.draw();
    else this.compare();
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

  compare() {
    const source = this.source();
    const { settings, seed } = source;
    const seeds = Array.from({ length: SEEDS }, (_, i) => (seed + i) % (LARGEST_SHOWN_SEED + 1));
    const best = bestAction(settings.rewardTable);
    this.found = { source, seed, best, of: ALGORITHMS.map(([algorithm]) => {
      const groupSize = algorithm !== "grpo" && this.state.samples === "one" ? 1 : settings.groupSize;
      const used = { ...settings, algorithm, groupSize };
      const runs = seeds.map((each) => {
        const { policy, maxProbability, entropy } = run(used, { seed: each, steps: STEPS });
        return { best: policy.map((p) => p[best]), max: maxProbability, entropy };
      });
      return { settings: used, runs };
    }) };
    this.results.hidden = false;
    this.draw();
    const winners = this.found.of.map(({ runs }) => median(runs.map((each) => firstAbove(each.best, 0.9))));
    const fastest = winners.indexOf(Math.min(...winners));
    this.say(`Compared with ${SEEDS} seeds from ${seed} on. ` + (winners[fastest] === Infinity
      ? "None passes π(best) = 0.9 in half of the runs."
      : `First past π(best) = 0.9: ${ALGORITHMS[fastest][1]}, after ${winners[fastest]} steps (median).`));
  }

  draw() {
    const { found, state } = this;
    this.titles[0].textContent = state.measure === "max" ? "Largest probability" : `Probability of action ${found.best + 1}`;
    this.titles[1].textContent = "Entropy (nats)";
    const curves = [state.measure, "entropy"].map((name) => found.of.map(({ runs }) => summary(runs.map((each) => each[name]))));
    curves.forEach((of, i) => this.charts[i].draw({ lines: of.map((curve, a) => ({ style: ALGORITHMS[a][2], ...curve })) }));
    const every20 = Array.from({ length: STEPS / 20 + 1 }, (_, i) => 20 * i);
    this.curves.fill(every20.map((t) => [String(t), ...curves.flat().map(({ values }) => fixed(values[t], 3))]));
    this.table.fill(found.of.map(({ runs }, a) => {
      const ends = runs.map((each) => each.best.at(-1));
      const mean = average(ends);
      const deviation = Math.sqrt(average(ends.map((p) => (p - mean) ** 2)));
      const rises = runs.flatMap(({ entropy }) => entropy.slice(1).map((h, t) => h - entropy[t] > 1e-9));
      const shown = (step) => (step === Infinity ? "never" : String(step));
      return [ALGORITHMS[a][1], fixed(runs[0].max.at(-1), 3), shown(firstAbove(runs[0].best, 0.9)),
        `${fixed(mean, 3)} ± ${fixed(deviation, 3)}`, ...[0.5, 0.9].map((p) => shown(median(runs.map((each) => firstAbove(each.best, p))))),
        percent(average(ends.map((p) => Number(p > 0.5)))), percent(average(rises.map(Number)), 1)];
    }));
  }

  send() {
    if (!this.found) return this.say("There is nothing to send yet: press Run comparison.");
    if (this.isOutdated()) return this.say(OUTDATED);
    const runs = this.found.of.map(({ settings }) => ({ settings, seed: this.found.seed, steps: STEPS }));
    this.say(`Sent: the three runs with seed ${this.found.seed}. ${sendRuns(runs)}`);
  }

  save() {
    if (!this.found) return this.say("There is nothing to download yet: press Run comparison.");
    const rows = [["algorithm", "step", "best_probability", "max_probability", "entropy"]];
    this.found.of.forEach(({ runs }, a) => {
      for (let t = 0; t <= STEPS; t++) {
        rows.push([ALGORITHMS[a][0], t, ...["best", "max", "entropy"].map((name) => average(runs.map((each) => each[name][t])))]);
      }
    });
    download(`bandit-comparison-seed-${this.found.seed}.csv`, csv(rows), "text/csv");
  }

  say(sentence) {
    this.status.textContent = sentence;
  }
}

const average = (numbers) => numbers.reduce((total, x) => total + x, 0) / numbers.length;

/** First step at which a curve is above a level; Infinity if none. */
function firstAbove(curve, level) {
  const step = curve.findIndex((p) => p > level);
  return step < 0 ? Infinity : step;
}

/** The lower of the two middle values, so that a step is a whole number and Infinity stays what it is. */
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)];

/** Mean and quantiles (10 %, 90 %) of many curves at every step. */
function summary(curves) {
  const values = [];
  const low = [];
  const high = [];
  for (let t = 0; t < curves[0].length; t++) {
    const at = curves.map((curve) => curve[t]).sort((a, b) => a - b);
    values.push(average(at));
    low.push(at[Math.floor(0.1 * (at.length - 1))]);
    high.push(at[Math.ceil(0.9 * (at.length - 1))]);
  }
  return { values, low, high };
}

customElements.define("grpo-comparison", Comparison);
