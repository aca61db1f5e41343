// A menu behind three dots: what is needed once in a while. Escape and a press elsewhere close it.
import { element } from "./element.mjs";

const DOTS = "M1.300 8a1.700 1.700 0 1 0 3.400 0 1.700 1.700 0 1 0-3.400 0M6.300 8a1.700 1.700 0 1 0 3.400 0 1.700 1.700 0 1 0-3.400 0M11.300 8a1.700 1.700 0 1 0 3.400 0 1.700 1.700 0 1 0-3.400 0";

/** The menu as a node; `actions` are [name, what it does]. */
export function menu(actions) {
  const choose = (action) => () => {
    node.open = false;
    summary.focus();
    action();
  };
  const dots = element("svg", { viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" }, element("path", { d: DOTS }));
  const summary = element("summary", { class: "grpo-round", "aria-label": "More", title: "More" }, dots);
  const node = element("details", { class: "grpo-menu" }, summary,
    element("div", {}, actions.map(([name, action]) => element("button", { type: "button", onclick: choose(action) }, name))));
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    event.stopPropagation(); // what the menu is in stays open
    node.open = false;
    summary.focus();
  });
  const away = ({ target }) => node.contains(target) || (node.open = false);
  node.addEventListener("toggle", () => document[node.open ? "addEventListener" : "removeEventListener"]("pointerdown", away));
  node.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && away({ target: relatedTarget }));
  return node;
}
