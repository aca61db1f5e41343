// The frame of all figures: number and question as the title, what the state teaches, the picture with its numbers behind
// a tab, controls beside it, and at the foot the source and what one can do with the whole.
import { element, uniqueId } from "./element.mjs";
import { copy } from "./files.mjs";
import { guessing } from "./guess.mjs";
import { savePicture } from "./picture.mjs";
import { pictureAndNumbers } from "./tabs.mjs";

const ICONS = {
  reset: "M4.5 10a5.5 5.5 0 1 0 2-4.2M4 3v4h4",
  link: "M8.5 11.5a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 0 0-4.2-4.2l-.8.8M11.5 8.5a3 3 0 0 0-4.2 0l-2.6 2.6a3 3 0 0 0 4.2 4.2l.8-.8",
  save: "M10 3v9M6.5 9l3.5 3.5L13.5 9M4 16.5h12",
};

/** Puts the parts of an explorable into it; `built` are its charts and tables. */
export function frame(figure, { examples, controls, built, source }) {
  const number = numberOf(figure);
  const title = element("p", { class: "grpo-asks", id: uniqueId("figure") },
    number && element("span", { class: "grpo-number" }, number), element("span", {}, figure.getAttribute("question")));
  figure.setAttribute("role", "figure");
  figure.setAttribute("aria-labelledby", title.id);
  const charts = built.some((node) => node.matches(".grpo-chart") || node.querySelector(".grpo-chart"));
  const numbers = charts ? built.filter((node) => node.matches(".grpo-scroll")) : [];
  const picture = built.filter((node) => !numbers.includes(node));
  const stage = element("div", { class: "grpo-stage" });
  const side = element("div", { class: "grpo-side" },
    element("div", { class: "grpo-controls" }, controls),
    examples.length ? element("div", { class: "grpo-bar", role: "group", "aria-label": "Examples" }, examples) : "");
  const tabs = fill(stage, picture, numbers);
  const { guess } = figure.constructor;
  const body = element("div", { class: side.querySelector(":scope > :not(:empty)") ? "grpo-body beside" : "grpo-body" }, stage, side);
  if (guess) figure.guess = guessing(figure, guess, body);
  figure.append(
    element("div", { class: "grpo-head" }, title, tabs, figure.status), body,
    element("div", { class: "grpo-foot" }, element("p", { class: "grpo-source" }, source), tools(figure, { charts, title })));
}

/** "2.1": the chapter's number, and the place of the figure in it; nothing where there are no chapters. */
function numberOf(figure) {
  const place = [...document.querySelectorAll(".grpo-explorable")].indexOf(figure) + 1;
  const chapter = parseInt(document.querySelector("h1")?.textContent);
  return chapter ? `${chapter}.${place}` : "";
}

/** Fills the stage; returns the tabs, or nothing if there are no numbers apart from the picture. */
function fill(stage, picture, numbers) {
  if (!numbers.length) {
    stage.append(element("div", { class: "grpo-picture" }, picture));
    return "";
  }
  const { tabs, panels } = pictureAndNumbers(picture, numbers);
  stage.append(...panels);
  return tabs;
}

/** The last heading above the figure. */
const headingOf = (figure) => [...document.querySelectorAll(":is(h1, h2, h3)[id]")]
  .filter((heading) => heading.compareDocumentPosition(figure) & Node.DOCUMENT_POSITION_FOLLOWING).at(-1);

/** Reset, a link to what is shown, and the picture as a file. */
function tools(figure, { charts, title }) {
  const said = element("span", { role: "status", class: "grpo-told" });
  const tool = (name, label, onclick) => element("button", { type: "button", class: "grpo-tool", "aria-label": label, title: label, onclick },
    element("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" }, element("path", { d: ICONS[name] })));
  const all = [tool("link", "Copy link to this state", async () => {
    const address = new URL(location.href);
    address.hash = figure.getAttribute("id") ?? headingOf(figure)?.id ?? "";
    said.textContent = (await copy(address.href)) ? "Link copied." : "The address bar has the link.";
  })];
  if (Object.keys(figure.controls).length) all.unshift(tool("reset", "Reset", () => figure.set(figure.first)));
  if (charts) all.push(tool("save", "Save picture", () =>
    savePicture(figure, figure.key, figure.guess?.told() ?? { title: figure.getAttribute("question"), words: figure.status.textContent })));
  return element("div", { class: "grpo-tools", role: "group", "aria-label": "This figure" }, said, all);
}
