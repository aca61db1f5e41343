// Typesets the formulas of a page with the KaTeX that the site serves itself. Only pages with formulas load it.
import "../../vendor/katex/katex.min.js"; // a classic script: it sets window.katex

/** Replaces the TeX source in every `.arithmatex` element by the formula, once. */
export function typeset(root) {
  for (const node of root.querySelectorAll(".arithmatex:not([data-done])")) {
    const source = node.textContent.trim(); // \( inline \) or \[ display \]
    const displayMode = source.startsWith("\\[");
    node.dataset.done = "";
    window.katex.render(source.slice(2, -2), node, { displayMode, throwOnError: false });
  }
}
