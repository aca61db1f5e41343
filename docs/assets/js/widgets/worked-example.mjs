// <grpo-worked-example>: from eight rewards to the loss of one token in five steps: the group on its mean, the probabilities of
// the token, and the numbers that become the loss as marks on one line (catalogue W22).
import { groupAdvantages } from "../core/grpo.mjs";
import { clipped, tokenLoss } from "../core/loss.mjs";
import { chart } from "../ui/chart.mjs";
import { choice, slider } from "../ui/controls.mjs";
import { COMPUTED, Explorable, range } from "../ui/explorable.mjs";
import { fixed } from "../ui/format.mjs";
import { hatching } from "../ui/hatching.mjs";
import { stepper } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";
import { group, probabilities, sum } from "./worked-example/parts.mjs";

const REWARDS = [0, 1, 0, 1, 0, 0, 1, 0];
const [OLD, REF, EPS, BETA] = [0.3, 0.28, 0.2, 0.04];
const GROUP = groupAdvantages(REWARDS);
const HEIGHT = 570;
const NARROW = 560; // pixels, below which group and probabilities are not side by side
const GAP = 28;
const TOP = 196; // high: the group, and beside or below it the probabilities
const ROW = 34; // of a probability
const BAND = [1 - EPS, 1 + EPS].map((end) => end * OLD); // of the clip, as probabilities
const RANGE = { 1: [-1.7, 2.1], 0: [-1.3, 1.3] }; // of what becomes the loss, for a reward of 1 and of 0; or twice that
const f = (x) => fixed(x, 4);

class WorkedExample extends Explorable {
  static source = `${COMPUTED} The probabilities are made up.`;
  static controls = {
    step: { control: stepper, label: "Step", values: [1, 2, 3, 4, 5], initial: 1 },
    sample: { control: choice, label: "Sample", options: [["1", "sample 2, reward 1"], ["0", "sample 1, reward 0"]], initial: "1" },
    now: { control: slider, label: "π_θ of its token", values: range(0.05, 0.95, 0.05), initial: 0.45, show: (p) => fixed(p) },
  };

  build() {
    this.table = table({ caption: "The loss of one token", columns: ["Quantity", "How", "Value"] });
    this.group = group(REWARDS.length);
    this.chart = chart(HEIGHT, (width, height) => this.paint(width, height));
    return [this.chart.node, this.table.node];
  }

  parts({ sample, now }) {
    const advantage = GROUP.advantages[REWARDS.indexOf(Number(sample))];
    return { advantage, ...tokenLoss({ now, old: OLD, ref: REF, advantage, clipEps: EPS, klCoef: BETA }) };
  }

  draw({ step, sample, now }) {
    const { advantage, ratio, surrogate, k1, k3, loss } = this.parts({ sample, now });
    const steps = [
      [["mean of the rewards", `(${REWARDS.join(" + ")}) / 8`, f(GROUP.mean)],
        ["standard deviation", `√(${f(GROUP.mean)} · ${f(1 - GROUP.mean)})`, f(GROUP.std)],
        ["advantage A", `(${sample} − ${f(GROUP.mean)}) / ${f(GROUP.std)}`, f(advantage)]],
      [["ratio ρ", `${fixed(now)} / ${fixed(OLD)}`, f(ratio)]],
      [["without the clip", `${f(ratio)} · ${f(advantage)}`, f(ratio * advantage)],
        ["with the clip", `${f(clipped(ratio, EPS))} · ${f(advantage)}`, f(clipped(ratio, EPS) * advantage)],
        ["surrogate", "the smaller of the two", f(surrogate)]],
      [["x", `ln(${fixed(REF)} / ${fixed(now)})`, f(-k1)],
        ["k3", `${f(REF / now)} − 1 − (${f(-k1)})`, f(k3)]],
      [["loss", `−(${f(surrogate)}) + ${BETA} · ${f(k3)}`, f(loss)]],
    ];
    this.table.fill(steps.slice(0, step).flat());
    this.chart.redraw();
  }

  paint(width, height) {
    const { step, sample, now } = this.state;
    const { advantage, ratio, bound, surrogate, penalty, loss } = this.parts(this.state);
    const wide = width >= NARROW;
    const half = wide ? (width - GAP) / 2 : width;
    const beside = wide ? { left: half + GAP, top: 0 } : { left: 0, top: TOP + 10 };
    const below = wide ? TOP + 14 : TOP + 3 * ROW + 56;
    const marks = [["A", advantage], ["ρA", ratio * advantage], ["surrogate", surrogate], ["β · k3", penalty], ["loss", loss]]
      .map(([name, value], i) => ({ name, value, known: step > i, pushes: i < 3, cut: i === 2 && bound && ratio * advantage }));
    const limits = RANGE[sample].map((end) => (ratio > 1.6 ? 2 * end : end));
    return [
      hatching("worked-example"),
      this.group.draw({ width: half, height: TOP, rewards: REWARDS, found: GROUP, chosen: REWARDS.indexOf(Number(sample)) }),
      probabilities({ ...beside, width: half, row: wide ? 1.3 * ROW : ROW, ratio: step < 2 ? null : ratio, band: step < 3 ? null : BAND,
        rows: [["π_old", OLD, "ghost", step >= 2], ["π_θ", now, "bar", step >= 2], ["π_ref", REF, "reference", step >= 4]] }),
      sum({ top: below, width, height, marks, limits }),
    ].flat(2);
  }

  lesson({ step, ...state }) {
    const { advantage, ratio, bound, k3, loss } = this.parts(state);
    const good = advantage > 0;
    return [
      `Score the group: this sample is ${good ? "better" : "worse"} than the mean, so A is ${good ? "positive" : "negative"}.`,
      `Compare with the policy that drew it: the token is now ${fixed(ratio)} times as likely.`,
      bound ? "Clip: it binds. Near this ratio the surrogate is constant, so it has no gradient."
        : "Clip: it does not bind. The surrogate is ρA, and its gradient with respect to ρ is A.",
      `Measure the drift from the reference: ${f(k3)} nats for this one token.`,
      `Put together: the loss of this token is ${f(loss)}. ${good ? "Minus, because" : "Plus, because"} the objective ` +
        `of a ${good ? "good" : "bad"} sample is ${good ? "positive" : "negative"}.`,
    ][step - 1];
  }
}

customElements.define("grpo-worked-example", WorkedExample);
