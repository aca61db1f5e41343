// Tables of numbers: the text form of every chart.
import { element, withIndices } from "./element.mjs";

/**
 * A table with a caption: { node, fill(rows) }. Each row is a list of cells, text or node; the first is the row's
 * header. A wide one scrolls.
 */
export function table({ caption, columns }) {
  const body = element("tbody");
  const head = element("tr", {}, columns.map((name) => element("th", { scope: "col" }, name)));
  const whole = element("table", { class: "grpo-table" }, element("caption", {}, caption), element("thead", {}, head), body);
  const node = element("div", { class: "grpo-scroll" }, whole);
  const resized = new ResizeObserver(() => makeScrollable(node, caption));
  resized.observe(node);
  resized.observe(whole);
  const fill = (rows) => {
    while (body.rows.length > rows.length) body.lastChild.remove();
    rows.forEach((cells, i) => {
      const row = body.rows[i] ?? body.appendChild(emptyRow(cells.length));
      cells.forEach((cell, j) => put(row.cells[j], cell));
    });
  };
  return { node, fill };
}

/** Only what scrolls is a stop of the Tab key. */
export function makeScrollable(node, name) {
  const scrolls = node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight;
  for (const [attribute, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": name })) {
    if (scrolls) node.setAttribute(attribute, value);
    else node.removeAttribute(attribute);
  }
}

const emptyRow = (length) =>
  element("tr", {}, element("th", { scope: "row" }), Array.from({ length: length - 1 }, () => element("td")));

/** Writes only what changed: long tables are redrawn at every step. */
function put(place, cell) {
  if (typeof cell !== "string") place.replaceChildren(cell);
  else if (place.textContent !== cell) place.replaceChildren(...withIndices(cell));
}
