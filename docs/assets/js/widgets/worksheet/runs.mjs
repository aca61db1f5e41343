// <grpo-runs name="1D.1">: the table of a question's runs, with a field for each seed and number.
import { isStarted, readField, slotsOf } from "../../core/worksheet.mjs";
import { button } from "../../ui/controls.mjs";
import { element } from "../../ui/element.mjs";
import { table } from "../../ui/table.mjs";
import { LAYOUTS, fieldName } from "./layouts.mjs";
import { WorksheetWidget, changeState, readState, setField } from "./state.mjs";

const filling = () => import("./filling.mjs");
const FOLLOW_SEED = "1B.1"; // sixteen numbers are too many to type: they follow when a seed is typed

export class Runs extends WorksheetWidget {
  setup() {
    this.question = this.getAttribute("name");
    this.slots = slotsOf(this.question);
    this.fields = [];
    const { caption, columns, rows } = LAYOUTS[this.question];
    const { node, fill } = table({ caption, columns });
    fill(rows.map(([header, ...cells]) => [header, ...cells.map(([id, field]) => this.field(id, field))]));
    this.status = element("p", { role: "status", class: "grpo-status" });
    this.append(
      node,
      element(
        "div",
        { class: "grpo-bar" },
        button("Fill from sent runs", () => this.fill()),
        button("Empty this table", () => this.empty()),
      ),
      this.status,
    );
  }

  field(id, field) {
    const isList = field === "actions" || field === "advantages";
    const input = element(isList ? "textarea" : "input", {
      type: isList ? null : "text",
      inputmode: field.startsWith("stepsTo") || isList ? null : field === "seed" ? "numeric" : "decimal",
      "aria-label": fieldName(id, field),
      autocomplete: "off",
      spellcheck: "false",
      onfocus: () => void (this.before = readState().cells[id] ?? {}),
      oninput: () => this.store(id, { [field]: input.value }),
      onchange: () => this.commit(id, field, input.value),
    });
    const printed = element("div", { class: "grpo-printed" });
    this.fields.push({ id, field, input, printed });
    return element("div", { class: "grpo-field" }, input, printed);
  }

  show(state, typing) {
    for (const { id, field, input, printed } of this.fields) {
      const text = state.cells[id]?.[field] ?? "";
      setField(input, text, typing);
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
    this.say("");
    if (field !== "seed" || !text.trim()) return;
    const { before = {} } = this; // another field may have the focus when the module has come
    this.use(filling, ({ checkSeeds, followSeed }) => {
      const slot = this.slots.find((each) => each.id === id);
      const cell = this.question === FOLLOW_SEED ? followSeed(slot, before, text) : null;
      if (cell) this.store(id, cell);
      this.say(
        cell
          ? `Filled in the step that seed ${text.trim()} gives. Compare it with the step detail of your run.`
          : checkSeeds(this.question),
      );
    });
  }

  fill() {
    return this.use(filling, ({ fill }) => this.say(fill(this.slots)));
  }

  empty() {
    const { cells } = readState();
    const count = this.slots.filter((slot) => isStarted(cells[slot.id])).length;
    if (!count) return this.say("The table is empty already.");
    const question =
      `Delete the ${count === 1 ? "run" : `${count} runs`} in this table? ` +
      "Sent runs stay, so it can be filled from them again.";
    this.use(
      () => import("../../ui/dialog.mjs"),
      async ({ ask }) => {
        if (!(await ask({ question, yes: "Empty this table", no: "Keep it" }))) return this.say("Nothing was deleted.");
        changeState((state) => this.slots.forEach((slot) => delete state.cells[slot.id]));
        this.say("The table is empty.");
      },
    );
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
