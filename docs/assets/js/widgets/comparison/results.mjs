// The results of a comparison (S1-P4): the runs, what they come to, charts and tables. Loaded when it is asked for.
//
// All algorithms start from the same policy and use the same seeds. Lines are means over the seeds, bands reach from the
// 10 % to the 90 % quantile.
import { bestAction, stepByStep } from "../../core/bandit.mjs";
import { average } from "../../core/grpo.mjs";
import { firstAbove, median, summary } from "../../core/curves.mjs";
import { slices } from "../../ui/slices.mjs";
import { legendItem } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { folded } from "../../ui/folded.mjs";
import { csv, fixed, percent } from "../../ui/format.mjs";
import { lineChart } from "../../ui/line_chart.mjs";
import { table } from "../../ui/table.mjs";
import { LARGEST_SHOWN_SEED } from "../simulation/settings.mjs";

const SEEDS = 20;
const ALGORITHMS = [
  { algorithm: "grpo", name: "GRPO", style: "line-first" },
  { algorithm: "reinforce", name: "REINFORCE", style: "line-second" },
  { algorithm: "reinforce_baseline", name: "REINFORCE + baseline", style: "line-third" },
];
const COLUMNS = ["algorithm", "max π, this seed", "step of π(best) > 0.9, this seed", "π(best), mean ± sd", "median step of π(best) > 0.5",
  "median step of π(best) > 0.9", "runs that end on the best", "steps in which entropy rises"];

/**
 * Runs everything, in slices, so that the page answers meanwhile: { best, of }, where `of` has for each algorithm its name
 * and style, the settings, and the `runs`, each with the curves best, max and entropy. REINFORCE draws groups as GRPO does,
 * or one sample. `progress(share)` is called after each slice; where it returns false the rest is given up, for null.
 */
export async function compare({ settings, seed, steps, oneSample, progress }) {
  const seeds = Array.from({ length: SEEDS }, (_, i) => (seed + i) % (LARGEST_SHOWN_SEED + 1));
  const best = bestAction(settings.rewardTable);
  const of = ALGORITHMS.map(({ algorithm, name, style }) => {
    const groupSize = algorithm !== "grpo" && oneSample ? 1 : settings.groupSize;
    return { name, style, settings: { ...settings, algorithm, groupSize }, runs: [] };
  });
  const all = of.flatMap((one) => seeds.map((each) => ({ one, running: stepByStep(one.settings, { seed: each, steps }) })));
  const slice = slices();
  for (const [place, { one, running }] of all.entries()) {
    let next = running.next();
    for (; !next.done; next = running.next()) {
      if (slice.isOver()) {
        await slice.rest();
        if (!progress(place / all.length)) return null;
      }
    }
    const { policy, maxProbability, entropy } = next.value;
    one.runs.push({ best: policy.map((p) => p[best]), max: maxProbability, entropy });
  }
  return { best, of };
}

/** What to say about a comparison: who is first. */
export function verdict({ of }) {
  const steps = of.map(({ runs }) => median(runs.map((each) => firstAbove(each.best, 0.9))));
  const first = steps.indexOf(Math.min(...steps));
  if (steps[first] === Infinity) return "None passes π(best) = 0.9 in half of the runs.";
  return `First past π(best) = 0.9: ${of[first].name}, after ${steps[first]} steps (median).`;
}

/** Means over the seeds, step by step. */
export function asCsv({ of }) {
  const rows = of.flatMap(({ settings, runs }) =>
    runs[0].best.map((_, t) => [settings.algorithm, t, ...["best", "max", "entropy"].map((name) => average(runs.map((each) => each[name][t])))]));
  return csv([["algorithm", "step", "best_probability", "max_probability", "entropy"], ...rows]);
}

/** Charts and tables { node, draw(found, { measure, seed }) }; measure is "max" or "best". */
export function resultsView(steps) {
  const names = ALGORITHMS.map(({ name }) => name);
  const caption = element("p", { class: "grpo-readout" });
  const charts = [lineChart({ top: 1, ticks: [0, 0.25, 0.5, 0.75, 1] }), lineChart({ top: 2.4, ticks: [0, 1, 2], digits: 0 })];
  const titles = charts.map(() => element("h3", { class: "grpo-title" }));
  const results = table({ caption: `Results after ${steps} steps`, columns: COLUMNS });
  const means = table({ caption: "Curves: means over the seeds", columns: ["step", ...["π", "H"].flatMap((symbol) => names.map((name) => `${name}: ${symbol}`))] });
  const node = element("div", {}, caption,
    element("p", { class: "grpo-legend" }, ALGORITHMS.map(({ style, name }) => legendItem(style, name))),
    element("div", { class: "grpo-pair" }, charts.map((chart, i) => element("section", {}, titles[i], chart.node))),
    results.node,
    folded("Curves as a table", means.node));

  function draw({ best, of }, { measure, seed }) {
    caption.textContent = `${SEEDS} seeds from ${seed} on. Lines are means; bands hold the middle 80 % of the runs. "This seed" is ${seed}.`;
    titles[0].textContent = measure === "max" ? "Largest probability" : `Probability of action ${best + 1}`;
    titles[1].textContent = "Entropy (nats)";
    const curves = [measure, "entropy"].map((name) => of.map(({ runs }) => summary(runs.map((each) => each[name]))));
    curves.forEach((lines, i) => charts[i].draw({ lines: lines.map((line, a) => ({ style: of[a].style, ...line })) }));
    const every20 = Array.from({ length: steps / 20 + 1 }, (_, i) => 20 * i);
    means.fill(every20.map((t) => [String(t), ...curves.flat().map(({ values }) => fixed(values[t], 3))]));
    results.fill(of.map(row));
  }
  return { node, draw };
}

function row({ name, runs }) {
  const ends = runs.map((each) => each.best.at(-1));
  const mean = average(ends);
  const deviation = Math.sqrt(average(ends.map((p) => (p - mean) ** 2)));
  const rises = runs.flatMap(({ entropy }) => entropy.slice(1).map((h, t) => h - entropy[t] > 1e-9));
  const shown = (step) => (step === Infinity ? "never" : String(step));
  return [name, fixed(runs[0].max.at(-1), 3), shown(firstAbove(runs[0].best, 0.9)), `${fixed(mean, 3)} ± ${fixed(deviation, 3)}`,
    ...[0.5, 0.9].map((p) => shown(median(runs.map((each) => firstAbove(each.best, p))))),
    percent(average(ends.map((p) => Number(p > 0.5)))), percent(average(rises.map(Number)), 1)];
}
