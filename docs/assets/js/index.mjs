// Entry of the site's own code: loads what a page needs, after the first visit and after each instant navigation.
// <grpo-NAME> is defined by widgets/NAME.mjs, which is loaded when such an element comes near the window: a page with
// many explorables opens as fast as one with none. Nothing runs from scripts inside pages.
import { repair } from "./ui/accessibility.mjs";

const SHARED = { question: "worksheet", runs: "worksheet", "worksheet-tools": "worksheet" }; // several tags of one file

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    const name = target.localName.replace("grpo-", "");
    import(`./widgets/${SHARED[name] ?? name}.mjs`);
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
