// <grpo-ratio-source>: why a ratio leaves 1: for three actions, the way from the sampler's probability to today's in three
// steps, over the band of the clip (catalogue B12).
import { ratioSource, REWARDS } from "../core/ratio_source.mjs";
import { chart, legendItem, pixel, scale, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, percent } from "../ui/format.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const [LOW, HIGH, TICKS] = [0.4, 1.6, [0.4, 0.6, 0.8, 1, 1.2, 1.5]]; // of a logarithmic axis
const EPS = 0.2;
const ROW = { tall: 96, head: 24, lane: 20 };
const HEIGHT = 3 * ROW.tall + 40;
const STEPS = [
  { name: "engine", style: "ghost", text: "the sampler's engine" },
  { name: "age", style: "bar flat", text: "its age" },
  { name: "updates", style: "bar", text: "updates since" },
];
const updates = (label, most) =>
  ({ control: slider, label, values: range(0, most, 1), initial: most, show: (n) => (n === 1 ? "1 update" : `${n} updates`) });

class RatioSource extends Explorable {
  static controls = {
    updates: updates("Updates since the rollout", 15),
    age: updates("Age of the sampler's weights", 8),
    engine: {
      control: picks, label: "The sampler computes", initial: "bfloat16",
      options: [["same", "as the trainer"], ["bfloat16", "logits in bfloat16"], ["top2", "the top 2 only"]],
    },
  };
  static examples = {
    "One update": { updates: 0, age: 0, engine: "same" },
    "16 minibatches": { updates: 15, age: 0, engine: "same" },
    "Asynchronous": { updates: 0, age: 8, engine: "same" },
    "Two engines": { updates: 0, age: 0, engine: "bfloat16" },
  };

  build() {
    this.chart = chart(HEIGHT, (width) => this.paint(width));
    const legend = element("div", { class: "grpo-legend" }, STEPS.map(({ style, text }) => legendItem(style, text)));
    this.table = table({
      caption: "From the sampler's probability to today's",
      columns: ["action", "sampler", "π_old", "π_θ", "engine and age", "updates: PPO's ρ", "product"],
    });
    return [legend, this.chart.node, this.table.node];
  }

  draw(state) {
    this.found = ratioSource(state);
    const { sampler, old, now, factors } = this.found;
    this.table.fill(sampler.map((p, a) => {
      const ratio = (x) => (p === 0 ? "never drawn" : fixed(x, 3));
      return [String(a + 1), fixed(p, 3), fixed(old[a], 3), fixed(now[a], 3), ratio(old[a] / p), fixed(factors.updates[a], 3),
        ratio(now[a] / p)];
    }));
    this.chart.redraw();
  }

  paint(width) {
    const log = scale(Math.log(LOW), Math.log(HIGH), 16, width - 12);
    const x = (ratio) => log(Math.log(Math.min(HIGH, Math.max(LOW, ratio))));
    const foot = 3 * ROW.tall;
    return [
      element("rect", { class: "band", x: pixel(x(1 - EPS)), width: pixel(x(1 + EPS) - x(1 - EPS)), y: 0, height: foot }),
      element("line", { class: "mark", x1: pixel(x(1)), x2: pixel(x(1)), y1: ROW.head, y2: foot }),
      TICKS.map((tick) => words(x(tick), foot + 16, fixed(tick, 1), { "text-anchor": "middle" })),
      words(width / 2, foot + 36, "ratio to the sampler's probability; grey: the clip's band", { "text-anchor": "middle" }),
      this.found.now.map((_, a) => this.row(a, x)).flat(2),
    ].flat();
  }

  /** One action: each lane begins where the one above it ended. */
  row(a, x) {
    const { sampler, old, factors } = this.found;
    const top = a * ROW.tall;
    const title = words(0, top + 16, `Action ${a + 1}, reward ${REWARDS[a]}`, { class: "name" });
    if (sampler[a] === 0) return [title, words(0, top + 40, `never drawn, though the trainer gives it ${percent(old[a])}`)];
    let [from, last] = [1, top + ROW.head];
    const lanes = STEPS.map(({ name, style }, lane) => {
      const to = from * factors[name][a];
      const y = top + ROW.head + lane * ROW.lane;
      const [left, right] = [x(Math.min(from, to)), x(Math.max(from, to))];
      const bar = to === from ? [] : element("rect", { class: style, x: pixel(left - 1), width: pixel(right - left + 2), y: y + 3, height: ROW.lane - 6, rx: 3 });
      [from, last] = [to, y + ROW.lane / 2];
      return bar;
    });
    const side = from < 1 ? { shift: -10, anchor: "end" } : { shift: 10, anchor: "start" };
    return [title, lanes.flat(), element("circle", { class: "point", cx: pixel(x(from)), cy: last, r: 5 }),
      words(x(from) + side.shift, last + 5, fixed(from), { class: "name", "text-anchor": side.anchor })];
  }

  lesson() {
    const { sampler, old, factors } = this.found;
    const clip = factors.updates[0];
    const gap = old[0] / sampler[0];
    const band = clip > 1 + EPS ? "above the band, so it learns nothing more" : clip === 1 ? "exactly 1, so the clip does nothing" : "inside the band";
    const rest = Math.abs(gap - 1) < 5e-4 ? "The sampler agrees with the trainer."
      : `The sampler adds a factor of ${fixed(gap, 3)}, which PPO's ratio does not see.`;
    return `Action 1: PPO's ratio is ${fixed(clip, 3)}, ${band}. ${rest}`;
  }
}

customElements.define("grpo-ratio-source", RatioSource);
