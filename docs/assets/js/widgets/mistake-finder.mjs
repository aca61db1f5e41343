// <grpo-mistake-finder>: paste what your function returned for a worked example, and see whether that is right, or which
// known mistakes give it. The recorded numbers of all exercises are one script, loaded when the finder is first used.
import { hiddenIn, matches, numbersIn } from "../core/mistake_numbers.mjs";
import { button, choice } from "../ui/controls.mjs";
import { divergingBars } from "../ui/diverging_bars.mjs";
import { element, uniqueId } from "../ui/element.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { copy } from "../ui/files.mjs";
import { folded } from "../ui/folded.mjs";
import { fixed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";

const MOST = 4_000; // characters
const CALLS = 4; // shown of all that fit
const COUNTS = ["", "", "Two", "Three", "Four"];

class MistakeFinder extends Explorable {
  static source = "Computed in advance: the answers of the model answer, of each known mistake, and of sets of them, to worked examples of the checks.";
  static controls = {
    numbers: { control: field, label: "Paste what your function returned", initial: "" },
    function: { control: choice, label: "Function", initial: "" },
    call: { control: choice, label: "The call you ran", initial: "" },
  };

  setup() {
    this.links = this.fallback.flatMap((node) => [...(node.querySelectorAll?.("a") ?? [])]);
    super.setup();
    const side = this.querySelector(".grpo-side");
    this.querySelector(".grpo-body").prepend(side); // the field comes before what it finds
    for (const event of ["focusin", "pointerenter"]) this.addEventListener(event, () => this.load(), { once: true });
    if (Object.values(this.state).some(Boolean)) this.load();
  }

  /** The base class reads what a control offers; a text may be anything, and functions come with the recorded numbers. */
  control(name, spec) {
    this.state[name] = (this.read(name) ?? "").slice(0, MOST);
    if (name === "numbers") return super.control(name, spec);
    const made = super.control(name, { ...spec, options: [["", "any"]] });
    made.input.disabled = true;
    return made;
  }

  build() {
    this.list = element("ul", { class: "grpo-found" });
    this.picture = element("div");
    this.calls = element("div");
    this.copied = element("span", { role: "status", class: "grpo-told" });
    this.fold = folded("Calls to run: copy one, run it, and paste what it returns", this.calls, this.copied);
    this.fold.addEventListener("toggle", () => this.load());
    return [this.list, this.picture, this.fold];
  }

  /** Loads the recorded numbers by a script, which a page that is opened from a disk may do. */
  load() {
    this.loading ??= new Promise((done, failed) => {
      if (globalThis.knownMistakes) return done();
      document.head.append(element("script", { src: this.links.at(-1).href, onload: done, onerror: failed }));
    }).then(() => {
      this.entries = globalThis.knownMistakes;
      offer(this.controls.function.input, [["", "any function"], ...this.entries.map(({ name }) => [name, name])], this.state.function);
      this.offerCalls();
      this.draw(this.state);
      this.say();
    }, () => {
      this.loading = undefined;
      this.status.textContent = "The recorded numbers could not be loaded. Check your connection, then reload the page.";
    });
  }

  follow(name) {
    if (name !== "function") return;
    this.state.call = "";
    this.offerCalls();
  }

  set(changes) {
    super.set(changes);
    this.offerCalls();
  }

  /** The entry of the function that the reader chose. */
  get chosen() {
    return this.entries?.find(({ name }) => name === this.state.function);
  }

  offerCalls() {
    const calls = this.chosen?.calls ?? [];
    offer(this.controls.call.input, [["", "any call"], ...calls.map((_, i) => [String(i + 1), `call ${i + 1}`])], this.state.call);
    this.controls.call.input.disabled = !calls.length;
    this.showCalls();
  }

  showCalls() {
    if (!this.entries) return;
    const shown = this.chosen ? [this.chosen] : this.entries.filter(({ exercise }) => exercise === this.getAttribute("exercise"));
    this.calls.replaceChildren(...shown.flatMap((entry) => entry.calls.map((call) => this.callToRun(nameOf({ entry, call }), call.text))));
  }

  callToRun(name, text) {
    const copyIt = async () => {
      this.copied.textContent = (await copy(text)) ? `${name} copied.` : "Select the text of the call and copy it.";
    };
    return element("div", { class: "grpo-to-run" },
      element("div", {}, element("span", {}, name), button("Copy", copyIt, { "aria-label": `Copy ${name}` })),
      element("pre", {}, element("code", {}, text)));
  }

  draw({ numbers }) {
    this.typed = numbersIn(numbers);
    this.found = this.typed.length && this.entries ? this.search() : [];
    this.list.replaceChildren(...this.found.slice(0, CALLS).map((match) => this.item(match)));
    const [first] = this.found;
    this.picture.replaceChildren(...(first && !first.right && first.whole ? bars(first) : []));
  }

  /** In the chosen call, else in the function's others, else in all; those of this page's exercise first. */
  search() {
    const { chosen } = this;
    const call = chosen?.calls[this.state.call - 1];
    if (call) return matches(this.typed, [chosen], call);
    const own = chosen ? matches(this.typed, [chosen]) : [];
    if (own.length) return own;
    const here = ({ exercise }) => exercise === this.getAttribute("exercise");
    return matches(this.typed, [...this.entries.filter(here), ...this.entries.filter((entry) => !here(entry))]);
  }

  item(match) {
    const { entry, call, right, sets, more } = match;
    const says = right ? element("div", {}, "Right for this call.") : sets.map((set, i) =>
      element("div", {}, i ? "or " : "", set.flatMap((mistake, j) => [j ? ", and " : "", this.link(entry, mistake)])));
    return element("li", {}, element("div", { class: "grpo-which" }, nameOf(match)), says,
      more ? element("div", {}, `and ${more} more with the same numbers`) : "",
      folded("The call", element("pre", {}, element("code", {}, call.text))));
  }

  link(entry, mistake) {
    const [anchor, sentence] = entry.mistakes[mistake];
    const page = this.links.find(({ textContent }) => textContent === entry.exercise);
    const here = entry.exercise === this.getAttribute("exercise") ? "" : (page?.href ?? "");
    return element("a", { href: `${here}#${anchor}`, onclick: () => open(anchor) }, sentence);
  }

  lesson() {
    if (!this.typed.length) return "Call your function on a worked example, and paste the result here, as your program prints it.";
    if (!this.entries) return "Looking.";
    const [first] = this.found;
    if (!first) return this.nothing();
    const count = this.found.length;
    const { chosen } = this;
    const isOther = chosen && first.entry !== chosen;
    const choose = chosen && !isOther ? "Choose the call that you ran." : "Choose the function and the call that you ran.";
    if (isOther) return `No known answer of ${chosen.name} has these numbers, but ${count > 1 ? `${count} calls of other functions` : nameOf(first)} can give them. ${choose}`;
    if (!chosen && new Set(this.found.map(({ entry }) => entry)).size > 1) return `These numbers fit ${count} calls of several functions. ${choose}`;
    const others = count > 1 ? ` They also fit ${count - 1} other ${count > 2 ? "calls" : "call"}. ${choose}` : "";
    return (first.right ? this.right(first) : wrong(first)) + others;
  }

  nothing() {
    const where = this.state.call ? "this call" : "a call listed here";
    return `No known mistake, and no recorded set of them, gives these numbers for ${where}. Run a call from the list, and paste all digits.`;
  }

  right({ entry, call, whole, ...match }) {
    const name = nameOf({ entry, call, ...match });
    if (!whole) return `Right for this call: a row of ${name}.`;
    const hidden = hiddenIn(entry, call, this.typed);
    const first = hidden.find(({ teller }) => teller);
    if (!first) return `Right for this call: ${name}.`;
    const same = hidden.filter(({ teller }) => teller === first.teller).length;
    const about = same > 1 ? `${same} known mistakes also give these numbers, for example if ${entry.mistakes[first.mistake][1]}.`
      : `One known mistake also gives these numbers: ${entry.mistakes[first.mistake][1]}.`;
    return `Right for this call: ${name}. But this call cannot tell everything. ${about} To rule ${same > 1 ? "them" : "it"} out, try ${nameOf({ entry, call: first.teller })}.`;
  }
}

const nameOf = ({ entry, call }) => `${entry.name}, call ${entry.calls.indexOf(call) + 1}`;

function wrong({ entry, sets, more, teller }) {
  const said = sets[0].map((mistake) => entry.mistakes[mistake][1]).join(", and ");
  const size = sets[0].length;
  const many = sets.length + more;
  if (many === 1) return size === 1 ? `These numbers are what you get if ${said}.` : `${COUNTS[size]} differences together give these numbers: ${said}.`;
  const what = size === 1 ? "known mistakes" : `sets of ${COUNTS[size].toLowerCase()} known mistakes`;
  const next = teller ? ` To tell them apart, run ${nameOf({ entry, call: teller })}.` : " No call listed here tells them apart.";
  return `${many} ${what} give these numbers.${next}`;
}

/** Two charts with one scale, the right numbers and those of the mistake, and a table. Numbers that are not finite have no bars. */
function bars({ call: { right }, values }) {
  if (right.length !== values.length || ![...right, ...values].every(Number.isFinite)) return [];
  const limit = 1.4 * Math.max(1e-9, ...[...right, ...values].map(Math.abs));
  const charts = [[right, "the right numbers"], [values, "your numbers"]].map(([shown, name]) => {
    const { node, draw } = divergingBars({ height: 150, limit, ticks: [0], digits: 0, name });
    draw(shown);
    return node;
  });
  const { node, fill } = table({ caption: "The numbers of the worked example", columns: ["", "right", "yours"] });
  fill(right.map((value, i) => [String(i + 1), fixed(value, 4), fixed(values[i], 4)]));
  return [...charts, folded("The numbers", node)];
}

/** Unfolds the entry of a mistake that a link leads to. */
function open(anchor) {
  const entry = document.getElementById(anchor);
  if (entry instanceof HTMLDetailsElement) entry.open = true;
}

/** Fills a list to choose from. */
function offer(input, options, value) {
  input.replaceChildren(...options.map(([key, text]) => element("option", { value: key }, text)));
  input.disabled = false;
  input.value = options.some(([key]) => key === value) ? value : "";
}

/** A field for a text of several lines: { node, set(value) }. The answer follows while the reader types. */
function field({ label, value, change }) {
  const id = uniqueId("field");
  let waiting, last = value;
  const read = () => {
    clearTimeout(waiting);
    if (input.value === last) return; // drawn again, a link would go just when it is pressed
    last = input.value;
    change(last);
  };
  const input = element("textarea", { id, rows: 4, maxlength: MOST, spellcheck: "false", autocomplete: "off",
    placeholder: "tensor([[ 1.5000, -0.5000, -0.5000, -0.5000]])",
    onchange: read,
    oninput: () => {
      clearTimeout(waiting);
      waiting = setTimeout(read, 300);
    } }, value);
  return { node: element("div", { class: "grpo-control wide" }, element("label", { for: id }, label), input),
    set: (next) => void (input.value = last = next) };
}

customElements.define("grpo-mistake-finder", MistakeFinder);
