// <grpo-credit>: which token of a completion is to blame: the same sentence pushed by GRPO and by PPO, and between the two
// what PPO's critic expects (catalogue W19).
import { binaryAdvantages } from "../core/binary_groups.mjs";
import { tokenAdvantages } from "../core/credit.mjs";
import { chart, line, pixel, scale, words } from "../ui/chart.mjs";
import { slider, toggle } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { glide } from "../ui/glide.mjs";
import { picks } from "../ui/picks.mjs";
import { pointed } from "../ui/pointed.mjs";
import { table } from "../ui/table.mjs";

const TOKENS = ["3×4", "=12", "so", "2+12", "=15", "."]; // the answer to 2+3×4 is wrong: reward 0
const VALUES = [0.5, 0.55, 0.7, 0.7, 0.8, 0.1]; // what a good critic expects before each of them
const REWARD = 0;
const GRPO = binaryAdvantages(4, 8).wrong; // half of the group is correct, this completion is not
const HEIGHT = 430;
const LINES = { grpo: 28, ppo: 334 }; // on which the tokens stand or from which they hang
const EXPECTED = { top: 174, bottom: 228 }; // of the critic's curve
const BLOCK = 34; // high, beyond what is pushed
const PUSH = 46; // pixels of an advantage of 1

class Credit extends Explorable {
  static source = "Schematic: the completion and the critic are made up. The advantages are computed here from these values.";
  static controls = {
    token: { control: picks, label: "Token", options: TOKENS.map((text, t) => [String(t), text]), initial: "4" },
    lambda: { control: slider, label: "λ of PPO", values: range(0, 1, 0.05), initial: 0.5, show: (x) => fixed(x) },
    novice: { control: toggle, label: "The critic has learned nothing: 0.5 everywhere", initial: false },
  };
  static examples = {
    "One token ahead": { lambda: 0, novice: false },
    "To the end": { lambda: 1, novice: false },
    "Untrained critic": { lambda: 1, novice: true },
  };

  build() {
    this.chart = chart(HEIGHT, (width) => this.paint(width));
    const { node } = this.chart;
    const token = (event) => Math.floor((pointed(event, node).x / node.clientWidth) * TOKENS.length);
    node.addEventListener("click", (event) => this.set({ token: String(Math.min(TOKENS.length - 1, Math.max(0, token(event)))) }));
    this.glide = glide((shown) => {
      this.shown = { expected: shown.slice(0, TOKENS.length), ppo: shown.slice(TOKENS.length) };
      this.chart.redraw();
    });
    this.table = table({ caption: "Advantage of every token", columns: ["token", "expected before it", "GRPO", "PPO"] });
    return [node, this.table.node];
  }

  draw({ token, lambda, novice }) {
    const values = novice ? VALUES.map(() => 0.5) : VALUES;
    this.ppo = tokenAdvantages(values, REWARD, lambda);
    this.table.fill(TOKENS.map((text, t) =>
      [`${t === Number(token) ? "▶ " : ""}${t + 1}: ${text}`, fixed(values[t]), signed(GRPO, 3), signed(this.ppo[t], 3)]));
    this.glide([...values, ...this.ppo]);
  }

  paint(width) {
    const step = width / TOKENS.length;
    const { expected, ppo } = this.shown;
    const sentence = (pushes, at) => [
      element("line", { x1: 0, x2: width, y1: at, y2: at, class: "mean" }),
      pushes.map((push, t) => word(TOKENS[t], push, { left: t * step + 2, wide: step - 4, at })),
    ].flat();
    return [
      element("rect", { x: pixel(this.state.token * step), y: 0, width: pixel(step), height: HEIGHT, rx: 8, class: "pale" }),
      words(0, 16, "GRPO: one advantage for all tokens", { class: "name title" }),
      sentence(TOKENS.map(() => GRPO), LINES.grpo),
      words(0, EXPECTED.top - 20, "What PPO’s critic expects", { class: "name title" }),
      curve([...expected, REWARD], step),
      words(0, EXPECTED.bottom + 36, "PPO: blame where it expects less", { class: "name title" }),
      sentence(ppo, LINES.ppo),
    ].flat();
  }

  lesson({ token, novice }) {
    const share = this.ppo[token];
    const critic = novice ? " An untrained critic knows nothing about single tokens." : "";
    return `Token ${Number(token) + 1}, “${TOKENS[token]}”: GRPO gives it ${signed(GRPO, 3)}, like every token of this `
      + `completion; PPO gives it ${signed(share, 3)}.${critic}`;
  }
}

/** What is expected before each token, and at the end the reward that came: it rises and falls over the tokens. */
function curve(values, step) {
  const y = scale(0, 1, EXPECTED.bottom, EXPECTED.top);
  const places = values.map((value, t) => [pixel(t * step), pixel(y(value))]);
  const [end] = places.at(-1);
  return [
    line("line-first", `M${places.map(([x, at]) => `${x} ${at}`).join("L")}`),
    places.map(([x, at]) => element("circle", { cx: Math.min(Math.max(x, 5), end - 5), cy: at, r: 4, class: "point" })),
    places.map(([x, at], t) => words(x, x < end ? at - 9 : at + 20, x < end ? fixed(values[t]) : `reward ${values[t]}`,
      { "text-anchor": x === 0 ? "start" : x < end ? "middle" : "end", class: "name" })),
  ].flat();
}

/** A token, lifted above the line or pressed below it by its advantage. */
function word(text, push, { left, wide, at }) {
  const [x, right, middle] = [pixel(left), pixel(left + wide), left + wide / 2];
  const way = Math.abs(push) < 0.005 ? 0 : Math.sign(push); // the number beside it is rounded, too
  const near = at - (way && PUSH * push);
  const tip = pixel(way < 0 ? near + BLOCK : near - BLOCK);
  const up = way < 0 ? -1 : 1;
  const bend = 13;
  const round = (to) => `A${bend} ${bend} 0 0 ${up > 0 ? 1 : 0} ${to}`;
  const style = ["bar down", "bar flat", "bar up"][way + 1];
  const corners = `V${tip + up * bend}${round(`${x + bend} ${tip}`)}H${right - bend}${round(`${right} ${tip + up * bend}`)}V${at}Z`;
  return element("g", {},
    element("path", { class: style, d: `M${x} ${at}${corners}` }),
    way === 0 ? [] : element("line", { class: "seam", x1: x, x2: right, y1: pixel(near), y2: pixel(near) }),
    words(middle, (tip + near) / 2 + 5, text, { class: way === 0 ? "title" : "title on", "text-anchor": "middle" }),
    words(middle, way < 0 ? tip + 17 : tip - 6, signed(push), { class: "name", "text-anchor": "middle" }));
}

customElements.define("grpo-credit", Credit);
