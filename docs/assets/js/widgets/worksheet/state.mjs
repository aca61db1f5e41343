// What the widgets of the worksheet share: one state, kept in this browser, and a base class that follows its changes.
import { tidy } from "../../core/worksheet.mjs";
import { RUNS_KEY } from "../../ui/runs.mjs";
import { slices } from "../../ui/slices.mjs";
import { isStored, load, save } from "../../ui/storage.mjs";
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

/** Whether this browser keeps the state when the page is closed. */
export const isKept = () => isStored(KEY);

const { rest } = slices();
let last = Promise.resolve();

/** The page has twenty of these widgets, which all want to be built at once: it answers and draws between them. */
const turn = () => (last = last.then(rest));

/**
 * A widget with a method show(state, typing), called whenever the state changes, when a field is left, and when another
 * tab has sent a run. After a change in another tab `typing` is the element in which somebody writes here.
 */
export class WorksheetWidget extends Widget {
  async connectedCallback() {
    await turn();
    if (!this.isConnected) return;
    super.connectedCallback();
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener(CHANGED, (event) => this.show(event.detail), { signal });
    this.addEventListener("focusout", () => this.show(readState()), { signal });
    window.addEventListener(
      "storage",
      ({ key }) => {
        if ([KEY, RUNS_KEY, null].includes(key)) this.show(readState(), document.hasFocus() ? document.activeElement : null);
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

  /** Says what one of the actions answers, which worksheet.mjs knows; only some readers need them. */
  async use(act) {
    try {
      this.say(await act(await WorksheetWidget.actions()));
    } catch (error) {
      this.say(`Something went wrong: ${error.message}. Check your connection, reload the page and try again.`);
      reportError(error);
    }
  }

  /** Like use(), for a button: a second click before the first is done does nothing. */
  async act(name, options) {
    if (this.isBusy) return;
    this.isBusy = true;
    const { signal } = this.listening;
    await this.use((actions) => actions[name]({ ...options, signal }));
    this.isBusy = false;
  }
}

/**
 * Shows a text in a field. What somebody is typing there stays; returns whether it must be stored again, because
 * another tab has deleted it.
 */
export function setField(field, text, typing) {
  if (field === typing && field.value) return !text;
  if (field.value !== text) field.value = text;
  return false;
}
