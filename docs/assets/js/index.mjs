// Entry of the site's own code, after each visit and instant navigation: <grpo-NAME> is defined by
// widgets/NAME.mjs. What lies further down, explorables, questions and the comparison, is loaded when it comes near the window.
import { repair } from "./ui/accessibility.mjs";
import "./ui/terms.mjs";

const near = new IntersectionObserver((entries) =>
  entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => define(target)), { rootMargin: "50%" });

function define({ localName }) {
  const name = localName.slice(5).replace(/^(question|runs|worksheet-tools)$/, "worksheet");
  import(`./widgets/${name}.mjs`);
}

function load() {
  const header = document.querySelector(".md-header__inner");
  if (header && !header.querySelector("grpo-progress")) header.append(document.createElement("grpo-progress"));
  for (const node of document.querySelectorAll(":not(:defined)")) {
    if (node.matches(".grpo-explorable, grpo-comparison, grpo-quiz")) near.observe(node);
    else if (node.localName.startsWith("grpo-")) define(node);
  }
  repair(document);
  if (/[?&]embed=/.test(location.search)) import("./ui/embed.mjs").then(({ embed }) => embed());
}

if (window.document$) window.document$.subscribe(load);
else load();
