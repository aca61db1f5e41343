// Builds HTML and SVG nodes. Text is set as text, never as markup.

const SVG = new Set(["svg", "g", "rect", "line", "path", "circle", "text", "defs", "pattern"]);

/** element("button", { type: "button", onclick: run }, "Run"). Properties that are null or false are left out. */
export function element(tag, properties = {}, ...children) {
  const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat());
  return node;
}

let count = 0;

/** An id that no other node of this visit has. */
export const uniqueId = (prefix) => `${prefix}-${++count}`;
