// Entry of the site's own code: loads what a page needs, after the first visit and after each instant navigation.
// A page pays only for the widgets that stand on it. Nothing runs from scripts inside pages.
import { repair } from "./ui/accessibility.mjs";

const WIDGETS = {
  "grpo-group-advantages": () => import("./widgets/group-advantages.mjs"),
  "grpo-simulation": () => import("./widgets/simulation.mjs"),
  "grpo-comparison": () => import("./widgets/comparison.mjs"),
  "grpo-question": () => import("./widgets/worksheet.mjs"),
  "grpo-runs": () => import("./widgets/worksheet.mjs"),
  "grpo-worksheet-tools": () => import("./widgets/worksheet.mjs"),
};

function load() {
  for (const [tag, define] of Object.entries(WIDGETS)) {
    if (!customElements.get(tag) && document.querySelector(tag)) define();
  }
  if (document.querySelector(".arithmatex")) import("./ui/math.mjs").then(({ typeset }) => typeset(document));
  repair(document);
}

if (window.document$) window.document$.subscribe(load);
else load();
