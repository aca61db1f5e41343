// <grpo-worksheet-tools>: progress, and what one does with the worksheet as a whole. With the attribute part="end" only
// progress and handing in.
import { amount, fieldsOf, isStarted, progress, record } from "../../core/worksheet.mjs";
import { RUNS } from "../../core/worksheet_runs.mjs";
import { button } from "../../ui/controls.mjs";
import { ask } from "../../ui/dialog.mjs";
import { element, uniqueId } from "../../ui/element.mjs";
import { download } from "../../ui/files.mjs";
import { clearRuns, sentRuns } from "../../ui/runs.mjs";
import { fill } from "./filling.mjs";
import { fieldName } from "./layouts.mjs";
import { WorksheetWidget, changeState, clearState, isKept, readState } from "./state.mjs";

const LARGEST_FILE = 512_000; // bytes; a worksheet takes a few thousand
const files = () => import("../../core/worksheet_files.mjs");
const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

export class Tools extends WorksheetWidget {
  setup() {
    const atEnd = this.getAttribute("part") === "end";
    const id = uniqueId("progress");
    this.words = element("label", { for: id, class: "grpo-progress-words" });
    this.bar = element("progress", { id });
    this.steps = element("ul", { class: "grpo-steps" });
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.saved = element("p", { class: "grpo-note" }, isKept()
      ? "Saved in this browser while you type. Nothing is sent anywhere."
      : "This browser does not keep what you write, for example because the window is private. Download your answers before you leave.");
    const handIn = [
      button("Download answers (JSON)", () => this.download("json"), { class: "grpo-button grpo-primary" }),
      button("Download answers (Markdown)", () => this.download("md")),
      button("Print", () => print()),
    ];
    this.append(element("div", { class: "grpo-progress" }, this.words, this.bar));
    if (atEnd) this.append(element("div", { class: "grpo-bar" }, handIn), this.status);
    else this.append(this.steps, this.saved, element("div", { class: "grpo-bar" }, this.keep(), handIn, button("Clear worksheet", () => this.clear())), this.status);
  }

  keep() {
    this.file = element("input", { type: "file", accept: ".json,application/json", hidden: true, onchange: () => this.open() });
    return [
      button("Fill all tables from sent runs", () => this.say(fill(RUNS))),
      button("Open a saved worksheet …", () => this.file.click()),
      this.file,
    ];
  }

  show(state) {
    const { done, of, answers, runs, steps } = progress(state);
    this.words.textContent = `${done} of ${of} done: ${answers.done} of ${answers.of} questions answered, ${runs.done} of ${runs.of} runs recorded`;
    Object.assign(this.bar, { max: of, value: done });
    this.steps.replaceChildren(...Object.entries(steps).map(([step, tally]) => element("li", {},
      element("a", { href: `#step-${step.toLowerCase()}` }, step === "bonus" ? "Bonus" : step), ` ${tally.done} of ${tally.of}`)));
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  async download(kind) {
    const { toJson, toMarkdown } = await files();
    const state = readState();
    const questions = [...document.querySelectorAll("grpo-question")].map(({ name, text }) => ({ id: name, text }));
    if (kind === "json") download("worksheet.json", toJson(state, questions), "application/json");
    else download("worksheet.md", toMarkdown(state, questions), "text/markdown");
    const { answers, runs } = amount(state);
    this.say(`Downloaded worksheet.${kind} with ${count(answers, "answer")} and ${count(runs, "run")}. ${incomplete(state)}`.trim());
  }

  async clear() {
    const { answers, runs } = amount(readState());
    const sent = sentRuns().length;
    if (!answers && !runs && !sent) return this.say("There is nothing to clear.");
    const question = `Delete ${count(answers, "answer")}, ${count(runs, "run")} in the tables and ${count(sent, "sent run")} from this browser? `
      + "Nobody can bring them back. A file that you downloaded stays.";
    if (!(await ask({ question, yes: "Delete everything", no: "Keep everything" }))) return this.say("Nothing was deleted.");
    clearState();
    clearRuns();
    this.say("The worksheet is empty.");
  }

  async open() {
    const [file] = this.file.files;
    this.file.value = ""; // so that the same file can be chosen again
    try {
      if (file.size > LARGEST_FILE) throw new Error("The file is too large for a worksheet.");
      const { fromJson } = await files();
      const opened = fromJson(await file.text());
      const [now, then] = [amount(readState()), amount(opened)];
      const question = `Replace the ${count(now.answers, "answer")} and ${count(now.runs, "run")} on this page by those of ${file.name} `
        + `(${count(then.answers, "answer")}, ${count(then.runs, "run")})?`;
      if ((now.answers || now.runs) && !(await ask({ question, yes: "Replace them", no: "Keep what is here" }))) {
        return this.say("Nothing was changed.");
      }
      changeState((state) => Object.assign(state, opened));
      this.say(`Opened ${file.name}: ${count(then.answers, "answer")} and ${count(then.runs, "run")}.`);
    } catch (error) {
      this.say(`${file.name} was not opened. ${error.message}`);
    }
  }
}

/** Names what a file does not hold of the runs that were begun. */
function incomplete(state) {
  const open = RUNS.filter((slot) => isStarted(state.cells[slot.id])).flatMap((slot) => {
    const { missing, problems } = record(slot, state.cells[slot.id]);
    const [first] = fieldsOf(slot).filter((name) => missing.includes(name) || name in problems);
    return first ? [fieldName(slot.id, first)] : [];
  });
  return open.length ? `Not complete yet: ${open.join("; ")}.` : "";
}
