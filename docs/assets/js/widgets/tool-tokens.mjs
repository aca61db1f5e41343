// <grpo-tool-tokens>: two answers of an agent as strips of tokens, each as high as its weight times advantage, with and
// without the mask over what a tool wrote (catalogue B13).
import { ADVANTAGES, lostShare, OWN_TOKENS, parts, push } from "../core/tool_tokens.mjs";
import { chart, pixel, scale, words } from "../ui/chart.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, range, SCHEMATIC } from "../ui/explorable.mjs";
import { percent, signed } from "../ui/format.mjs";
import { mark } from "../ui/mark.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const MOST = 24; // tokens of a tool
const NAMES = ["right answer", "wrong answer"];
const LINES = [96, 196]; // heights of the two rows
const TITLES = [14, 160];
const UP = 62; // pixels of the largest push, above the line or below it
const tool = (label, initial) => ({ control: slider, label, values: range(0, MOST, 1), initial });

class ToolTokens extends Explorable {
  static source = `${SCHEMATIC} The pushes are computed from the lengths.`;
  static controls = {
    mask: { control: picks, label: "Tokens of the tool", options: [["no", "count"], ["yes", "are masked"]], initial: "no" },
    right: tool("Tool tokens of the right answer", 6),
    wrong: tool("Tool tokens of the wrong answer", 20),
  };

  build() {
    this.chart = chart(LINES[1] + UP + 6, (width) => this.paint(width));
    this.table = table({
      caption: "Weight times advantage of one token",
      columns: ["Answer", "tool tokens", "own token", "token of the tool", "share on the tool"],
    });
    return [this.chart.node, this.table.node];
  }

  found({ mask, right, wrong }) {
    const masked = mask === "yes";
    return [right, wrong].map((tokens, i) =>
      ({ tokens, ...push(tokens, ADVANTAGES[i], { masked }), lost: lostShare(tokens, { masked }) }));
  }

  draw(state) {
    this.table.fill(this.found(state).map(({ tokens, own, tool, lost }, i) =>
      [NAMES[i], String(tokens), signed(own, 4), tool === 0 ? "0" : signed(tool, 4), percent(lost)]));
    this.chart.redraw();
  }

  paint(width) {
    const longest = Math.max(...this.found(this.state).map(({ tokens }) => tokens)) + OWN_TOKENS;
    const cell = Math.min(22, (width - 4) / longest);
    const high = scale(0, Math.abs(push(0, 1, { masked: true }).own), 0, UP);
    return this.found(this.state).map((answer, i) => this.row(answer, i, { cell, high, width })).flat(3);
  }

  row({ tokens, own, tool }, i, { cell, high, width }) {
    const line = LINES[i];
    const title = words(0, TITLES[i], `${NAMES[i]}, A = ${signed(ADVANTAGES[i], 0)}`, { class: "name" });
    let left = 0;
    return [title, parts(tokens).filter((part) => part.tokens > 0).map((part) => {
      const start = left;
      left += part.tokens * cell;
      const each = part.own ? own : tool;
      const middle = (start + left) / 2;
      return [
        words(Math.min(middle, width - 26), line + (i === 0 ? 18 : -10), part.name, { "text-anchor": "middle", class: part.own ? "" : "soft" }),
        element("line", { class: part.own ? "axis" : "mark", x1: pixel(start + 2), x2: pixel(left - 2), y1: line, y2: line }),
        element("g", part.own ? {} : { opacity: 0.5 }, Array.from({ length: part.tokens }, (_, t) => {
          const at = start + (t + 0.5) * cell;
          const [wide, end] = [Math.max(2, 0.66 * cell), line - Math.sign(each) * high(Math.abs(each))];
          return each === 0 ? element("circle", { class: "dot", cx: pixel(at), cy: line, r: Math.min(3, wide / 2) })
            : mark({ middle: at, wide, line, end });
        })),
      ];
    })];
  }

  lesson({ mask, right, wrong }) {
    const [, bad] = this.found({ mask, right, wrong });
    if (mask === "yes") return `Each answer learns only from its own ${OWN_TOKENS} tokens, and the tool's output changes nothing.`;
    if (wrong === 0) return "The wrong answer used no tool: its whole push lands on tokens that the model chose.";
    return `${percent(bad.lost)} of the wrong answer's push lands on tokens that the model never chose, `
      + `and each of its own tokens gets ${signed(bad.own, 4)} instead of ${signed(push(wrong, -1, { masked: true }).own, 4)}.`;
  }
}

customElements.define("grpo-tool-tokens", ToolTokens);
