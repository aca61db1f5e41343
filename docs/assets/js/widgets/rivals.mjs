// <grpo-rivals>: GRPO against an actor-critic that must learn its baseline, on the bandit (catalogue W03).
import { singlePeak } from "../core/bandit.mjs";
import { average } from "../core/grpo.mjs";
import { criticValues, firstAbove, manyRuns, median, summary } from "../core/many_runs.mjs";
import { legendItem } from "../ui/chart.mjs";
import { choice, slider, wholeNumber } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { lineChart } from "../ui/line_chart.mjs";
import { table } from "../ui/table.mjs";

const SEEDS = 20;
const STEPS = 200;
const METHODS = [
  { name: "GRPO", style: "line-first", settings: { algorithm: "grpo" } },
  { name: "GRPO, mean only", style: "line-second", settings: { algorithm: "grpo", divideByStd: false } },
  { name: "actor-critic", style: "line-third", settings: { algorithm: "actor_critic" } },
];

class Rivals extends Explorable {
  static live = false;
  static controls = {
    critic: {
      control: slider, label: "Critic's learning rate", values: [0, 0.01, 0.03, 0.1, 0.3, 1], initial: 0.03,
      show: (rate) => (rate ? String(rate) : "0: it never learns"),
    },
    offset: {
      control: choice, label: "Added to every reward", initial: "1",
      options: [["0", "nothing"], ["1", "1"], ["5", "5"]],
    },
    seed: { control: wholeNumber, label: "First of 20 seeds", low: 0, high: 9999, initial: 0 },
  };

  build() {
    this.chart = lineChart({ top: 1, ticks: [0, 0.25, 0.5, 0.75, 1] });
    this.results = table({
      caption: `${SEEDS} runs of ${STEPS} steps each`,
      columns: ["method", "mean \u03c0(best) at the end", "runs that end on the best",
        "median step of \u03c0(best) > 0.9", "baseline at 90 % of the mean reward"],
    });
    const names = METHODS.map(({ name }) => name);
    this.curves = table({ caption: "Mean probability of the best action", columns: ["step", ...names] });
    return [
      element("p", { class: "grpo-readout" }, "Probability of the best action: mean, and the middle 80 % of the runs"),
      element("p", { class: "grpo-legend" }, METHODS.map(({ style, name }) => legendItem(style, name))),
      this.chart.node, this.results.node, this.curves.node];
  }

  draw({ critic, offset, seed }) {
    const rewardTable = singlePeak().map((reward) => reward + Number(offset));
    this.found = METHODS.map(({ settings }) =>
      manyRuns({ rewardTable, criticLr: critic, ...settings }, { seed, seeds: SEEDS, steps: STEPS }));
    const lines = this.found.map((runs) => summary(runs.map(({ best }) => best)));
    this.chart.draw({ lines: lines.map((line, i) => ({ style: METHODS[i].style, ...line })) });
    this.results.fill(this.found.map((runs, i) => [
      METHODS[i].name, fixed(lines[i].values.at(-1), 3), `${winners(runs)} of ${SEEDS}`,
      step(median(runs.map(({ best }) => firstAbove(best, 0.9)))),
      METHODS[i].settings.algorithm === "grpo" ? "at once" : step(warmUp(runs, critic)),
    ]));
    this.curves.fill(Array.from({ length: STEPS / 20 + 1 }, (_, i) =>
      [String(20 * i), ...lines.map(({ values }) => fixed(values[20 * i], 3))]));
  }

  lesson() {
    const [grpo, , actorCritic] = this.found.map(winners);
    return `${grpo} of ${SEEDS} GRPO runs and ${actorCritic} of ${SEEDS} actor-critic runs end on the best action.`;
  }
}

const winners = (runs) => runs.filter(({ best }) => best.at(-1) > 0.5).length;

/** Median step at which the critic's value has reached 90 % of the mean reward of the group. */
const warmUp = (runs, criticLr) => median(runs.map(({ meanReward }) =>
  firstAbove(criticValues(meanReward, criticLr).map((value, t) => value / meanReward[t]), 0.9)));

const step = (number) => (number === Infinity ? "never" : `step ${number}`);

customElements.define("grpo-rivals", Rivals);
