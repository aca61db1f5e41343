// <grpo-ancestors>: where the baseline of GRPO comes from, method by method (catalogue W11 and B07).
import { lineage, METHODS } from "../core/ancestors.mjs";
import { chart, pixel, words } from "../ui/chart.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, SCHEMATIC } from "../ui/explorable.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";

const ROW = 52; // pixels between two generations
const OPTIONS = Object.entries(METHODS).map(([key, { name }]) => [key, name]);

class Ancestors extends Explorable {
  static source = `${SCHEMATIC} The sources stand on each card.`;
  static controls = { method: { control: picks, label: "Method", options: OPTIONS, initial: "grpo" } };

  build() {
    this.map = chart(6 * ROW, (width) => this.paint(width));
    this.card = element("div", { class: "grpo-card" });
    this.table = table({ caption: "The way there", columns: ["method", "year", "baseline", "critic", "clip"] });
    return [this.map.node, this.card, this.table.node];
  }

  paint(width) {
    const path = lineage(this.state.method);
    const x = (key) => pixel(width * (0.18 + 0.32 * METHODS[key].x));
    const y = (key) => ROW * (METHODS[key].y + 0.5);
    const line = (from, to, style) =>
      element("path", { class: style, d: `M${x(from)} ${y(from)}L${x(to)} ${y(to)}` });
    const lines = Object.entries(METHODS).flatMap(([key, { from, kin }]) => [
      ...from.map((parent) => line(parent, key, path.includes(key) && path.includes(parent) ? "line-first" : "link")),
      ...(kin ? [line(kin, key, "line-reference")] : []),
    ]);
    const boxes = OPTIONS.map(([key, name]) =>
      element("g", { class: path.includes(key) ? "node on" : "node", onclick: () => this.set({ method: key }) },
        element("rect", { x: x(key) - 40, y: y(key) - 14, width: 80, height: 28, rx: 10 }),
        words(x(key), y(key) + 4, name, { "text-anchor": "middle", class: key === this.state.method && "name" })));
    return [...lines, ...boxes];
  }

  draw({ method }) {
    const { name, year, formula, change, source, link, checked } = METHODS[method];
    const doubt = checked ? "." : " (formula not checked in the primary source).";
    this.card.replaceChildren(
      element("p", {}, element("strong", {}, `${name}, ${year}. `), change),
      element("p", {}, element("code", {}, formula)),
      element("p", {}, "Source: ", element("a", { href: link }, source), doubt));
    this.table.fill(lineage(method).map((key) => {
      const step = METHODS[key];
      return [step.name, String(step.year), step.baseline, step.critic, step.clip];
    }));
    this.map.redraw();
  }

  lesson({ method }) {
    const { name, baseline, critic, clip } = METHODS[method];
    const steps = lineage(method).length - 1;
    const way = steps ? `${steps} step${steps > 1 ? "s" : ""} from REINFORCE` : "where the line begins";
    return `${name}, ${way}. Baseline: ${baseline}. Critic: ${critic}. Clip: ${clip}.`;
  }
}

customElements.define("grpo-ancestors", Ancestors);
