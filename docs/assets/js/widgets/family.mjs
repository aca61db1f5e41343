// <grpo-family>: methods and models around GRPO, and which builds on which (catalogue W24).
//
// What is known of a member stands once, in the table of the page that readers without scripts get; the card reads it
// from there: name, year, what it builds on, what it did, source, what we checked.
import { childrenOf, lineTo } from "../core/family.mjs";
import { choice } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";

const NAMES = ["REINFORCE", "TRPO", "PPO", "InstructGPT", "DPO", "RLOO", "GRPO", "DeepSeek-R1-Zero", "DeepSeek-R1",
  "Dr. GRPO", "DAPO", "GSPO", "Qwen3"];

class Family extends Explorable {
  static source = "Schematic: one line of descent for each member. The card says in which source we checked what it did.";
  static controls = {
    member: { control: choice, label: "Method or model", options: NAMES.map((name) => [name, name]), initial: "GRPO" },
  };

  build() {
    const rows = this.fallback.flatMap((node) => [...(node.querySelectorAll?.("tbody tr") ?? [])]);
    this.cells = Object.fromEntries(rows.map((row) => [row.cells[0].textContent, [...row.cells]]));
    const parent = (name) => (name === NAMES[0] ? null : this.text(name, 2));
    this.parents = Object.fromEntries(NAMES.map((name) => [name, parent(name)]));
    this.tree = element("ul", { class: "grpo-family-tree", "aria-label": "Family tree" });
    this.card = element("div", { class: "grpo-card" });
    return [this.tree, this.card];
  }

  text(name, column) {
    return this.cells[name][column].textContent;
  }

  draw({ member }) {
    const copy = (column) => element("p", {}, [...this.cells[member][column].cloneNode(true).childNodes]);
    this.tree.replaceChildren(this.branch(NAMES[0], member));
    this.card.replaceChildren(element("strong", {}, `${member} (${this.text(member, 1)})`), copy(3), copy(4), copy(5));
  }

  branch(name, member) {
    const shown = `${name}, ${this.text(name, 1)}`;
    const children = childrenOf(name, this.parents).map((child) => this.branch(child, member));
    return element("li", {}, name === member ? element("strong", {}, `▶ ${shown}`) : shown,
      children.length ? element("ul", {}, children) : "");
  }

  lesson({ member }) {
    const built = childrenOf(member, this.parents);
    const after = built.length ? `Built on it: ${built.join(", ")}.` : "Nothing in this tree builds on it.";
    return `${lineTo(member, this.parents).join(" → ")}. ${after}`;
  }
}

customElements.define("grpo-family", Family);
