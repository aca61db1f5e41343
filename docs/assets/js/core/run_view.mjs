// A run as the rules look at it: one curve per quantity, with robust statistics.
import { libraryOf, plainName, quantity, trlVersion } from "./run_metrics.mjs";

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
export const highest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity); // Math.max(...) has no room for 100,000 values
export const lowest = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};
const sumsOf = (values) => values.reduce((sums, value) => (sums.push(sums.at(-1) + value), sums), [0]);
export const shareOf = (values, test) => (values.length ? values.filter(test).length / values.length : 0);

/** The curve of one quantity: points { row, value } with finite values, under the name that the log gives it. */
export class Curve {
  constructor(name, points) {
    this.name = name;
    this.points = points;
    this.values = points.map(({ value }) => value);
    const quarter = Math.max(1, Math.floor(points.length / 4));
    this.quarter = quarter;
    this.q1 = mean(this.values.slice(0, quarter));
    this.q4 = mean(this.values.slice(-quarter));
    this.median = median(this.values);
  }

  get length() {
    return this.values.length;
  }

  /** Noise: how far values are from the mean of their neighbours. */
  get noise() {
    const rest = this.values.map((value, i) => value - mean(this.values.slice(Math.max(0, i - 2), i + 3)));
    const center = median(rest);
    return (this.sd ??= 1.48 * median(rest.map((value) => Math.abs(value - center))) * 1.12);
  }

  /** Standard errors between the last and the first quarter. */
  get z() {
    const rise = this.q4 - this.q1;
    const error = this.noise * Math.sqrt(2 / this.quarter);
    return Math.abs(rise) < 1e-12 ? 0 : rise / Math.max(error, 1e-9 * Math.abs(this.q1) + 1e-12);
  }

  /** How much wider the noise of a mean of neighbours is than if lines were independent; seen in the lines up to a place. */
  widening(w, end) {
    const values = this.values.slice(0, end);
    const sums = sumsOf(values);
    const around = (i) => {
      const [from, to] = [Math.max(0, i - w), Math.min(values.length, i + w + 1)];
      return (sums[to] - sums[from]) / (to - from);
    };
    const rest = values.map((value, i) => value - around(i));
    const power = rest.reduce((sum, value) => sum + value * value, 0);
    const alike = rest.slice(1).reduce((sum, value, i) => sum + value * rest[i], 0) / (power || 1);
    const r = Math.min(0.8, Math.max(0, alike));
    return Math.sqrt((1 + r) / (1 - r));
  }

  /** Means of windows of w values; the i-th begins at point i. */
  windows(w) {
    const sums = sumsOf(this.values);
    return this.values.slice(0, this.length - w + 1).map((_, i) => (sums[i + w] - sums[i]) / w);
  }

  /** The row where the curve first left its early level for good; null if it never did. Early is before a row, or its first third. */
  moved(row = null) {
    if (this.length < 8) return null;
    const before = row === null ? 0 : this.points.filter((point) => point.row <= row).length;
    const third = Math.max(3, before || Math.floor(this.length / 3));
    const base = this.values.slice(0, third);
    const level = mean(base);
    const limit = Math.max(5 * Math.sqrt(mean(base.map((value) => (value - level) ** 2))), 0.25 * Math.abs(level), 1e-9);
    const at = this.values.findIndex((value, i) => i >= third && Math.abs(value - level) > limit && Math.abs((this.values[i + 1] ?? value) - level) > limit);
    return at < 0 ? null : this.points[at].row;
  }
}

/** Everything the rules ask for. `settings` are what the reader typed: group, prompts, beta, lr, lora. */
export function viewOf(records, settings = {}, unit = "step") {
  const names = new Set(records.flatMap(({ values }) => [...values.keys()]));
  const series = new Map([...names].filter(quantity).map((name) => [name, []]));
  records.forEach(({ values }, row) => values.forEach((value, name) => series.get(name)?.push({ row, value })));
  const chosen = new Map();
  const functions = new Map();
  for (const [name, points] of series) {
    const found = quantity(name);
    if (!found) continue;
    const finite = points.filter(({ value }) => Number.isFinite(value));
    if (found.key === "function") {
      const parts = functions.get(found.of) ?? {};
      if (finite.length) functions.set(found.of, { ...parts, [found.part]: new Curve(name, finite) });
    } else if (points.length > (chosen.get(found.key)?.points.length ?? 0)) chosen.set(found.key, { name, points, finite });
  }
  const library = libraryOf(names);
  const view = {
    records, settings, unit, names, library, functions,
    steps: records.map(({ step }) => step),
    n: records.length,
    raw: (key) => chosen.get(key)?.points ?? [],
    nameOf: (key) => chosen.get(key)?.name,
    curve: (key) => (chosen.get(key)?.finite.length ? (curves[key] ??= new Curve(chosen.get(key).name, chosen.get(key).finite)) : null),
  };
  const curves = {};
  view.reward = view.curve("reward") ?? view.curve("shapedReward");
  view.ties = tiesOf(view);
  view.spread = spreadOf(view);
  view.version = library === "TRL" ? trlVersion(names, view.spread?.kind === "batch" && view.spread.sure) : "";
  view.oldClip = view.nameOf("clip") && plainName(view.nameOf("clip")) === "clip_ratio" && /0\.16/.test(view.version);
  view.cut = view.curve("cut") ?? mapped(view.curve("stopped"), (value) => 1 - value);
  view.top = topOf(view);
  return view;
}

const mapped = (curve, change) => curve && new Curve(curve.name, curve.points.map(({ row, value }) => ({ row, value: change(value) })));

/** Share of groups whose rewards are all equal. */
function tiesOf(view) {
  return view.curve("ties") ?? mapped(view.curve("mixed"), (value) => 1 - value / (value > 1 ? 100 : 1)) ?? mapped(view.curve("trainable"), (value) => 1 - value);
}

/** The standard deviation that the log prints, and of what: "group", "batch" or, where the log cannot tell, "unknown". */
function spreadOf(view) {
  const inGroup = view.curve("groupStd");
  if (inGroup) return { curve: inGroup, kind: "group", sure: true };
  const printed = view.curve("rewardStd");
  if (!printed) return view.curve("batchStd") && { curve: view.curve("batchStd"), kind: "batch", sure: true };
  if (view.library === "ms-swift") return { curve: printed, kind: "group", sure: true };
  const deviations = [...view.functions.values()].map(({ std }) => std).filter(Boolean);
  if (deviations.length === 1) {
    const other = new Map(deviations[0].points.map(({ row, value }) => [row, value]));
    const pairs = printed.points.filter(({ row }) => other.has(row));
    const equal = shareOf(pairs, ({ row, value }) => Math.abs(value - other.get(row)) <= 2e-3 * Math.abs(value) + 1e-6);
    if (pairs.length && shareOf(pairs, ({ value }) => value > 1e-6) > 0) return { curve: printed, kind: equal > 0.9 ? "batch" : "group", sure: true };
  }
  const plain = [...view.names].map(plainName);
  const isOld = plain.includes("completion_length") && !plain.some((name) => name.startsWith("completions/"));
  const isBefore26 = plain.some((name) => name.startsWith("completions/")) && plain.includes("grad_norm") && !plain.includes("step_time") && view.library === "TRL";
  return { curve: printed, kind: isOld || isBefore26 ? "group" : "unknown", sure: isOld || isBefore26 };
}

/** The highest reward that this run can get, if the log lets us know; else null. */
function topOf(view) {
  const printed = view.curve("rewardMax");
  if (printed) return highest(printed.values);
  const { reward } = view;
  if (!reward) return null;
  const values = [...view.functions.values()].map(({ mean: each }) => each).filter(Boolean);
  if (values.length > 1) return null;
  return lowest(reward.values) >= 0 && highest(reward.values) <= 1 ? 1 : null;
}

/** A number as a sentence shows it: three digits, a real minus sign. */
export function show(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "\u2212inf";
  const size = Math.abs(x);
  let text;
  if (size === 0) text = "0";
  else if (size < 1e-4 || size >= 1e6) text = size.toExponential(1).replace(".0e", "e").replace("e+", "e").replace("e-", "e\u2212");
  else if (size >= 1000) text = String(Math.round(size)).replace(/\B(?=(\d{3})+$)/g, ",");
  else text = String(Number(size.toPrecision(3)));
  return x < 0 ? `\u2212${text}` : text;
}
export const share = (x) => {
  const percent = 100 * x;
  return `${percent > 0 && percent < 0.95 || percent > 99 && percent < 100 ? Number(percent.toPrecision(2)) : Math.round(percent)}\u00a0%`;
};
