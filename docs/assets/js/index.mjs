// Entry of the site's own code, after a first visit and after each instant navigation: <grpo-NAME> is defined by
// widgets/NAME.mjs, which is loaded when such an element comes near the window.
import { repair } from "./ui/accessibility.mjs";

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    const name = target.localName.slice(5).replace(/^(question|runs|worksheet-tools)$/, "worksheet"); // tags of one file
    import(`./widgets/${name}.mjs`);
  }
}, { rootMargin: "50% 0%" });

function load() {
  for (const node of document.querySelectorAll(":not(:defined)")) {
    if (node.localName.startsWith("grpo-")) near.observe(node);
  }
  if (document.querySelector(".arithmatex")) import("./ui/math.mjs").then(({ typeset }) => typeset(document));
  repair(document);
}

if (window.document$) window.document$.subscribe(load);
else load();
