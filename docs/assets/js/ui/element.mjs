// Builds HTML and SVG nodes. Text is set as text, never as markup.

const SVG = new Set(["svg", "g", "rect", "line", "path", "circle", "text", "tspan", "defs", "pattern"]);

/** element("button", { type: "button", onclick: run }, "Run"). Properties that are null or false are left out. */
export function element(tag, properties = {}, ...children) {
  const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().flatMap((child) => withIndices(child, SVG.has(tag))));
  return node;
}

const INDEX = /(?<=[πε])_(ref|old|θ|high|low|sampler)/;

/** The nodes of a text, in which "π_ref" is a π with an index. */
export function withIndices(text, drawn = false) {
  if (typeof text !== "string" || !INDEX.test(text)) return [text];
  return text.split(INDEX).map((part, i) => {
    if (i % 2) return drawn ? element("tspan", { "font-size": ".75em", dy: ".3em" }, part) : element("sub", {}, part);
    return drawn && i && part ? element("tspan", { dy: "-.225em" }, part) : part;
  });
}

let count = 0;

/** An id that no other node of this visit has. */
export const uniqueId = (prefix) => `${prefix}-${++count}`;
