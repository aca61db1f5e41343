// Typesets the formulas of a page with the KaTeX that the site serves itself. Only pages with formulas load it.
import "../../vendor/katex/katex.min.js"; // a classic script: it sets window.katex

const LONG = 10; // milliseconds after which the browser gets a turn: a page with many formulas stays responsive

/** Replaces the TeX source in every `.arithmatex` element by the formula, once. */
export async function typeset(root) {
  let start = performance.now();
  for (const node of root.querySelectorAll(".arithmatex:not([data-done])")) {
    if ("done" in node.dataset) continue; // by another call, while this one waited
    const source = node.textContent.trim(); // \( inline \) or \[ display \]
    const displayMode = source.startsWith("\\[");
    node.dataset.done = "";
    window.katex.render(source.slice(2, -2), node, { displayMode, throwOnError: false });
    if (performance.now() - start < LONG) continue;
    await new Promise((resume) => setTimeout(resume));
    start = performance.now();
  }
}
