// <grpo-averaging>: three ways to average over tokens, and which completions each of them favors (catalogue B03).
import { freshLoss, tokenWeights } from "../core/averaging.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { slider } from "../ui/controls.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const LIMIT = 20; // the constant length: the most tokens that a completion may have
const ADVANTAGES = [1, 1, -1, -1]; // of the rewards 1, 1, 0, 0
const NAMES = ["correct 1", "correct 2", "wrong 1", "wrong 2"];
const FIRST = [4, 10, 4, 20];
const WAYS = ["sequence", "token", "constant"];
const all = (lengths) => Object.fromEntries(lengths.map((n, i) => [`n${i + 1}`, n]));
const length = (i) =>
  ({ control: slider, label: `Tokens of ${NAMES[i]}`, values: range(1, LIMIT, 1), initial: FIRST[i] });

class Averaging extends Explorable {
  static controls = {
    ...all(FIRST.map((_, i) => length(i))),
    show: {
      control: picks, label: "Weight times advantage of", initial: "token",
      options: [["token", "each token"], ["completion", "the whole completion"]],
    },
  };
  static examples = {
    "Long and wrong": all(FIRST),
    "Long and correct": all([4, 20, 4, 10]),
    "All alike": all([8, 8, 8, 8]),
  };

  build() {
    this.table = table({
      caption: "How hard each completion is pushed, up if correct and down if wrong",
      columns: ["Completion", "by sequence", "by token", "by constant"],
    });
    return [this.table.node];
  }

  draw(state) {
    const lengths = FIRST.map((_, i) => state[`n${i + 1}`]);
    const weights = tokenWeights(lengths, { limit: LIMIT });
    const times = state.show === "token" ? [1, 1, 1, 1] : lengths;
    const pushes = WAYS.map((way) => ADVANTAGES.map((a, i) => a * weights[way][i] * times[i]));
    const most = Math.max(...pushes.flat().map(Math.abs));
    const cell = (push) => barCell(signed(push, 4), Math.abs(push) / most, push > 0 ? "up" : "down");
    const losses = WAYS.map((way) => fixed(freshLoss(weights[way], lengths, ADVANTAGES), 4));
    this.table.fill([
      ...NAMES.map((name, i) => [name, ...pushes.map((push) => cell(push[i]))]),
      ["fresh loss", ...losses],
    ]);
  }

  lesson({ n3, n4 }) {
    const times = n3 === n4 ? "as hard as" : `${fixed(n3 / n4)} times as hard as`;
    return `By sequence, a token of wrong 2 (of ${n4}) is pushed down ${times} one of wrong 1 (of ${n3}); `
      + "by token and by a constant they are pushed alike.";
  }
}

customElements.define("grpo-averaging", Averaging);
