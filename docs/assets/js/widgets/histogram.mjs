// <grpo-histogram>: advantages of many groups beside a bell curve (catalogue W12).
import { bell, describe, drawAdvantages, histogram } from "../core/advantage_samples.mjs";
import { button, choice, slider, wholeNumber } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const WIDTH = 0.1;
const MOST = 2000;
const SIZES = ["2", "4", "8", "16", "32"].map((size) => [size, size]);
const KINDS = [["binary", "0 or 1"], ["uniform", "any number from 0 to 1"], ["normal", "a bell curve"]];
const CURVE = range(-4, 4, 0.1).map((x) => [x, WIDTH * bell(x)]);

class Histogram extends Explorable {
  static controls = {
    kind: { control: picks, label: "Rewards are", options: KINDS, initial: "binary" },
    p: {
      control: slider, label: "Probability of reward 1", values: range(0.02, 0.98, 0.02), initial: 0.5,
      show: (p) => percent(p),
    },
    g: { control: choice, label: "Group size G", options: SIZES, initial: "8" },
    groups: { control: wholeNumber, label: "Groups", low: 1, high: MOST, initial: 100 },
    seed: { control: wholeNumber, label: "Seed", low: 0, high: 9999, initial: 7 },
  };

  build() {
    const more = [1, 10, 100].map((n) =>
      button(`+${n} group${n > 1 ? "s" : ""}`, () => this.set({ groups: Math.min(MOST, this.state.groups + n) })));
    this.chart = curveChart({ x: { low: -4.2, high: 4.2, ticks: range(-4, 4, 1), digits: 0, name: "advantage" } });
    this.summary = table({ caption: "All advantages together", columns: ["measure", "drawn", "standard normal"] });
    this.bins = table({ caption: "Where there are bars", columns: ["advantage around", "drawn", "standard normal"] });
    return [element("div", { class: "grpo-bar" }, more), this.chart.node, this.summary.node,
      this.bins.node];
  }

  draw({ kind, p, g, groups, seed }) {
    const { advantages, zeroSignals } = drawAdvantages({ kind, p, groupSize: Number(g), groups, seed });
    this.found = { ...describe(advantages), lost: zeroSignals / groups };
    const { mean, std, middle, largest, different, lost } = this.found;
    this.controls.p.node.hidden = kind !== "binary";
    const bins = histogram(advantages, { width: WIDTH });
    const high = [0.1, 0.2, 0.4, 0.6, 1].find((top) => bins.every(({ share }) => share <= top));
    this.chart.draw({
      y: {
        low: 0, high, ticks: range(0, high, high / 2), digits: 2,
        name: "share of the advantages; curve: standard normal",
      },
      bars: bins.map(({ middle: x, share }) => ({ from: x - WIDTH / 2, to: x + WIDTH / 2, y: share, style: x < 0 ? "bar down" : "bar up" })),
      curves: [{ style: "line-third", points: CURVE }],
    });
    this.summary.fill([
      ["mean", fixed(mean, 3), "0"], ["standard deviation", fixed(std, 3), "1"],
      ["between \u22120.5 and +0.5", percent(middle), percent(0.3829)],
      ["largest size", fixed(largest, 3), "no limit"], ["different values", String(different), "no limit"],
      ["groups without a signal", percent(lost, 1), "\u2013"],
    ]);
    this.bins.fill(bins.filter(({ share }) => share > 0).map(({ middle: x, share }) =>
      [signed(x, 1), percent(share, 1), percent(WIDTH * bell(x), 1)]));
  }

  lesson({ kind, g, groups }) {
    const { different, lost, largest } = this.found;
    const shape = kind === "binary"
      ? `only ${different} different values, and in each group at most two: spikes, not a bell`
      : `the largest has the size ${fixed(largest)}; with G = ${g} none can exceed ${fixed(Math.sqrt(g - 1))}, `
        + "the root of G \u2212 1";
    return `${groups} group${groups > 1 ? "s" : ""} of ${g}: ${shape}. ${percent(lost, 1)} of the groups have no signal.`;
  }
}

customElements.define("grpo-histogram", Histogram);
