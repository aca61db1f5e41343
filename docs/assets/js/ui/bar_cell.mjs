// A bar in a cell of a table, beside its number: a chart and its numbers in one.
import { element } from "./element.mjs";

/** A cell with a bar beside its text; share is the bar's length from 0 to 1, style one of policy, old, reference, reward, up, down, second. */
export function barCell(text, share, style = "policy") {
  const bar = element("span", { class: `grpo-amount ${style}` });
  bar.style.setProperty("--share", `${100 * Math.min(1, Math.max(0, share))}%`);
  return element("span", { class: "grpo-bar-cell" }, element("span", { class: "grpo-rail", "aria-hidden": "true" }, bar), text);
}
