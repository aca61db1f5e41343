// <grpo-as-shipped>: the gradients of two libraries on one batch, token by token, and which libraries compute a formula
// exactly (catalogue B17).
import { REWARDS, RUNS } from "../../runs/as-shipped.mjs";
import { compare, matching, pushes } from "../core/as_shipped.mjs";
import { chart, legendItem, pixel, scale, words } from "../ui/chart.mjs";
import { choice, toggle } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, recorded } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { mark } from "../ui/mark.mjs";
import { table } from "../ui/table.mjs";

const [TALL, HEAD, HALF, GAP] = [198, 28, 70, 12]; // a strip, its names, half of its marks; between two completions
const CLOSE = 0.01; // of the tallest mark: less is called alike
const NAMES = REWARDS.map((_, i) => `${"AB"[Math.floor(i / 4)]}${(i % 4) + 1}`);
const PARTS = ["Divisor", "Average", "KL", "Clip"];
const ALSO = [[], ["by constant"], ["k2", "k3 times the ratio"], ["0.8 to 1.28"]]; // what no library ships
const options = (names) => names.map((name) => [name, name]);
const run = (name) => RUNS.find((each) => each.name === name);

class AsShipped extends Explorable {
  static source = recorded("each library's own functions on one batch.");
  static controls = {
    a: { control: choice, label: "Bars", options: options(RUNS.map(({ name }) => name)), initial: RUNS[0].name },
    b: { control: choice, label: "Lines", options: options(RUNS.map(({ name }) => name)), initial: "TRL" },
    same: { control: toggle, label: "Scale both to one length", initial: false },
    ...Object.fromEntries(PARTS.map((part, i) => [part.toLowerCase(), {
      control: choice, label: `Find by ${part === "KL" ? part : part.toLowerCase()}`, initial: "any",
      options: options(["any", ...new Set([...RUNS.map(({ facets }) => facets[i]), ...ALSO[i]])]),
    }])),
  };

  build() {
    this.chart = chart(2 * TALL, (width) => this.paint(width));
    this.names = ["bar up", "line-first"].map((style) => [style, element("span")]);
    this.found = element("p", { class: "grpo-readout" });
    this.table = table({ caption: "Push of each token", columns: ["Token", "Bars", "Lines", "Differ"] });
    const legend = element("div", { class: "grpo-legend" }, 
      this.names.map(([style, name]) => legendItem(style, name)), legendItem("band", "they differ"), legendItem("bar flat", "no push"));
    return [legend, this.chart.node, this.found, this.table.node];
  }

  draw({ a, b, same, ...wanted }) {
    const [first, second] = [run(a), run(b)];
    this.seen = compare(first, second);
    const factor = same ? 1 / this.seen.length : 1;
    this.strips = [0, 1].map((prompt) => strip(prompt, [pushes(first), pushes(second, factor)]));
    this.names.forEach(([, name], i) => (name.textContent = [a, b][i]));
    this.table.fill(this.strips.flatMap(({ tokens }) => tokens.flatMap((row) => row.map(({ place, both, differ }) =>
      [place, ...both.map((push) => signed(push, 4)), differ ? "yes" : "no"]))));
    const asked = PARTS.map((part) => wanted[part.toLowerCase()]);
    const names = matching(RUNS, asked).join(" \u00b7 ");
    const named = PARTS.map((part, i) => `${part} ${asked[i]}`).filter((_, i) => asked[i] !== "any");
    this.found.textContent = named.length
      ? `${named.join("; ")}: ${names || "no library here. See the switches below."}`
      : "Find a library: choose a divisor, an average, a KL or a clip.";
    this.chart.redraw();
  }

  paint(width) {
    return this.strips.flatMap(({ tokens, most }, prompt) => {
      const top = prompt * TALL;
      const line = top + HEAD + HALF + 4;
      const cell = (width - 3 * GAP) / tokens.flat().length;
      const high = scale(-(most || 1), most || 1, -HALF, HALF);
      let left = 0;
      const rows = tokens.map((row, i) => {
        const start = left;
        const end = start + row.length * cell;
        left = end + GAP;
        const reward = end - start > 90 ? `, reward ${REWARDS[4 * prompt + i]}` : "";
        return [
          words(start, top + 18, NAMES[4 * prompt + i] + reward, { class: "name" }),
          row.map((token, t) => drawn(token, { left: start + t * cell, cell, line, high })).flat(),
          element("line", { class: "axis", x1: pixel(start), x2: pixel(end), y1: line, y2: line }),
        ].flat();
      });
      return [...rows.flat(), words(0, top + TALL - 6, `${"AB"[prompt]}: ${most ? `the tallest is ${fixed(most, 4)}` : "nothing is pushed"}`, { class: "soft" })];
    });
  }

  lesson({ a, b }) {
    const { length, cosine } = this.seen;
    const all = this.strips.flatMap(({ tokens }) => tokens.flat());
    const count = all.filter(({ differ }) => differ).length;
    const far = all.reduce((most, token) => (gap(token) > gap(most) ? token : most));
    if (!count) return `${a} and ${b} push every token of this batch equally.`;
    return `Look at ${far.place} first: ${a} pushes it ${signed(far.both[0], 3)}, ${b} ${signed(far.both[1], 3)}. They differ at ${count} of `
      + `${all.length} tokens; ${b}'s gradient is ${fixed(length)} times as long, and the cosine is ${fixed(cosine, 3)}.`;
  }
}

const gap = ({ both: [one, other] }) => Math.abs(one - other);

/** The tokens of four completions with their pushes by both libraries, and the largest of these. */
function strip(prompt, pushes) {
  const rows = [0, 1, 2, 3].map((i) => 4 * prompt + i);
  const most = Math.max(...pushes.flatMap((push) => rows.flatMap((i) => push[i].map(Math.abs))));
  const tokens = rows.map((i) => pushes[0][i].map((_, t) => {
    const both = pushes.map((push) => push[i][t]);
    return { place: `${NAMES[i]}, token ${t + 1}`, both, differ: Math.abs(both[0] - both[1]) > CLOSE * most };
  }));
  return { tokens, most };
}

/** A token: the bar of the first library, the line of the second, on grey where they differ. */
function drawn({ both, differ }, { left, cell, line, high }) {
  const [end, y] = both.map((push) => pixel(line - high(push)));
  return [
    ...(differ ? [element("rect", { class: "band", x: pixel(left), width: pixel(cell), y: line - HALF - 4, height: 2 * HALF + 8 })] : []),
    mark({ middle: left + cell / 2, wide: Math.min(14, 0.6 * cell), line, end }),
    element("line", { class: "line-first", x1: pixel(left + 1), x2: pixel(left + cell - 1), y1: y, y2: y }),
  ];
}

customElements.define("grpo-as-shipped", AsShipped);
