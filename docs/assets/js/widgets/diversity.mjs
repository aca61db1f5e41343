// <grpo-diversity>: the temperature decides how different the samples of a group are (catalogue W06).
import { ANSWERS, answerLogp, expectedDistinct, expectedStd, RIGHT } from "../core/answers.mjs";
import { noSignal } from "../core/binary_groups.mjs";
import { entropy } from "../core/grpo.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { legendItem } from "../ui/chart.mjs";
import { choice, slider, toggle } from "../ui/controls.mjs";
import { curveChart } from "../ui/curve_chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const TEMPERATURES = range(0.1, 2, 0.1);
const SIZES = ["2", "4", "8", "16", "64"];
const START = { g: "8", knows: false };

class Diversity extends Explorable {
  static controls = {
    t: { control: slider, label: "Temperature", values: TEMPERATURES, initial: 0.8, show: (t) => fixed(t, 1) },
    g: { control: choice, label: "Group size G", options: SIZES.map((size) => [size, size]), initial: START.g },
    knows: { control: toggle, label: "The favorite answer is the right one", initial: START.knows },
  };
  static examples = { "Too cold": { ...START, t: 0.1 }, "As trained": { ...START, t: 1 }, Hot: { ...START, t: 2 } };

  build() {
    this.chart = curveChart({
      hand: this.hand("t"),
      x: { low: 0, high: 2, ticks: range(0, 2, 0.5), name: "temperature" },
      y: { low: 0, high: 1, ticks: range(0, 1, 0.25), digits: 2, name: "probability" },
    });
    this.answers = table({ caption: "How likely each answer is", columns: ["answer", "probability"] });
    this.group = table({ caption: "What to expect from a group and its rewards",
      columns: ["entropy, nats", "different", "P(right)", "P(signal)", "expected std"] });
    const legend = element("div", { class: "grpo-legend" },
      legendItem("line-first", "the group has a signal"), legendItem("line-second", "with the box the other way"), legendItem("line-reward", "a sample is right"));
    return [legend, this.chart.node, this.answers.node, this.group.node];
  }

  draw({ t, g, knows }) {
    const at = (temperature) => expectations(temperature, Number(g), knows);
    this.now = at(t);
    const curve = (name) => TEMPERATURES.map((x) => [x, at(x)[name]]);
    this.chart.draw({
      curves: [
        { style: "line-second", points: TEMPERATURES.map((x) => [x, expectations(x, Number(g), !knows).signal]) },
        { style: "line-first", points: curve("signal") }, { style: "line-reward", points: curve("right") },
      ],
      dots: [{ x: t, y: this.now.signal, text: percent(this.now.signal) }, { x: t, y: this.now.right }],
    });
    const { probabilities, right, signal } = this.now;
    this.answers.fill(ANSWERS.map((answer, i) => [`${answer} ${i === RIGHT ? "✓" : "✗"}`,
      barCell(percent(probabilities[i], 1), probabilities[i], i === RIGHT ? "reward" : "policy")]));
    this.group.fill([[fixed(this.now.entropy, 3), fixed(expectedDistinct(probabilities, Number(g))),
      percent(right, 1), percent(signal, 1), fixed(expectedStd(right, Number(g)), 3)]]);
  }

  lesson({ t, g }) {
    const { probabilities, signal } = this.now;
    const distinct = fixed(expectedDistinct(probabilities, Number(g)));
    return `At temperature ${fixed(t, 1)}, expect ${distinct} different answers among ${g}, `
      + `and a signal in ${percent(signal, 1)} of the groups.`;
  }
}

/** Of a group that is drawn at a temperature. */
function expectations(temperature, groupSize, knowsRule) {
  const logp = answerLogp(temperature, knowsRule);
  const probabilities = logp.map(Math.exp);
  const right = probabilities[RIGHT];
  return { probabilities, right, entropy: entropy(logp), signal: 1 - noSignal(right, groupSize) };
}

customElements.define("grpo-diversity", Diversity);
