// <grpo-token-inspector>: a completion as words, each lifted or pressed by what it adds to the loss (catalogue W13).
import { clipped, tokenLoss } from "../core/loss.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { choice } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { hatching } from "../ui/hatching.mjs";
import { mark } from "../ui/mark.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

/** A completion with made-up probabilities: [token, old, now, ref]. */
const TOKENS = [
  ["The", 0.9, 0.92, 0.91], ["answer", 0.8, 0.8, 0.82], ["is", 0.95, 0.93, 0.95],
  ["1", 0.4, 0.62, 0.35], ["4", 0.5, 0.58, 0.45], [".", 0.7, 0.5, 0.72],
];
const ADVANTAGES = { right: Math.sqrt(5 / 3), wrong: -Math.sqrt(3 / 5) }; // three right samples of eight
const CLIP = 0.2;
const UNIT = 84; // pixels of a loss of 1
const LINES = { right: 208, wrong: 62 }; // heights of the line, on which the words stand or from which they hang
const WORD = 28; // high
const CHANCES = 276; // height of the title of the probabilities, below the words

class TokenInspector extends Explorable {
  static source = "Schematic: the probabilities are made up. The rest is computed from them here.";
  static controls = {
    token: { control: picks, label: "Token", options: TOKENS.map(([text], i) => [String(i), text]), initial: "3" },
    sample: {
      control: choice, label: "The answer is", initial: "right",
      options: [["right", "right, A = +1.291"], ["wrong", "wrong, A = −0.775"]],
    },
  };

  build() {
    this.chart = chart(360, (width) => this.paint(width));
    this.one = table({ caption: "The chosen token", columns: ["Quantity", "Value"] });
    this.all = table({ caption: "All tokens", columns: ["Token", "ρ", "clip", "k3", "loss"] });
    return [this.chart.node, this.one.node, this.all.node];
  }

  parts({ sample }) {
    return TOKENS.map(([, old, now, ref]) => tokenLoss({ old, now, ref, advantage: ADVANTAGES[sample], clipEps: CLIP }));
  }

  draw(state) {
    const [, old, now, ref] = TOKENS[state.token];
    const parts = this.parts(state);
    const { ratio, surrogate, k3, penalty, loss } = parts[state.token];
    this.one.fill([
      ["π_old", barCell(fixed(old), old, "old")], ["π_θ", barCell(fixed(now), now)],
      ["π_ref", barCell(fixed(ref), ref, "reference")],
      ["ρ = π_θ / π_old", fixed(ratio, 3)],
      ["surrogate", signed(surrogate, 4)], ["k3", fixed(k3, 4)], ["β · k3", fixed(penalty, 4)],
      ["loss", signed(loss, 4)],
    ]);
    const mean = (name) => parts.reduce((total, part) => total + part[name], 0) / parts.length;
    this.all.fill([
      ...parts.map((part, i) => [`${TOKENS[i][0]}${String(i) === state.token ? " ◂" : ""}`,
        fixed(part.ratio, 3), part.bound ? "binds" : "–", fixed(part.k3, 4), signed(part.loss, 4)]),
      ["mean", "", "", fixed(mean("k3"), 4), signed(mean("loss"), 4)],
    ]);
    this.chart.redraw();
  }

  paint(width) {
    const advantage = ADVANTAGES[this.state.sample];
    const line = LINES[this.state.sample];
    const even = line - UNIT * advantage;
    return [
      element("line", { class: "axis", x1: 0, x2: width, y1: line, y2: line }),
      element("line", { class: "mark", x1: 0, x2: width, y1: even, y2: even }),
      words(width, advantage > 0 ? even - 6 : even + 32, `A ${signed(advantage)}`, { class: "name", "text-anchor": "end" }),
      words(0, 13, `\u03c1, and how much the token ${advantage > 0 ? "lowers" : "raises"} the loss`, { class: "soft" }),
      this.parts(this.state).map((part, i) => this.word(part, i, { line, width, column: width / TOKENS.length })),
      this.probabilities(Math.min(width, 430)),
    ].flat(2);
  }

  /** A token: its word on the line, and a stem as long as what it adds; dashed is what the clip changed. */
  word({ ratio, bound, loss }, i, { line, width, column }) {
    const [text] = TOKENS[i];
    const advantage = ADVANTAGES[this.state.sample];
    const way = Math.sign(advantage);
    const middle = (i + 0.5) * column;
    const end = line + UNIT * loss; // a loss below 0 lifts
    const free = line - UNIT * ratio * advantage; // without the clip
    const wide = Math.min(34, 0.6 * column);
    const far = way > 0 ? Math.min(end, bound ? free : end) : Math.max(end, bound ? free : end);
    const on = String(i) === this.state.token;
    const top = way > 0 ? line + 8 : line - 8 - WORD;
    const box = Math.min(column - 4, 22 + 8 * text.length);
    const said = bound ? `${fixed(ratio)} \u2192 ${fixed(clipped(ratio, CLIP))}` : fixed(ratio);
    return element("g", { class: on ? "word on" : "word", onclick: () => this.set({ token: String(i) }) },
      mark({ middle, wide, line, end }),
      bound ? element("rect", { class: "ghost", x: pixel(middle - wide / 2), width: pixel(wide), y: pixel(Math.min(end, free)),
        height: pixel(Math.abs(end - free)), rx: 3 }) : [],
      words(bound ? Math.min(middle, width - 36) : middle, far - (way > 0 ? 7 : -17), said, { "text-anchor": "middle", class: "name" }),
      element("rect", { class: "token", x: pixel(middle - box / 2), y: top, width: pixel(box), height: WORD, rx: 7 }),
      words(middle, top + 19, text, { "text-anchor": "middle", class: "text" }));
  }

  /** How likely the chosen token was when it was drawn, is now, and is to the reference policy. */
  probabilities(wide) {
    const [text, ...chances] = TOKENS[this.state.token];
    const x = scale(0, 1, 0, Math.max(0, wide - 120));
    const names = [["when drawn", "ghost"], ["now", "bar"], ["reference", "reference"]];
    return [
      hatching("token"),
      words(0, CHANCES, `How likely is \u201c${text}\u201d?`, { class: "name" }),
      names.map(([name, style], i) => [
        words(0, CHANCES + 25 + 24 * i, name),
        element("rect", { class: style, x: 80, y: CHANCES + 12 + 24 * i, width: pixel(x(chances[i])), height: 16, rx: 4 }),
        words(86 + x(chances[i]), CHANCES + 25 + 24 * i, fixed(chances[i])),
      ]),
    ].flat(2);
  }

  lesson(state) {
    const { ratio, bound } = this.parts(state)[state.token];
    const outside = Math.abs(ratio - 1) > 0.2;
    const clip = bound ? "The clip binds: only the KL still moves it."
      : outside ? "It is outside the band, but on the side that does not help the objective, so the clip does nothing."
        : "It is inside the band, so the clip does nothing.";
    return `Token “${TOKENS[state.token][0]}” is ${fixed(ratio)} times as likely as when it was drawn. ${clip}`;
  }
}

customElements.define("grpo-token-inspector", TokenInspector);
