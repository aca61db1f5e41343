// Tables of numbers: the text form of every chart.
import { element } from "./element.mjs";

/**
 * A table with a caption: { node, fill(rows) }. Each row is a list of cells, text or node; the first is the row's
 * header. It scrolls sideways by keyboard when it is wide.
 */
export function table({ caption, columns }) {
  const body = element("tbody");
  const head = element("tr", {}, columns.map((name) => element("th", { scope: "col" }, name)));
  const node = element("div", { class: "grpo-scroll", tabindex: 0, role: "region", "aria-label": caption },
    element("table", { class: "grpo-table" }, element("caption", {}, caption), element("thead", {}, head), body));
  const fill = (rows) => body.replaceChildren(...rows.map(([header, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, header), cells.map((cell) => element("td", {}, cell)))));
  return { node, fill };
}
