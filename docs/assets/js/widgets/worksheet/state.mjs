// What the widgets of the worksheet share: one state, kept in this browser, and a base class that follows its changes.
import { tidy } from "../../core/worksheet.mjs";
import { load, save } from "../../ui/storage.mjs";
import { Widget } from "../../ui/widget.mjs";

const KEY = "grpo-worksheet-v1";
const CHANGED = "grpo-worksheet"; // event of the document

/** The state, see core/worksheet.mjs. Read anew each time: another tab may have changed it. */
export const readState = () => tidy(load(KEY, null));

/** Changes the state in place and stores it at once. */
export function changeState(change) {
  const state = readState();
  change(state);
  save(KEY, state);
  document.dispatchEvent(new CustomEvent(CHANGED, { detail: state }));
}

/** Forgets everything. */
export function clearState() {
  save(KEY, null);
  document.dispatchEvent(new CustomEvent(CHANGED, { detail: readState() }));
}

/** Whether this browser keeps the state when the page is closed. */
export const isKept = () => save("grpo-probe", 1) && save("grpo-probe", null);

/**
 * A widget with a method show(state, typing), called whenever the state changes. After a change in another tab `typing`
 * is the element in which somebody writes here.
 */
export class WorksheetWidget extends Widget {
  connectedCallback() {
    super.connectedCallback();
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener(CHANGED, (event) => this.show(event.detail), { signal });
    window.addEventListener(
      "storage",
      ({ key }) => {
        if (key === KEY || key === null) this.show(readState(), document.hasFocus() ? document.activeElement : null);
      },
      { signal },
    );
    this.show(readState());
  }

  disconnectedCallback() {
    this.listening?.abort();
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  /** Loads a module that only some readers need, and uses it. */
  async use(load, act) {
    let module;
    try {
      module = await load();
    } catch {
      return this.say(
        "A part of this page could not be loaded. Check your connection and try again; what you wrote is safe.",
      );
    }
    return act(module);
  }
}

/** Shows a text in a field, unless somebody is typing there. */
export function setField(field, text, typing) {
  if (field !== typing && field.value !== text) field.value = text;
}
