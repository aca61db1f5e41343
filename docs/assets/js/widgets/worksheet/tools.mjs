// <grpo-worksheet-tools>: how far the reader is, and what one does with the worksheet as a whole. It is a strip beside the
// questions with the sent runs, on a phone one line that opens. With the attribute part="end" only progress and handing in.
import { progress } from "../../core/worksheet.mjs";
import { button } from "../../ui/controls.mjs";
import { FRAME, isWide, saveDock } from "../../ui/docked.mjs";
import { element, uniqueId } from "../../ui/element.mjs";
import { menu } from "../../ui/menu.mjs";
import { markDone } from "../../ui/progress.mjs";
import { ring } from "../../ui/ring.mjs";
import { newRuns } from "../../ui/runs.mjs";
import { makeScrollable } from "../../ui/table.mjs";
import { WorksheetWidget, changeState, isKept } from "./state.mjs";

const KEPT = "This browser saves your answers while you type. Nothing is sent anywhere.";
const NOT_KEPT = "This browser cannot keep your answers: download them before you leave.";

/** Whoever goes to the simulation finds the worksheet beside it, at the same step. */
function remember({ target }) {
  const link = target.closest("a[href*=simulation]");
  const steps = link ? [...document.querySelectorAll("article h2[id]")] : [];
  const step = steps.findLast((each) => each.compareDocumentPosition(link) & Node.DOCUMENT_POSITION_FOLLOWING);
  if (link) saveDock({ open: isWide(), step: step?.id ?? "" });
}

export class Tools extends WorksheetWidget {
  setup() {
    const id = uniqueId("progress");
    this.words = element("label", { for: id, class: "grpo-progress-words" });
    this.bar = element("progress", { id });
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.save = button("Download answers (JSON)", () => this.act("saveJson"), { class: "grpo-button grpo-primary" });
    if (this.getAttribute("part") === "end") this.buildEnd();
    else this.buildStrip();
  }

  buildEnd() {
    this.append(
      element("div", { class: "grpo-progress" }, this.words, this.bar),
      element(
        "div",
        { class: "grpo-bar" },
        this.save,
        button("Download answers (Markdown)", () => this.act("saveMarkdown")),
        button("Print", () => print()),
      ),
      this.status,
    );
  }

  buildStrip() {
    changeState(() => {}); // shows whether this browser keeps anything, before somebody writes
    this.ring = ring();
    this.steps = element("ul", { class: "grpo-steps", onclick: () => this.open(false) });
    this.tallies = {};
    this.saved = element("p", { class: "grpo-note", "aria-live": "polite" });
    this.sent = element("div", { class: "grpo-sent" });
    this.opener = button("More", () => this.open(!this.isOpen), { class: "grpo-button grpo-opener", "aria-expanded": "false" });
    this.strip = element(
      "section",
      { class: "grpo-strip", "aria-label": "Your worksheet" },
      element("div", { class: "grpo-progress" }, element("span", { class: "grpo-ring" }, this.ring.node), this.words, this.bar),
      this.opener,
      this.steps,
      element("div", { class: "grpo-strip-title" }, "Sent runs"),
      this.status,
      this.saved, // until there is a status
      this.sent,
      element("div", { class: "grpo-bar" }, this.save, this.more()),
    );
    this.strip.addEventListener("keydown", ({ key }) => key === "Escape" && this.isOpen && this.open(false));
    this.append(this.strip);
    if (window.name !== FRAME) this.closest("article")?.addEventListener("click", remember, true);
    new ResizeObserver(() => makeScrollable(this.sent, "Sent runs")).observe(this.sent); // the line of a phone scrolls, the open strip does not
  }

  /** What is needed once in a while. */
  more() {
    this.file = element("input", {
      type: "file",
      accept: ".json,application/json",
      hidden: true,
      onchange: () => this.read(),
    });
    const actions = [
      ["Open a saved worksheet …", () => this.file.click()],
      ["Download answers (Markdown)", () => this.act("saveMarkdown")],
      ["Print", () => print()],
      ["Clear worksheet", () => this.act("clear")],
    ];
    return [menu(actions), this.file];
  }

  get isOpen() {
    return this.strip.classList.contains("open");
  }

  /** On a phone: the whole strip, over the page, or its line. */
  open(on) {
    this.strip.classList.toggle("open", on);
    this.opener.setAttribute("aria-expanded", on);
    this.opener.textContent = on ? "Close" : "More";
    if (on !== this.strip.contains(document.activeElement)) this.opener.focus({ preventScroll: true });
  }

  show(state) {
    const { done, of, answers, runs, steps } = progress(state);
    this.words.textContent =
      `${done} of ${of} done: ${answers.done} of ${answers.of} questions answered, ` +
      `${runs.done} of ${runs.of} runs recorded`;
    Object.assign(this.bar, { max: of, value: done });
    if (!this.strip) return;
    if (done === of) markDone(["worksheet"]);
    this.ring.show(done, of);
    const note = isKept() ? KEPT : NOT_KEPT;
    if (this.saved.textContent !== note) this.saved.textContent = note; // the same text would be read out again
    this.saved.classList.toggle("grpo-alarm", !isKept());
    for (const [step, tally] of Object.entries(steps)) {
      this.tallies[step] ??= this.addStep(step);
      this.tallies[step].textContent = `${tally.done} of ${tally.of}`;
      this.tallies[step].parentNode.style.setProperty("--done", tally.done / tally.of);
    }
    this.showSent(state);
    if (newRuns().length) this.act("fillFromNewRuns");
  }

  /** Shows the sent runs. What draws them computes each anew, so it comes apart. */
  async showSent(state) {
    const { showSent } = await import("./sent.mjs");
    if (this.isConnected) showSent(this.sent, state.cells); // the reader may have left the page meanwhile
  }

  /** Adds a link to a step of the page; returns the place for its tally. */
  addStep(step) {
    const tally = element("span");
    const name = step === "bonus" ? "Bonus" : step;
    this.steps.append(element("li", {}, element("a", { href: `#step-${step.toLowerCase()}` }, element("i"), `${name} `, tally)));
    return tally;
  }

  read() {
    const [file] = this.file.files;
    this.file.value = ""; // so that the same file can be chosen again
    this.act("open", { file });
  }
}
