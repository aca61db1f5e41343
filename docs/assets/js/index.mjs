// Entry of the site's own code, after each visit and instant navigation: <grpo-NAME> is defined by
// widgets/NAME.mjs. What lies further down, explorables, questions and the comparison, is loaded when it comes near the window,
// or when there is nothing else to do: paper, and a reader whose network goes, get pictures too.
import { repair } from "./ui/accessibility.mjs";
import { FRAME } from "./ui/docked.mjs";
import "./ui/terms.mjs";

const LATER = ".grpo-explorable, grpo-comparison, grpo-quiz";
const hasMouse = matchMedia("(hover: hover)").matches;
const near = new IntersectionObserver((entries) =>
  entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => define(target)), { rootMargin: "50%" });

function define({ localName }) {
  const name = localName.slice(5).replace(/^(question|runs|worksheet-tools)$/, "worksheet");
  const file = `./widgets/${name}.mjs`; // written inside import(), esbuild would list all files
  return globalThis.widgetInThisFile?.(name) ?? import(file);
}

/** Loads what is left, one by one; where loading fails it goes on when the network is back. */
function defineTheRest() {
  const next = document.querySelector(`:is(${LATER}):not(:defined)`);
  if (next) (window.requestIdleCallback ?? setTimeout)(() => define(next).then(defineTheRest, () => {}));
}
addEventListener("online", defineTheRest);

function load() {
  const header = document.querySelector(".md-header__inner");
  if (header && !header.querySelector("grpo-progress")) header.append(document.createElement("grpo-progress"));
  for (const node of document.querySelectorAll(":not(:defined)")) {
    if (node.matches(LATER)) near.observe(node);
    else if (node.localName.startsWith("grpo-")) define(node);
  }
  if (hasMouse) defineTheRest(); // a phone has less time, and prints less
  else addEventListener("scroll", defineTheRest, { once: true });
  repair(document);
  document.documentElement.classList.toggle("grpo-docked", window.name === FRAME);
}

if (window.document$) window.document$.subscribe(load);
else load();
