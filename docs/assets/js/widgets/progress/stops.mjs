// The list behind the ring: the stops of the course with a box each, what a report of the grader says of the exercises, and
// when all is done, the finish.
import { readReport, sentence } from "../../core/report_files.mjs";
import { button } from "../../ui/controls.mjs";
import { ask } from "../../ui/dialog.mjs";
import { element, uniqueId } from "../../ui/element.mjs";
import { CHANGED, forgetAll, isRead, markDone, readProgress, readQuiz, saveProgress } from "../../ui/progress.mjs";

const KINDS = [["To read", isRead], ["To do", (id) => !isRead(id)]];
const HOW = "Passed an exercise? Drop the grader's report here: the file that grade --json FILE or grade --write html=FILE wrote.";

/** Opens the list as a dialog. */
export function showStops(stops) {
  const listening = new AbortController();
  const { signal } = listening;
  const boxes = stops.map((stop) => box(stop, () => dialog.close()));
  const head = element("h2", { id: uniqueId("progress") });
  const finish = element("div", { class: "grpo-finish" });
  const said = element("p", { role: "status", class: "grpo-status" }, HOW);
  const dialog = element("dialog", { class: "grpo-dialog grpo-stops", "aria-labelledby": head.id },
    element("div", {},
      element("div", { class: "grpo-stops-head" }, head, button("Close", () => dialog.close())),
      finish,
      element("div", { class: "grpo-kinds" }, KINDS.map(([name, kind]) => group(name, boxes.filter(({ id }) => kind(id))))),
      said,
      element("div", { class: "grpo-bar" }, fileButton((file) => take(file, said)), button("Reset", () => reset(signal))),
      element("p", { class: "grpo-source" }, "A page gets its tick when you reach its end. Only this browser stores it; nothing is sent.")));

  let finished = false;
  async function show() {
    const { done } = readProgress();
    const quiz = readQuiz();
    for (const { id, input, answered } of boxes) {
      input.checked = done.includes(id);
      answered.textContent = quiz[id] ? `${quiz[id].right.length} of ${quiz[id].of} questions right` : "";
    }
    const count = boxes.filter(({ input }) => input.checked).length;
    head.textContent = `${count} of ${boxes.length} done`;
    if (finished === (finished = count === boxes.length)) return;
    if (!finished) return finish.replaceChildren();
    saveProgress({ ...readProgress(), finished });
    (await import("./finish.mjs")).showFinish(finish, stops);
  }

  document.addEventListener(CHANGED, show, { signal });
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close()); // beside it
  dialog.addEventListener("dragover", (event) => event.preventDefault());
  dialog.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0], said);
  });
  dialog.addEventListener("close", () => {
    listening.abort();
    dialog.remove();
  });
  document.body.append(dialog);
  show();
  dialog.showModal();
}

/** A stop: { id, input, answered, node }. */
function box({ id, title, address }, leave) {
  const link = element("a", { href: address, id: uniqueId("stop"), onclick: leave }, title);
  const input = element("input", { type: "checkbox", "aria-labelledby": link.id, onchange: () => markDone([id], input.checked) });
  const answered = element("span", { class: "grpo-answered" });
  return { id, input, answered, node: element("li", {}, element("label", {}, input), link, " ", answered) };
}

function group(name, boxes) {
  const title = element("h3", { id: uniqueId("kind") }, name);
  return element("section", {}, title, element("ul", { "aria-labelledby": title.id }, boxes.map(({ node }) => node)));
}

function fileButton(open) {
  const input = element("input", { type: "file", accept: ".json,.html", hidden: true, onchange: () => {
    open(input.files[0]);
    input.value = ""; // so that the same file can be chosen again
  } });
  return [button("Open a report …", () => input.click()), input];
}

/** Reads a report and ticks what it says is passed. */
async function take(file, said) {
  try {
    const report = readReport(await file.text());
    said.textContent = sentence(report);
    markDone(report.filter(({ passed }) => passed).map(({ name }) => `exercises/${name}`));
  } catch (error) {
    said.textContent = error.message;
  }
}

async function reset(signal) {
  const question = "Forget which pages and exercises you have done, and which questions you answered right? Your worksheet answers stay.";
  if (await ask({ question, yes: "Forget", no: "Keep", signal })) forgetAll();
}
