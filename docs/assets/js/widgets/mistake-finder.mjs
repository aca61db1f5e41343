// <grpo-mistake-finder>: paste what your function returned for a worked example, and see which known mistake gives it,
// beside the right answer. The recorded numbers stand in the page.
import { matches, numbersIn } from "../core/mistake_numbers.mjs";
import { divergingBars } from "../ui/diverging_bars.mjs";
import { element, uniqueId } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { folded } from "../ui/folded.mjs";
import { fixed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const MOST = 2_000; // characters
const LISTED = 6;

class MistakeFinder extends Explorable {
  static source = "Computed in advance: the answers of the model answer and of each known mistake to the worked examples of the checks.";
  static controls = { numbers: { control: field, label: "Paste what your function returned", initial: "" } };

  /** The base class reads what a control offers; a text may be anything. */
  control(name, spec) {
    this.state[name] = (this.read(name) ?? "").slice(0, MOST);
    return super.control(name, spec);
  }

  setup() {
    super.setup();
    this.querySelector(".grpo-body").prepend(this.querySelector(".grpo-side")); // the field comes before what it finds
  }

  build() {
    this.data = JSON.parse(this.fallback.find(({ hidden }) => hidden).textContent);
    this.list = element("ul", { class: "grpo-found" });
    this.picture = element("div");
    return [this.list, this.picture];
  }

  draw({ numbers }) {
    this.typed = numbersIn(numbers);
    const found = this.typed.length ? matches(this.typed, this.data) : [];
    this.right = found.find(({ anchor }) => !anchor);
    this.wrong = found.filter(({ anchor }, i) => anchor && found.findIndex((other) => other.anchor === anchor) === i);
    this.list.replaceChildren(...this.wrong.slice(0, LISTED).map(({ anchor, call }) => element("li", {},
      element("a", { href: `#${anchor}`, onclick: () => open(anchor) }, `${call.function}: ${this.data.mistakes[anchor]}`),
      element("code", { class: "grpo-call" }, call.call))));
    this.picture.replaceChildren(...this.wrong.slice(0, 1).flatMap(bars));
  }

  lesson() {
    if (!this.typed.length) return "Call your function on a worked example, and paste the numbers here, as torch prints them.";
    if (this.wrong.length) {
      const more = this.wrong.length > 1 ? ` ${this.wrong.length} known mistakes give these numbers.` : "";
      const [{ anchor }] = this.wrong;
      return `These numbers are what you get if ${this.data.mistakes[anchor]}.${more}`;
    }
    if (this.right) return `These are the right numbers of ${this.right.call.call}.`;
    return "No known mistake gives these numbers for a worked example. Paste all digits from a call that a check shows.";
  }
}

/** Two charts with one scale, the right numbers and those of the mistake, and a table. Numbers that are not finite have no bars. */
function bars({ call: { right }, values }) {
  if (![...right, ...values].every(Number.isFinite)) return [];
  const limit = 1.4 * Math.max(1e-9, ...[...right, ...values].map(Math.abs));
  const charts = [[right, "the right numbers"], [values, "with this mistake"]].map(([shown, name]) => {
    const { node, draw } = divergingBars({ height: 150, limit, ticks: [0], digits: 0, name });
    draw(shown);
    return node;
  });
  const { node, fill } = table({ caption: "The numbers of the worked example", columns: ["", "right", "with this mistake"] });
  fill(right.map((value, i) => [String(i + 1), fixed(value, 4), fixed(values[i], 4)]));
  return [...charts, folded("The numbers", node)];
}

/** Unfolds the entry of a mistake that a link leads to. */
function open(anchor) {
  const entry = document.getElementById(anchor);
  if (entry instanceof HTMLDetailsElement) entry.open = true;
}

/** A field for a text of several lines: { node, set(value) }. The answer follows while the reader types. */
function field({ label, value, change }) {
  const id = uniqueId("field");
  let waiting;
  const input = element("textarea", { id, rows: 4, maxlength: MOST, spellcheck: "false", autocomplete: "off",
    placeholder: "tensor([[ 1.5000, -0.5000, -0.5000, -0.5000]])",
    onchange: () => change(input.value),
    oninput: () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => change(input.value), 300);
    } }, value);
  return { node: element("div", { class: "grpo-control wide" }, element("label", { for: id }, label), input),
    set: (next) => void (input.value = next) };
}

customElements.define("grpo-mistake-finder", MistakeFinder);
