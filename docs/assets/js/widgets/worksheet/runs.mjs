// <grpo-runs name="1D.1">: the table of a question's runs, with a field for each seed and number.
import { cellOf, isStarted, measure, readField, record, seedProblem, slotsOf } from "../../core/worksheet.mjs";
import { button } from "../../ui/controls.mjs";
import { ask } from "../../ui/dialog.mjs";
import { element } from "../../ui/element.mjs";
import { table } from "../../ui/table.mjs";
import { fill } from "./filling.mjs";
import { LAYOUTS, fieldName } from "./layouts.mjs";
import { WorksheetWidget, changeState, readState, setField } from "./state.mjs";

const FOLLOW_SEED = "1B.1"; // sixteen numbers are too many to type: they follow when a seed is typed

export class Runs extends WorksheetWidget {
  setup() {
    this.question = this.getAttribute("name");
    this.slots = slotsOf(this.question);
    this.fields = [];
    const { caption, columns, rows } = LAYOUTS[this.question];
    const { node, fill: fillTable } = table({ caption, columns });
    fillTable(rows.map(([header, ...cells]) => [header, ...cells.map(([id, field]) => this.field(id, field))]));
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.append(node,
      element("div", { class: "grpo-bar" },
        button("Fill from sent runs", () => this.say(fill(this.slots))),
        button("Empty this table", () => this.empty())),
      this.status);
  }

  field(id, field) {
    const isList = field === "actions" || field === "advantages";
    const input = element(isList ? "textarea" : "input", {
      type: isList ? null : "text",
      rows: isList ? 4 : null,
      inputmode: field.startsWith("stepsTo") || isList ? null : field === "seed" ? "numeric" : "decimal",
      "aria-label": fieldName(id, field),
      autocomplete: "off",
      spellcheck: "false",
      onfocus: () => void (this.follows = this.valuesFollow(id)),
      oninput: () => this.store(id, { [field]: input.value }),
      onchange: () => this.commit(id, field, input.value),
    });
    const printed = element("div", { class: "grpo-printed" });
    this.fields.push({ id, field, input, printed });
    return element("div", { class: "grpo-field" }, input, printed);
  }

  show(state) {
    for (const { id, field, input, printed } of this.fields) {
      const text = state.cells[id]?.[field] ?? "";
      setField(input, text);
      printed.textContent = text;
      input.setAttribute("aria-invalid", String(problem(field, text) !== ""));
    }
  }

  store(id, texts) {
    changeState((state) => void (state.cells[id] = { ...state.cells[id], ...texts }));
  }

  /** After a field was left: says what is wrong with it. */
  commit(id, field, text) {
    const wrong = problem(field, text);
    if (wrong) return this.say(`${fieldName(id, field)}: ${wrong}.`);
    if (field === "seed" && text.trim() && this.follows) {
      const slot = this.slots.find((each) => each.id === id);
      this.store(id, cellOf(readField("seed", text), measure(slot, readField("seed", text))));
      return this.say(`Filled in the step that seed ${text.trim()} gives. Compare it with the step detail of your run.`);
    }
    this.say(seedProblem(this.question, readState().cells));
  }

  /** Whether a cell's values are nobody's typing: empty, or what its seed gives. */
  valuesFollow(id) {
    if (this.question !== FOLLOW_SEED) return false;
    const slot = this.slots.find((each) => each.id === id);
    const { seed: text, ...values } = readState().cells[id] ?? {};
    if (!isStarted(values)) return true;
    const { seed } = record(slot, { seed: text });
    return seed !== null && Object.entries(cellOf(seed, measure(slot, seed))).every(([name, value]) => name === "seed" || values[name] === value);
  }

  async empty() {
    const { cells } = readState();
    const count = this.slots.filter((slot) => isStarted(cells[slot.id])).length;
    if (!count) return this.say("The table is empty already.");
    const question = `Delete the ${count === 1 ? "run" : `${count} runs`} in this table? Sent runs stay, so it can be filled from them again.`;
    if (!(await ask({ question, yes: "Empty this table", no: "Keep it" }))) return this.say("Nothing was deleted.");
    changeState((state) => this.slots.forEach((slot) => delete state.cells[slot.id]));
    this.say("The table is empty.");
  }

  say(sentence) {
    this.status.textContent = sentence;
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
