// Names and keyboard access that Material's generated markup lacks (axe-core: aria-dialog-name, landmark-unique,
// scrollable-region-focusable). A script and not a template override, so that it works under Zensical too.

/** Mends what is on the page now; harmless to repeat. Some of Material's nodes come late: see the second pass. */
export function repair(root) {
  pass(root);
  setTimeout(pass, 400, root);
}

function pass(root) {
  root.querySelectorAll("[data-md-component=search][role=dialog]").forEach((node) => {
    node.setAttribute("aria-label", "Search");
  });
  root.querySelectorAll(".md-code__nav").forEach((node, i) => node.setAttribute("aria-label", `Code block ${i + 1}`));
  root.querySelectorAll(".md-typeset__scrollwrap").forEach((node, i) => makeScrollable(node, `Table ${i + 1}`));
  root.querySelectorAll("pre > code").forEach((node) => {
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
  });
}

function makeScrollable(node, name) {
  if (node.scrollWidth <= node.clientWidth || node.tabIndex === 0) return;
  node.tabIndex = 0;
  node.setAttribute("role", "region");
  node.setAttribute("aria-label", name);
}
