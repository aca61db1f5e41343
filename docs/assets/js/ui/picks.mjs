// Controls that only the figures of the chapters use: buttons of which one is pressed, and Back and Next.
import { button, nearest } from "./controls.mjs";
import { element, uniqueId } from "./element.mjs";

/** Buttons of which one is pressed: { node, set(value) }; options are [value, text]. The arrow keys move between them. */
export function picks({ label, options, value, change }) {
  const name = uniqueId("picks");
  const inputs = options.map(([key]) => element("input", { type: "radio", name, value: key, onchange: () => change(key) }));
  const set = (next) => inputs.forEach((input) => (input.checked = input.value === String(next)));
  set(value);
  const labels = options.map(([, text], i) => element("label", {}, inputs[i], element("span", {}, text)));
  return { node: element("fieldset", { class: "grpo-picks" }, element("legend", {}, label), labels), set };
}

/** Back and Next through a list of values: { node, set(value) }, with "Step 2 / 5" between the buttons. */
export function stepper({ label, values, value, change, commit }) {
  let place = 0;
  const text = element("span", { class: "grpo-value" });
  const set = (next) => {
    place = nearest(values, next);
    text.textContent = `${label} ${place + 1} / ${values.length}`;
    previous.ariaDisabled = String(place === 0); // not `disabled`, which would take the focus away
    following.ariaDisabled = String(place === values.length - 1);
  };
  const move = (by) => {
    const to = values[place + by];
    if (to === undefined) return;
    set(to);
    change(to);
    commit();
  };
  const previous = button("Back", () => move(-1));
  const following = button("Next", () => move(1));
  set(value);
  const node = element("div", { class: "grpo-bar", role: "group", "aria-label": label }, previous, text, following);
  const draw = (to) => node.isConnected && change(to); // paper has no Next, so it gets all that the last step shows
  addEventListener("beforeprint", () => draw(values.at(-1)));
  addEventListener("afterprint", () => draw(values[place]));
  return { node, set };
}
