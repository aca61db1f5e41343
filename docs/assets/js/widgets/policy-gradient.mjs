// <grpo-policy-gradient>: all policies over three actions as a triangle, the one that is dragged, the arrow of its policy
// gradient, and where many small steps lead (catalogue B09).
import { withShare } from "../core/kl_words.mjs";
import { ascend, expectedReward, flat, levelLine, policyGradient, unflat } from "../core/policy_gradient.mjs";
import { arrow } from "../ui/arrow.mjs";
import { chart, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent, signed } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { draggable } from "../ui/pointed.mjs";
import { table } from "../ui/table.mjs";
import { plane, pushes } from "./policy-gradient/picture.mjs";

const NAMES = ["p1", "p2", "p3"];
const STEPS = 20;
const LONGER = 3; // times the step, so that its arrow can be seen
const HEIGHT = 440; // with the pushes below the triangle; where they fit beside it, styles make it less
const share = (i, initial) =>
  ({ control: slider, label: `Probability of action ${i + 1}`, values: range(1, 98, 1), initial, show: (x) => percent(x / 100) });

class PolicyGradient extends Explorable {
  static source = `${COMPUTED} Rewards and probabilities are made up. The arrow is drawn three times as long as the step.`;
  static controls = {
    ...Object.fromEntries([50, 30, 20].map((initial, i) => [NAMES[i], share(i, initial)])),
    r: { control: picks, label: "Rewards", options: [["1,0,0", "1, 0, 0"], ["1,0,0.8", "1, 0, 0.8"], ["6,5,5", "6, 5, 5"]], initial: "1,0,0" },
  };
  static handles = NAMES;
  static examples = {
    "As by hand": { p1: 50, p2: 30, p3: 20, r: "1,0,0" },
    "Sure and wrong": { p1: 2, p2: 96, p3: 2, r: "1,0,0" },
    "Sure and right": { p1: 96, p2: 2, p3: 2, r: "1,0,0" },
    "A good second": { p1: 10, p2: 50, p3: 40, r: "1,0,0.8" },
  };

  build() {
    this.chart = chart(HEIGHT, (width, height) => this.paint(width, height));
    this.table = table({
      caption: "One step of size 1",
      columns: ["action", "reward", "π", "gradient", "π after the step"],
    });
    this.drags();
    this.rest();
    return [this.chart.node, this.table.node];
  }

  /** The policy follows a pointer; the sliders do the same for keys. */
  drags() {
    const move = (point) => {
      const [first, second] = unflat(this.plane.policyAt(point)).map((p) => Math.round(100 * p));
      const p1 = Math.min(98, Math.max(1, first));
      const p2 = Math.min(99 - p1, Math.max(1, second));
      Object.assign(this.state, { p1, p2, p3: 100 - p1 - p2 });
      for (const name of NAMES) this.controls[name].set(this.state[name]);
      this.draw(this.state);
    };
    draggable(this.chart.node, { hold: (point) => this.plane.holds(point), move, end: () => this.commit() });
  }

  /** The other actions share what one leaves, as they did when the hand came. */
  follow(name) {
    if (!NAMES.includes(name)) return;
    const shares = withShare(this.rested, NAMES.indexOf(name), this.state[name]);
    NAMES.forEach((each, i) => {
      this.state[each] = shares[i];
      this.controls[each].set(shares[i]);
    });
  }

  rest() {
    this.rested = NAMES.map((name) => this.state[name]);
  }

  commit() {
    super.commit();
    this.rest();
  }

  draw(state) {
    const total = NAMES.reduce((sum, name) => sum + state[name], 0); // an address may have any
    this.policy = NAMES.map((name) => state[name] / total);
    this.rewards = state.r.split(",").map(Number);
    this.gradient = policyGradient(this.policy, this.rewards);
    this.way = [this.policy];
    while (this.way.length <= STEPS) this.way.push(ascend(this.way.at(-1), this.rewards, 1));
    this.table.fill(this.policy.map((p, a) =>
      [String(a + 1), String(this.rewards[a]), fixed(p, 3), signed(this.gradient[a], 3), fixed(this.way[1][a], 3)]));
    this.chart.redraw();
  }

  paint(width, height) {
    const beside = height < 0.9 * HEIGHT;
    this.plane = plane({ wide: beside ? 0.66 * width : width, tall: beside ? height : height - 142 });
    const { at, corners } = this.plane;
    const levels = range(Math.min(...this.rewards) + 0.1, Math.max(...this.rewards) - 0.1, 0.1).map((level) => levelLine(this.rewards, level));
    const [now, ...next] = this.way.map((policy) => at(flat(policy)));
    return [
      element("path", { class: "rim", d: `M${corners.map(({ x, y }) => `${x} ${y}`).join("L")}Z` }),
      levels.map(([from, to]) => [at(flat(from)), at(flat(to))]).map(([from, to]) =>
        element("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: "grid" })),
      corners.map(({ x, y }, a) => this.plane.named(x, y, a, this.rewards[a])).flat(),
      words(corners[0].x, this.plane.foot + 56, "lines: equal J, 0.1 apart; dots: 20 steps", { class: "soft", "text-anchor": "middle" }),
      next.map(({ x, y }) => element("circle", { cx: x, cy: y, r: 2.5, class: "step" })),
      arrow(now, this.tip()),
      element("circle", { cx: now.x, cy: now.y, r: 7, class: "dot handle" }),
      pushes(this.gradient, beside ? { left: 0.7 * width, wide: 0.3 * width, top: 40, tall: height - 70 }
        : { left: 0, wide: width, top: height - 106, tall: 106 }),
    ].flat();
  }

  /** Where the arrow ends: in the direction in which the policy begins to move. */
  tip() {
    const mean = expectedReward(this.policy, this.gradient);
    return this.plane.at(flat(this.policy.map((p, a) => p + LONGER * p * (this.gradient[a] - mean))));
  }

  lesson() {
    const expected = expectedReward(this.policy, this.rewards);
    const [, next] = this.way;
    const up = this.gradient.map((g, a) => (g > 0 ? a + 1 : 0)).filter(Boolean);
    const which = up.length > 1 ? `Actions ${up.join(" and ")} earn` : `Action ${up[0]} earns`;
    return `Expected reward ${fixed(expected, 3)}. ${which} more than that and ${up.length > 1 ? "are" : "is"} pushed up. `
      + `One step leads to ${fixed(expectedReward(next, this.rewards), 3)}, ${STEPS} steps to `
      + `${fixed(expectedReward(this.way.at(-1), this.rewards), 3)}.`;
  }
}

customElements.define("grpo-policy-gradient", PolicyGradient);
