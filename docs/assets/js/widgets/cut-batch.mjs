// <grpo-cut-batch>: how much more or less a token of each completion counts once a batch is cut, by library (catalogue B19).
import { LENGTHS, RUNS } from "../../runs/cut-batch.mjs";
import { choice } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { Explorable, range, recorded } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const PIECES = [1, 2, 4, 8];
const WAYS = ["micro-batches", "ranks"];
const NAMES = LENGTHS.map((_, i) => `${"AB"[Math.floor(i / 4)]}${(i % 4) + 1}`);
const A4 = NAMES.indexOf("A4");
const options = (values) => values.map((value) => [String(value), String(value)]);
const FIRST = { run: "TRL: bnpo", pieces: "8", way: WAYS[0] };

class CutBatch extends Explorable {
  static source = recorded("each library's own loss on every micro-batch; ranks by the formula of its reduction.");
  static controls = {
    run: { control: choice, label: "Library and reduction", options: options(RUNS.map(([name]) => name)), initial: FIRST.run },
    pieces: { control: picks, label: "Cut into", options: options(PIECES), initial: FIRST.pieces },
    way: { control: picks, label: "Pieces are", options: options(WAYS), initial: FIRST.way },
  };
  static guess = {
    ask: "TRL's bnpo with one completion per micro-batch: how much does a token of A4 weigh, the completion of two tokens? Uncut it weighs 1.",
    of: FIRST, values: range(0, 3, 0.05), truth: ({ seen }) => seen.weights[A4],
  };

  build() {
    this.chart = curveChart({
      x: {
        low: 0, high: NAMES.length, ticks: NAMES.map((_, i) => i + 0.5), name: "completion: its number of tokens",
        show: (middle) => `${NAMES[Math.floor(middle)]}: ${LENGTHS[Math.floor(middle)]}`,
      },
      y: { low: 0, high: 3, ticks: range(0, 3, 1), digits: 0, name: "weight of one token (uncut: 1)" },
    });
    this.table = table({ caption: "Weight of one token", columns: ["Completion", "Tokens", "Uncut", "Cut"] });
    return [this.chart.node, this.table.node];
  }

  draw({ run, pieces, way }) {
    const found = RUNS.find(([name]) => name === run)[1 + WAYS.indexOf(way)];
    const place = PIECES.indexOf(Number(pieces));
    const [length, cosine, weights] = found && found !== "none" ? found.map((each) => each[place]) : [1, 1, NAMES.map(() => 1)];
    this.seen = { found, length, cosine, weights };
    const middle = A4 + 0.5;
    this.chart.draw({
      bars: weights.map((y, i) => ({ from: i + 0.15, to: i + 0.85, y, style: this.guesses.length ? "bar flat" : "bar" })), // names of guesses lie on them
      dots: this.guesses.length ? [{ x: middle, y: weights[A4], text: fixed(weights[A4]) }] : [],
      guesses: this.guesses.map(({ value, text }) => ({ x: middle, y: value, text })),
    });
    this.table.fill(NAMES.map((name, i) => [name, String(LENGTHS[i]), "1", fixed(weights[i], 3)]));
  }

  lesson({ run, pieces, way }) {
    const { found, length, cosine } = this.seen;
    if (found === "none") return `${run} trains on one device, so there are no ranks.`;
    if (!found) return `${run} in ${pieces} ${way}: the gradient is that of the uncut batch.`;
    return `${run} in ${pieces} ${way}: the gradient is ${fixed(length, 3)} times as long as uncut, and the cosine between the two is ${fixed(cosine, 3)}.`;
  }
}

customElements.define("grpo-cut-batch", CutBatch);
