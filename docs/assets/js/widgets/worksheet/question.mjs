// <grpo-question name="1A.1">: a question with a field for its answer, and below it, once the worksheet was handed in,
// what the numbers show. The Markdown inside is the question.
import { LIMITS } from "../../core/worksheet_runs.mjs";
import { element, uniqueId } from "../../ui/element.mjs";
import { WorksheetWidget, changeState, setField } from "./state.mjs";

export class Question extends WorksheetWidget {
  setup() {
    this.name = this.getAttribute("name");
    const id = uniqueId("answer");
    const words = this.fallback
      .filter((node) => node.nodeType === Node.ELEMENT_NODE)
      .flatMap((node) => [...node.cloneNode(true).childNodes]);
    const label = element("label", { for: id, class: "grpo-prompt" }, words);
    const number = label.querySelector("strong")?.textContent ?? "";
    this.text = label.textContent.trim().slice(number.length).trim();
    this.field = element("textarea", {
      id,
      class: "grpo-answer",
      maxlength: LIMITS.longestAnswer,
      oninput: () => this.store(),
      onchange: () => this.store(),
    });
    this.printed = element("div", { class: "grpo-printed" }); // on paper a field would cut off a long answer
    const title = uniqueId("model");
    this.model = element("div", { class: "grpo-model", role: "note", "aria-labelledby": title, hidden: true });
    this.model.append(element("p", { id: title, class: "grpo-model-title" }, "What the numbers show"));
    this.append(label, this.field, this.printed, this.model);
  }

  store() {
    this.field.classList.add("grpo-grows");
    changeState((state) => void (state.answers[this.name] = this.field.value));
  }

  show(state, typing) {
    const text = state.answers[this.name] ?? "";
    this.model.hidden = !state.handedIn;
    if (state.handedIn) this.compare();
    if (setField(this.field, text, typing)) return this.store();
    this.printed.textContent = text;
  }

  /** Fills in what the numbers show. Its script is fetched here, and so never before the worksheet was handed in. */
  async compare() {
    if (this.isCompared) return;
    this.isCompared = true;
    this.model.append(...(await modelAnswer(this.name)));
  }
}

/** The paragraphs of a question's model answer. */
async function modelAnswer(name) {
  try {
    const { ANSWERS } = await import("../../core/worksheet_answers.mjs");
    const [answer, experiment] = ANSWERS[name];
    const further = () => element("p", {}, element("strong", {}, "To go further:"), ` ${experiment}`);
    return [element("p", {}, answer), ...(experiment ? [further()] : [])];
  } catch (error) {
    reportError(error);
    return [element("p", {}, "Loading failed. Check your connection and reload the page.")];
  }
}
