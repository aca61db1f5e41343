// Names and keyboard access that the theme's generated markup lacks (axe-core: aria-dialog-name, landmark-unique,
// scrollable-region-focusable). A script and not a template override, so that it works under Zensical too.

const SCROLLERS = "pre > code, .md-typeset__scrollwrap"; // code blocks, wide tables

/** Mends what is on the page now; harmless to repeat. */
export function repair(root) {
  root.querySelectorAll("[data-md-component=search][role=dialog]").forEach((node) => {
    node.setAttribute("aria-label", "Search");
  });
  root.querySelectorAll(".md-code__nav").forEach((node, i) => node.setAttribute("aria-label", `Code block ${i + 1}`));
  root.querySelectorAll(SCROLLERS).forEach((node) => resized.observe(node));
}

// Whether a block scrolls depends on its width: a phone turns, a closed block opens. The theme removes the tabindex of
// code on a touch screen when the width changes; its observer is older than this one, so it comes first.
const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => makeScrollable(target)));

function makeScrollable(node) {
  if (node.scrollWidth <= node.clientWidth) return;
  const kind = node.localName === "code" ? "Code" : "Table";
  const others = [...document.querySelectorAll(`[role=region][aria-label^="${kind} "]`)];
  node.tabIndex = 0;
  node.setAttribute("role", "region");
  if (!others.includes(node)) node.setAttribute("aria-label", `${kind} ${others.length + 1}, scrolls sideways`);
}
