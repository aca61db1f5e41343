// <grpo-run-names>: a field that narrows the table of names to those that hold what is typed.
import { element, uniqueId } from "../ui/element.mjs";
import { Widget } from "../ui/widget.mjs";

class RunNames extends Widget {
  setup() {
    this.append(...this.fallback);
    const rows = [...this.querySelectorAll("tbody tr")];
    const id = uniqueId("name");
    const told = element("p", { class: "grpo-status", role: "status" });
    const narrow = () => {
      const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !wanted.every((word) => row.textContent.toLowerCase().includes(word));
      const left = rows.filter(({ hidden }) => !hidden).length;
      told.textContent = !wanted.length ? "" : left ? `${left} of ${rows.length} entries` : "No entry has this name. Try a part of it.";
    };
    const field = element("input", { type: "search", id, autocomplete: "off", placeholder: "reward_std, clip, kl …", oninput: narrow });
    this.prepend(element("div", { class: "grpo-run-search" }, element("label", { for: id }, "Type a name, or a library"), field), told);
  }
}

customElements.define("grpo-run-names", RunNames);
