// <grpo-quiz name="baselines" right="2">: a question with choices, or with a number to enter. The Markdown inside has the
// question, a numbered list of choices (none: a number is asked for) and a folded block with what is said of each choice, or of
// each number that begins its line in bold; the last line, if it has none, is said of any other number.
import { isAnswer, parseNumber } from "../core/quiz.mjs";
import { button } from "../ui/controls.mjs";
import { element, uniqueId } from "../ui/element.mjs";
import { CHANGED, readQuiz, saveQuiz, stopAt } from "../ui/progress.mjs";
import { Widget } from "../ui/widget.mjs";

class Quiz extends Widget {
  setup() {
    this.name = this.getAttribute("name");
    this.right = Number(this.getAttribute("right")) - 1;
    const parts = this.fallback.filter((node) => node.nodeType === Node.ELEMENT_NODE);
    const folded = parts.find((node) => node.localName === "details");
    this.remarks = [...folded.querySelectorAll("li")];
    this.numbers = this.remarks.map((remark) => remark.querySelector("strong")?.textContent ?? "");
    const list = parts.find((node) => node.localName === "ol");
    const question = parts.filter((node) => node !== folded && node !== list);
    question.forEach((node) => (node.id ||= uniqueId("quiz")));
    const labelled = question.map(({ id }) => id).join(" ");
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", labelled);
    this.said = element("div", { role: "status", class: "grpo-said" });
    this.solved = element("span", { class: "grpo-told" });
    const bar = element("div", { class: "grpo-bar" },
      list ? [] : this.number(labelled), button("Check", null, { type: "submit" }), this.solved, this.said);
    this.append(element("form", { onsubmit: (event) => {
      event.preventDefault();
      this.check();
    } }, question, list ? this.choices(list) : [], bar));
    document.addEventListener(CHANGED, () => this.isConnected && this.mark());
    this.mark();
  }

  /** The list as it was, with a radio button in place of each point: the text stays where it is. */
  choices(list) {
    const group = uniqueId("choices");
    for (const [i, item] of [...list.children].entries()) {
      const input = element("input", { type: "radio", name: group, value: i, onchange: () => this.say("") });
      item.replaceChildren(element("label", {}, input, [...item.childNodes]));
    }
    this.list = list;
    return list;
  }

  number(labelled) {
    this.field = element("input", { type: "text", inputmode: "decimal", size: 8, autocomplete: "off",
      "aria-labelledby": labelled, oninput: () => this.say("") });
    return [this.field];
  }

  /** The place of the remark about the reader's answer; -1 if there is no answer yet. */
  get answered() {
    if (this.list) return [...this.list.querySelectorAll("input")].findIndex(({ checked }) => checked);
    const text = this.field.value;
    if (Number.isNaN(parseNumber(text))) return -1;
    const found = this.numbers.findIndex((number) => number && isAnswer(text, number));
    return found >= 0 ? found : this.numbers.length - 1;
  }

  check() {
    const at = this.answered;
    if (at < 0) return this.say(this.list ? "Choose an answer first." : "Enter a number first.");
    const isRight = at === this.right;
    this.say(isRight ? "Right." : "Not quite.", isRight, this.remarks[at]);
    if (isRight) saveQuiz(stopAt(location.pathname), document.querySelectorAll("grpo-quiz").length, this.name);
  }

  say(verdict, isRight = false, remark = null) {
    const words = remark && [...remark.cloneNode(true).childNodes];
    this.said.replaceChildren(verdict && element("strong", {}, verdict), verdict && " ", ...(words ?? []));
    this.said.classList.toggle("right", isRight);
  }

  /** Shows whether the question was answered right, now or on an earlier visit. */
  mark() {
    this.solved.textContent = readQuiz()[stopAt(this.path)]?.right.includes(this.name) ? "✓ answered right" : "";
  }
}

customElements.define("grpo-quiz", Quiz);
