// What most readers do not need to see, such as the numbers of a chart as a table.
import { element } from "./element.mjs";

/** Behind a line to press: the numbers of a chart. */
export const folded = (summary, ...nodes) =>
  element("details", { class: "grpo-details", "aria-label": summary }, element("summary", {}, summary), ...nodes);
