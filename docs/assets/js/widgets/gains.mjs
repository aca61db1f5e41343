// <grpo-gains>: test scores of DeepSeekMath before and after GRPO, as its paper reports them (catalogue W23).
import { gains } from "../core/gains.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { choice } from "../ui/controls.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

class Gains extends Explorable {
  static source = "Reported by the authors of DeepSeekMath (arXiv:2402.03300, table 5), not repeated by us.";
  static controls = {
    way: {
      control: choice, label: "The model answers", initial: "words",
      options: [["words", "in words, step by step"], ["tools", "with a program that it may run"]],
    },
    bars: {
      control: choice, label: "Bars show", initial: "solved",
      options: [["solved", "questions solved"], ["missed", "questions not solved"]],
    },
  };

  build() {
    this.table = table({
      caption: "DeepSeekMath 7B, before and after GRPO",
      columns: ["test", "before", "after", "points gained", "mistakes gone"],
    });
    return [this.table.node];
  }

  draw({ way, bars }) {
    const cell = (solved, style) => {
      const shown = bars === "solved" ? solved : 100 - solved;
      return barCell(`${fixed(shown, 1)}\u00a0%`, shown / 100, style);
    };
    this.table.fill(gains(way).map(({ test, before, after, points, mistakesGone }) =>
      [test, cell(before, "second"), cell(after, "policy"), signed(points, 1), percent(mistakesGone)]));
  }

  lesson({ way }) {
    const found = gains(way).sort((a, b) => a.mistakesGone - b.mistakesGone);
    const say = ({ test, points, mistakesGone }) => `${percent(mistakesGone)} on ${test} (${signed(points, 1)} points)`;
    return `All four scores rise. Of the mistakes, from ${say(found[0])} to ${say(found.at(-1))} are gone.`;
  }
}

customElements.define("grpo-gains", Gains);
