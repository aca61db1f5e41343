// Form controls with a label, a visible value and a spoken one. All are native inputs.
import { element, uniqueId } from "./element.mjs";

export const button = (text, onclick, properties = {}) =>
  element("button", { type: "button", class: "grpo-button", onclick, ...properties }, text);

/** A box around controls that belong together. */
export const group = (legend, ...children) =>
  element("fieldset", { class: "grpo-group" }, element("legend", {}, legend), ...children);

/**
 * A slider over a list of values: { node, input, set(value), offer(values, value) }; the last replaces the list.
 * `change(value)` is called while it moves, `commit()` when it stops; `show(value)` is what people read.
 */
export function slider({ label, values, value, show = String, change, commit = () => {} }) {
  const id = uniqueId("slider");
  const output = element("output", { for: id, class: "grpo-value", "aria-live": "off" });
  const input = element("input", { type: "range", id, min: 0, max: values.length - 1, step: 1 });
  const display = () => {
    const text = show(values[input.valueAsNumber]);
    output.textContent = text;
    input.setAttribute("aria-valuetext", text);
    input.style.setProperty("--at", `${(100 * input.valueAsNumber) / (values.length - 1 || 1)}%`);
  };
  const set = (next) => {
    input.value = nearest(values, next);
    display();
  };
  const offer = (others, next) => {
    values = others;
    input.max = values.length - 1;
    set(next);
  };
  input.addEventListener("input", () => {
    display();
    change(values[input.valueAsNumber]);
  });
  input.addEventListener("change", () => commit());
  set(value);
  const node = element("div", { class: "grpo-control" }, element("label", { for: id }, label), output, input);
  return { node, input, set, offer };
}

/** A list to choose from: { node, set(value) }; options are [value, text]. */
export function choice({ label, options, value, change }) {
  const id = uniqueId("choice");
  const input = element("select", { id }, options.map(([key, text]) => element("option", { value: key }, text)));
  input.value = value;
  input.addEventListener("change", () => change(input.value));
  const node = element("div", { class: "grpo-control" }, element("label", { for: id }, label), input);
  return { node, input, set: (next) => void (input.value = next) };
}

/** A box to tick: { node, set(on) }. */
export function toggle({ label, value, change }) {
  const input = element("input", { type: "checkbox", onchange: () => change(input.checked) });
  input.checked = value;
  return { node: element("label", { class: "grpo-option" }, input, label), input, set: (on) => void (input.checked = on) };
}

/** A field for a whole number, kept within low and high: { node, input, set(value) }. */
export function wholeNumber({ label, value, low, high, change }) {
  const id = uniqueId("number");
  const input = element("input", { type: "number", id, min: low, max: high, step: 1, inputmode: "numeric" });
  let last = value;
  input.value = value;
  input.addEventListener("change", () => {
    const entered = Math.round(input.valueAsNumber);
    if (!Number.isNaN(entered)) last = Math.min(high, Math.max(low, entered));
    input.value = last; // an empty field gets its last number back
    change(last);
  });
  const set = (next) => {
    last = next;
    input.value = next;
  };
  return { node: element("div", { class: "grpo-control" }, element("label", { for: id }, label), input), input, set };
}

/** Place in a list of numbers (null: beyond all numbers) that is nearest to a value. */
export function nearest(values, value) {
  if (value === null || typeof value !== "number") return Math.max(0, values.indexOf(value));
  const distance = (x) => (x === null ? Infinity : Math.abs(x - value));
  return values.reduce((best, x, i) => (distance(x) < distance(values[best]) ? i : best), 0);
}
