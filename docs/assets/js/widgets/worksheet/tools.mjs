// <grpo-worksheet-tools>: progress, and what one does with the worksheet as a whole. With the attribute part="end" only
// progress and handing in.
import { progress } from "../../core/worksheet.mjs";
import { button } from "../../ui/controls.mjs";
import { element, uniqueId } from "../../ui/element.mjs";
import { markDone } from "../../ui/progress.mjs";
import { WorksheetWidget, changeState, isKept } from "./state.mjs";

const KEPT = "Saved in this browser while you type. Nothing is sent anywhere.";
const NOT_KEPT = "This browser cannot keep your answers: download them before you leave.";

export class Tools extends WorksheetWidget {
  setup() {
    const atEnd = this.getAttribute("part") === "end";
    const id = uniqueId("progress");
    this.words = element("label", { for: id, class: "grpo-progress-words" });
    this.bar = element("progress", { id });
    this.steps = element("ul", { class: "grpo-steps" });
    this.tallies = {};
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.saved = element("p", { class: "grpo-note", "aria-live": "polite" });
    changeState(() => {}); // shows whether this browser keeps anything, before somebody writes
    const handIn = [
      button("Download answers (JSON)", () => this.act("saveJson"), { class: "grpo-button grpo-primary" }),
      button("Download answers (Markdown)", () => this.act("saveMarkdown")),
      button("Print", () => print()),
    ];
    this.append(element("div", { class: "grpo-progress" }, this.words, this.bar));
    if (atEnd) this.append(element("div", { class: "grpo-bar" }, handIn), this.status);
    else
      this.append(
        this.steps,
        this.saved,
        element(
          "div",
          { class: "grpo-bar" },
          this.keep(),
          handIn,
          button("Clear worksheet", () => this.act("clear")),
        ),
        this.status,
      );
  }

  keep() {
    this.file = element("input", {
      type: "file",
      accept: ".json,application/json",
      hidden: true,
      onchange: () => this.open(),
    });
    return [
      button("Fill all tables from sent runs", () => this.act("fillTables")),
      button("Open a saved worksheet …", () => this.file.click()),
      this.file,
    ];
  }

  show(state) {
    const { done, of, answers, runs, steps } = progress(state);
    const note = isKept() ? KEPT : NOT_KEPT;
    if (this.saved.textContent !== note) this.saved.textContent = note; // the same text would be read out again
    this.saved.classList.toggle("grpo-alarm", !isKept());
    this.words.textContent =
      `${done} of ${of} done: ${answers.done} of ${answers.of} questions answered, ` +
      `${runs.done} of ${runs.of} runs recorded`;
    Object.assign(this.bar, { max: of, value: done });
    if (done === of) markDone(["worksheet"]);
    for (const [step, tally] of Object.entries(steps)) {
      this.tallies[step] ??= this.addStep(step);
      this.tallies[step].textContent = ` ${tally.done} of ${tally.of}`;
    }
  }

  /** Adds a link to a step of the page; returns the place for its tally. */
  addStep(step) {
    const tally = element("span");
    const link = element("a", { href: `#step-${step.toLowerCase()}` }, step === "bonus" ? "Bonus" : step);
    this.steps.append(element("li", {}, link, tally));
    return tally;
  }

  open() {
    const [file] = this.file.files;
    this.file.value = ""; // so that the same file can be chosen again
    this.act("open", { file });
  }
}
