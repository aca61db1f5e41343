// Names and keyboard access that the theme's generated markup lacks (axe-core: aria-dialog-name, landmark-unique,
// empty-table-header, scrollable-region-focusable). No template override: it must work under Zensical.

const SCROLLERS = { Code: "pre > code", Table: ".md-typeset__scrollwrap", Formula: "div.arithmatex" };

/** Mends what is on the page now; harmless to repeat. */
export function repair(root) {
  root.querySelectorAll("[data-md-component=search][role=dialog]").forEach((node) => {
    node.setAttribute("aria-label", "Search");
  });
  root.querySelectorAll(".md-code__nav").forEach((node, i) => node.setAttribute("aria-label", `Code block ${i + 1}`));
  root.querySelectorAll("th:empty").forEach((node) => node.replaceWith(document.createElement("td"))); // a corner
  // Whether a block scrolls depends on its width: a phone turns, a closed block opens. And a formula has none before it
  // comes near. On touch screens the theme takes the tabindex of code away; this observer is younger than the theme's
  // and has the last word.
  const scrollers = Object.values(SCROLLERS).join();
  const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => makeScrollable(target.closest(scrollers))));
  root.querySelectorAll(`${scrollers}, ${SCROLLERS.Formula} > *`).forEach((node) => resized.observe(node));
}

function makeScrollable(node) {
  if (node.scrollWidth <= node.clientWidth) return;
  node.tabIndex = 0;
  if (node.role === "region") return;
  const kind = Object.keys(SCROLLERS).find((name) => node.matches(SCROLLERS[name]));
  const others = document.querySelectorAll(`[role=region][aria-label^="${kind} "]`);
  node.setAttribute("role", "region");
  node.setAttribute("aria-label", `${kind} ${others.length + 1}, scrolls sideways`);
}
