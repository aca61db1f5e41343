// <grpo-baseline>: the gradients of all groups that a policy may draw, as arrows, and their mean, for a fixed baseline, the
// mean of the group and the mean of the others (catalogue B10).
import { flat, groupGradients, policyGradient, spread } from "../core/policy_gradient.mjs";
import { arrow } from "../ui/arrow.mjs";
import { chart, pixel, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const POLICY = [0.5, 0.3, 0.2];
const TRUTH = policyGradient(POLICY, [1, 0, 0]); // and of 6, 5, 5
const HEIGHT = 330;
const size = (vector) => Math.hypot(...vector);

class Baseline extends Explorable {
  static source = `${COMPUTED} The numbers count every group that the policy may draw, so they involve no chance.`;
  static controls = {
    kind: {
      control: picks, label: "Subtract", initial: "number",
      options: [["number", "a number b"], ["group", "mean of the group"], ["others", "mean of the others"]],
    },
    b: { control: slider, label: "b", values: range(0, 6, 0.25), initial: 4, show: (b) => fixed(b) },
    r: { control: picks, label: "Rewards", options: [["1,0,0", "1, 0, 0"], ["6,5,5", "6, 5, 5"]], initial: "6,5,5" },
    g: { control: picks, label: "Group size G", options: ["1", "2", "4"].map((g) => [g, g]), initial: "1" },
  };
  static examples = {
    "No baseline": { kind: "number", b: 0, r: "6,5,5", g: "1" },
    "The expected reward": { kind: "number", b: 5.5, r: "6,5,5", g: "1" },
    "Mean of two": { kind: "group", b: 0, r: "6,5,5", g: "2" },
    "The other of two": { kind: "others", b: 0, r: "6,5,5", g: "2" },
  };
  static guess = {
    ask: "In a group of two, both rewards lose the group's mean. How many times as long as the true gradient is the mean gradient?",
    of: this.examples["Mean of two"], values: range(0, 2, 0.05), truth: ({ factor }) => factor,
  };

  build() {
    this.chart = chart(HEIGHT, (width, height) => this.paint(width, height));
    this.table = table({
      caption: "Groups by their actions, and the mean over all groups",
      columns: ["group", "probability", "by logit 1", "by logit 2", "by logit 3"],
    });
    return [this.chart.node, this.table.node];
  }

  draw({ kind, b, r, g }) {
    this.groups = groupGradients(POLICY, r.split(",").map(Number), Number(g), kind, b);
    Object.assign(this, spread(this.groups));
    this.factor = size(this.mean) / size(TRUTH);
    this.table.fill([
      ...this.groups.map(({ actions, probability, gradient }) =>
        [actions.map((a) => a + 1).join(" "), percent(probability, 1), ...gradient.map((x) => signed(x, 3))]),
      ["mean", percent(1, 1), ...this.mean.map((x) => signed(x, 3))],
      ["true gradient", "", ...TRUTH.map((x) => signed(x, 3))],
    ]);
    this.chart.redraw();
  }

  paint(width, height) {
    const known = this.groups.filter(({ gradient }) => !Number.isNaN(gradient[0]));
    const longest = Math.max(2 * size(TRUTH), ...known.map(({ gradient }) => size(gradient)));
    const scale = Math.min(width / 2, height / 2 - 40) / longest;
    const middle = { x: width / 2, y: height / 2 - 10 };
    const at = (gradient) => {
      const { x, y } = flat(gradient);
      return { x: middle.x + scale * x, y: middle.y - scale * y };
    };
    const often = [...known].sort((one, other) => other.probability - one.probability);
    return [
      element("circle", { cx: pixel(middle.x), cy: pixel(middle.y), r: pixel(scale * size(TRUTH)), class: "ring" }),
      often.map(({ gradient, probability }) => arrow(middle, at(gradient), { style: "one", wide: 1 + 7 * probability })).flat(),
      this.state.g === "4" ? [] : often.map((group) => named(group, at(group.gradient), middle)).flat(),
      this.guesses.map(({ value }) =>
        element("circle", { cx: pixel(middle.x), cy: pixel(middle.y), r: pixel(scale * value * size(TRUTH)), class: "guessed" })),
      this.guesses.map(({ value, name }) => words(middle.x + 0.71 * scale * value * size(TRUTH) + 5, middle.y - 0.71 * scale * value * size(TRUTH), name, { class: "name" })),
      known.length ? arrow(middle, at(this.mean), { style: "whole", wide: 5 }) : [],
      element("circle", { cx: pixel(middle.x), cy: pixel(middle.y), r: 4, class: "point" }),
      words(middle.x, 14, "towards action 1", { class: "soft", "text-anchor": "middle" }),
      words(0, height - 26, "towards 2", { class: "soft" }),
      words(width, height - 26, "towards 3", { class: "soft", "text-anchor": "end" }),
      words(middle.x, height - 5, "heavy: the mean; ring: length of the true gradient", { class: "soft", "text-anchor": "middle" }),
    ].flat();
  }

  lesson({ kind, g }) {
    if (Number.isNaN(this.factor)) return "A group of one has no others, so there is nothing to subtract.";
    if (this.factor < 1e-9) return "A sample compared with itself teaches nothing: every gradient is 0.";
    const whole = Math.abs(this.factor - 1) < 1e-9;
    const mean = whole ? "The mean arrow is the true gradient" : `The mean arrow is ${fixed(this.factor)} times the true gradient`;
    const why = kind === "group" ? `, (G − 1) / G with G = ${g}` : "";
    return `${mean}${why}. The variance of ${g === "1" ? "one sample" : `one group of ${g}`} is ${fixed(this.variance, 3)}.`;
  }
}

/** The actions of a group, beyond the tip of its arrow. */
function named({ actions, gradient }, tip, middle) {
  if (size(gradient) < 1e-9) return [];
  const long = Math.hypot(tip.x - middle.x, tip.y - middle.y);
  const at = (from, to) => to + (14 * (to - from)) / long;
  return [words(at(middle.x, tip.x), at(middle.y, tip.y) + 5, actions.map((a) => a + 1).join(" "), { class: "name", "text-anchor": "middle" })];
}

customElements.define("grpo-baseline", Baseline);
