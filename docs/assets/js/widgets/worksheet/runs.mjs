// <grpo-runs name="1D.1">: the runs of a question as a picture, and behind a tab the table with a field for each seed and
// number. The Markdown inside is what is asked, in bold its number, and the same table, empty.
import { isComplete, kindOf, readField, slotsOf } from "../../core/worksheet.mjs";
import { button } from "../../ui/controls.mjs";
import { element, uniqueId } from "../../ui/element.mjs";
import { table } from "../../ui/table.mjs";
import { pictureAndNumbers } from "../../ui/tabs.mjs";
import { LAYOUTS, fieldName } from "./layouts.mjs";
import { plotOf } from "./plots.mjs";
import { WorksheetWidget, changeState, readState, setField } from "./state.mjs";

export class Runs extends WorksheetWidget {
  setup() {
    const question = this.getAttribute("name");
    this.id = `runs-${question.toLowerCase()}`;
    this.slots = slotsOf(question);
    this.fields = [];
    const { caption, columns, rows } = LAYOUTS[question];
    const { node, fill } = table({ caption, columns });
    fill(rows.map(([header, ...cells]) => [header, ...cells.map(([id, field]) => this.field(id, field))]));
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.recorded = element("p", { class: "grpo-readout" });
    this.plot = plotOf(question, (id) => this.edit(id));
    const { tabs, panels, choose } = pictureAndNumbers(element("div", { class: "grpo-plots" }, this.plot.nodes), [node]);
    this.choose = choose;
    const { slots } = this;
    const reasons = this.fields.map(({ reason }) => reason);
    this.append(
      element("div", { class: "grpo-head" }, this.asked(tabs)),
      element("div", { class: "grpo-stage" }, panels),
      element("div", { class: "grpo-reasons", "aria-live": "polite" }, reasons),
      element(
        "div",
        { class: "grpo-bar" },
        button("Empty this table", () => this.act("emptyTable", { slots })),
      ),
      this.status,
      this.recorded, // until there is a status
    );
  }

  /** What is asked, from the page: its first paragraph is the title, whose number becomes a tile. */
  asked(tabs) {
    const [title, ...more] = this.fallback.filter((node) => node.localName === "p");
    title.className = "grpo-asks";
    const [number, ...words] = title.childNodes;
    number.className = "grpo-number";
    title.replaceChildren(number, element("span", {}, words));
    return [title, tabs, ...more];
  }

  /** Shows the field of a run that is empty, or its first one. */
  edit(id) {
    this.choose("Numbers");
    const fields = this.fields.filter((entry) => entry.id === id);
    (fields.find(({ input }) => !input.value.trim()) ?? fields[0]).input.focus();
  }

  field(id, field) {
    const { length: isList, never } = kindOf(field);
    const name = fieldName(id, field);
    const input = element(isList ? "textarea" : "input", {
      type: isList ? null : "text",
      inputmode: never || isList ? null : field === "seed" ? "numeric" : "decimal",
      "aria-label": name,
      "aria-invalid": "false",
      autocomplete: "off",
      spellcheck: "false",
      onfocus: () => void (this.before = readState().cells[id] ?? {}),
      oninput: () => this.store(id, { [field]: input.value }),
      onchange: () => this.commit(entry),
    });
    const printed = element("div", { class: "grpo-printed" });
    const reason = element("p", { id: uniqueId("reason"), hidden: true });
    const entry = { id, field, name, input, printed, reason };
    this.fields.push(entry);
    return element("div", { class: "grpo-field" }, input, printed);
  }

  show(state, typing) {
    for (const entry of this.fields) {
      const { id, field, input, printed } = entry;
      const text = state.cells[id]?.[field] ?? "";
      if (setField(input, text, typing)) return this.store(id, { [field]: input.value });
      printed.textContent = text;
      this.judge(entry, input === document.activeElement);
    }
    const done = this.slots.filter((slot) => isComplete(slot, state.cells[slot.id])).length;
    this.recorded.textContent = `${done} of ${this.slots.length} recorded.`;
    this.plot.draw(state.cells);
  }

  /** Marks a wrong field and says below the table why. While it is being written, a mark can only go. */
  judge({ field, name, input, reason }, isTyping) {
    const wrong = problem(field, input.value);
    if (isTyping && wrong) return;
    const sentence = wrong && `${name}: ${wrong}.`;
    if (reason.textContent !== sentence) reason.textContent = sentence; // the same text would be read out again
    reason.hidden = !wrong;
    input.setAttribute("aria-invalid", String(!reason.hidden));
    if (wrong) input.setAttribute("aria-describedby", reason.id);
    else input.removeAttribute("aria-describedby");
  }

  store(id, texts) {
    changeState((state) => void (state.cells[id] = { ...state.cells[id], ...texts }));
  }

  /** After a field was changed: says what is wrong with it, or what its seed gives. */
  commit(entry) {
    const { id, field, input } = entry;
    const text = input.value;
    this.store(id, { [field]: text });
    this.judge(entry);
    this.say("");
    if (field !== "seed" || !text.trim() || problem(field, text)) return;
    const { before = {} } = this; // another field may have the focus when the module has come
    this.use(({ takeSeed }) => takeSeed(id, before, text));
  }
}

/** What a field expects instead of its text; "" if nothing is wrong. */
function problem(field, text) {
  if (!text.trim()) return "";
  try {
    readField(field, text);
    return "";
  } catch (error) {
    return `please write ${error.message}`;
  }
}
