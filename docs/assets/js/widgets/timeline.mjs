// <grpo-timeline>: methods and models from REINFORCE to today, what each one changed, and who builds on whom (catalogue
// W11, B07 and W24).
//
// What is known of an entry stands once, in the table of the page that readers without scripts get; it is read from there.
import { changersOf, childrenOf, entriesOf, inherited, lineTo } from "../core/timeline.mjs";
import { slider } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable, SCHEMATIC } from "../ui/explorable.mjs";
import { picks } from "../ui/picks.mjs";
import { table } from "../ui/table.mjs";
import { timelinePicture } from "./timeline/picture.mjs";

const NAMES = ["REINFORCE", "+ baseline", "TRPO", "A3C", "PPO", "Ziegler et al.", "RLOO", "InstructGPT", "DPO", "GRPO",
  "Kimi k1.5", "R1-Zero", "R1", "DAPO", "Dr. GRPO", "Qwen3", "CISPO", "GSPO", "Kimi K2", "DeepSeek-V3.2",
  "DPPO", "DeepSeek-V4"];
const PARTS = { // name, and what an entry did to it
  baseline: ["baseline", "changed the baseline or its scale"],
  sampling: ["sampling", "changed what is sampled"],
  KL: ["KL", "changed the KL"],
  clip: ["clip", "changed the clip"],
  level: ["level", "changed what a ratio belongs to"],
  averaging: ["averaging", "changed how tokens are averaged"],
  model: ["models", "came with a model"],
};
const LANES = Object.entries(PARTS).map(([part, [name]]) => [part, name]);

class Timeline extends Explorable {
  static source = `${SCHEMATIC} The links between methods are our reading.`;
  static controls = {
    part: { control: picks, label: "What changed", options: LANES, initial: "baseline" },
    method: {
      control: slider, label: "Method or model", values: NAMES, initial: "GRPO", show: (name) => name,
    },
  };

  build() {
    const rows = this.fallback.flatMap((node) => [...(node.querySelectorAll?.("tbody tr") ?? [])]);
    this.cells = Object.fromEntries(rows.map((row) => [row.cells[0].textContent, [...row.cells]]));
    this.entries = entriesOf(rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const press = (method) => this.set({ method });
    this.map = timelinePicture(this.entries, { press, now: () => this.state, lanes: Object.fromEntries(LANES) });
    this.card = element("div", { class: "grpo-card" });
    this.table = table({ caption: "What each one changed", columns: ["name", "year", "builds on", "changed"] });
    this.table.fill(Object.values(this.cells).map((row) => row.slice(0, 4).map((cell) => cell.textContent)));
    return [this.map.node, this.card, this.table.node];
  }

  draw({ method }) {
    const [, year, , , ...told] = this.cells[method];
    const [did, source] = told.map((cell) => [...cell.cloneNode(true).childNodes]);
    const built = childrenOf(method, this.entries);
    this.card.replaceChildren(
      element("p", {}, element("strong", {}, `${method}, ${year.textContent}. `), did, " Source: ", source, "."),
      element("p", {}, `${lineTo(method, this.entries).join(" \u2192 ")}. `,
        built.length ? `Built on it: ${built.join(", ")}.` : "Nothing here builds on it."));
    this.map.redraw();
  }

  lesson({ part, method }) {
    const { year, changes } = this.entries[method];
    const old = part === "model" ? null : inherited(method, part, this.entries);
    const said = part in changes ? [old, changes[part]].filter(Boolean).join(" \u2192 ") : old ? `still ${old}` : "none of its own";
    const [name, did] = PARTS[part];
    return `${method}, ${year}, ${name}: ${said}. ${changersOf(part, this.entries).length} of ${NAMES.length} ${did}.`;
  }
}

customElements.define("grpo-timeline", Timeline);
