// <grpo-question name="1A.1">: a question with a field for its answer. The Markdown inside is the question.
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
    this.append(label, this.field, this.printed);
  }

  store() {
    this.field.classList.add("grpo-grows");
    changeState((state) => void (state.answers[this.name] = this.field.value));
  }

  show(state, typing) {
    const text = state.answers[this.name] ?? "";
    if (setField(this.field, text, typing)) return this.store();
    this.printed.textContent = text;
  }
}
