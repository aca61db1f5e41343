// Base of the explorables, the figures of the Learn chapters that a reader can change. A subclass lists its controls and
// examples, builds its charts and tables once, draws them for a state, and says in a sentence what the state teaches. All
// the rest is here: controls, address, Reset, and the line that says where the numbers come from; frame.mjs arranges them.
import { button, nearest } from "./controls.mjs";
import { element, withIndices } from "./element.mjs";
import { frame } from "./frame.mjs";
import { linkWords } from "./named.mjs";
import { Widget } from "./widget.mjs";

export const COMPUTED = "Computed here, in your browser.";
export const SCHEMATIC = "Schematic: it shows how the parts fit together, without measurements.";
export const recorded = (what) => `Recorded run: ${what}`;

/** Numbers from low to high, without the rounding errors of adding up: range(0, 1, 0.1). */
export const range = (low, high, step) =>
  Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => Number((low + i * step).toFixed(10)));

export class Explorable extends Widget {
  /** Where the numbers come from: COMPUTED, recorded("..."), SCHEMATIC, "Reported by ...", or these together. */
  static source = COMPUTED;
  /** Name in state and address: { control, initial, and what that control of ui/controls.mjs takes }. */
  static controls = {};
  /** Text of a button: changes of the state. */
  static examples = {};
  /** Names of the controls whose sliders fold on a phone, where the picture has handles for them. */
  static handles = [];
  /** false: what a slider shows is drawn when it rests, because drawing takes long. */
  static live = true;

  setup() {
    const { controls, examples, source, handles } = this.constructor;
    this.state = {};
    this.first = {}; // what Reset brings back
    this.controls = {};
    for (const [name, spec] of Object.entries(controls)) {
      this.first[name] = parse(spec, spec.initial, this.getAttribute(name));
      this.state[name] = parse(spec, this.first[name], this.read(name));
      this.controls[name] = this.control(name, spec);
    }
    this.status = element("p", { role: "status", class: "grpo-status" });
    const nodes = (shown) => Object.keys(controls).filter(shown).map((name) => this.controls[name].node);
    frame(this, {
      examples: Object.entries(examples).map(([text, changes]) => button(text, () => this.set(changes))),
      controls: [...foldedOnPhones(nodes((name) => handles.includes(name))), ...nodes((name) => !handles.includes(name))],
      built: this.build(this.state),
      source,
    });
    this.draw(this.state);
    this.say();
    linkWords(this);
    this.guess?.begin();
  }

  control(name, { control, initial, ...spec }) {
    const { live } = this.constructor;
    const change = (value) => {
      this.state[name] = value;
      this.follow(name);
      if (!spec.values) this.show(); // only sliders and steppers commit on their own
      else if (live) this.draw(this.state);
    };
    const commit = () => (live ? this.commit() : this.show());
    return control({ ...spec, value: this.state[name], change, commit });
  }

  /** Lets a hand on a chart move a slider: { to(value), end() }. */
  hand(name) {
    const { values } = this.constructor.controls[name];
    const to = (value) => {
      this.state[name] = values[nearest(values, value)];
      this.controls[name].set(this.state[name]);
      this.draw(this.state);
    };
    return { to, end: () => this.commit() };
  }

  /** The reader's guesses about what is shown, to be drawn beside the truth: { value, name, text }. */
  get guesses() {
    return this.guess?.made() ?? [];
  }

  /** What else changes with a control. */
  follow() {}

  /** Takes over changes of the state, also in the controls. */
  set(changes) {
    Object.assign(this.state, changes);
    for (const name in this.controls) this.controls[name].set(this.state[name]);
    this.show();
  }

  show() {
    this.draw(this.state);
    this.commit();
  }

  /** Keeps the state in the address and says what it teaches. */
  commit() {
    const text = (value) => (value === true ? "yes" : value === false ? "no" : String(value));
    const values = Object.entries(this.state).map(([name, value]) => [name, value === this.first[name] ? null : text(value)]);
    this.write({ ...Object.fromEntries(values), guess: null }); // a guess is about one state
    this.say();
  }

  say() {
    this.guess?.close();
    this.status.replaceChildren(...withIndices(this.lesson(this.state)));
  }

  /** Charts and tables, still empty. Beside a chart, tables stand behind a tab; what belongs to the picture is in a box. */
  build() {
    return [];
  }

  /** Fills charts and tables. */
  draw() {}

  /** A sentence or two: what the numbers show now. Read out when a control rests. */
  lesson() {
    return "";
  }
}

/** Controls behind a line to press where there is little room; a wide window shows them at once. */
function foldedOnPhones(nodes) {
  if (!nodes.length) return [];
  const wide = matchMedia("(min-width: 44.01em)");
  const fold = element("details", { class: "grpo-sliders", "aria-label": "Sliders", open: wide.matches }, element("summary", {}, "Sliders"), nodes);
  wide.addEventListener("change", () => (fold.open = wide.matches));
  return [fold];
}

/** A value as it stands in an address; the fallback for what the control does not offer. */
function parse({ values, options, low, high }, fallback, text) {
  if (text === null) return fallback;
  let found;
  if (values) found = values.find((value) => String(value) === text);
  else if (options) found = options.find(([key]) => key === text)?.[0];
  else if (low === undefined) found = { yes: true, no: false }[text];
  else if (/^\d+$/.test(text) && text >= low && text <= high) found = Number(text);
  return found === undefined ? fallback : found;
}
