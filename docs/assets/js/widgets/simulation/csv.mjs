// The history of a run as a file; loaded when somebody asks for it.
import { download } from "../../ui/files.mjs";
import { csv } from "../../ui/format.mjs";

const COLUMNS = { best: "best_probability", maxProbability: "max_probability", entropy: "entropy", kl: "kl",
  meanReward: "mean_reward", clipFraction: "clip_fraction", zeroSignal: "zero_signal" };

/** Offers the curves of a run as a CSV file, with every digit. */
export function saveCsv({ curves }, seed) {
  const cell = (value) => (value === null ? "" : Number(value));
  const rows = curves.best.map((_, t) => [t, ...Object.keys(COLUMNS).map((name) => cell(curves[name][t]))]);
  download(`bandit-history-seed-${seed}.csv`, csv([["step", ...Object.values(COLUMNS)], ...rows]), "text/csv");
}
