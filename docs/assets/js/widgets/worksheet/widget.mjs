// The base class of the worksheet's widgets: it follows the state, and runs what a button does.
import { Widget } from "../../ui/widget.mjs";
import { followState, readState } from "./state.mjs";

/**
 * A widget with a method show(state, typing), called whenever the state changes and when a field is left. After a
 * change in another tab `typing` is the element in which somebody writes here.
 */
export class WorksheetWidget extends Widget {
  connectedCallback() {
    super.connectedCallback();
    this.listening = new AbortController();
    const { signal } = this.listening;
    const typing = () => (document.hasFocus() ? document.activeElement : null);
    followState((state, elsewhere) => this.show(state, elsewhere ? typing() : undefined), { signal });
    this.addEventListener("focusout", () => this.show(readState()), { signal });
    this.show(readState());
  }

  disconnectedCallback() {
    this.listening?.abort();
  }

  say(sentence) {
    this.status.textContent = sentence;
  }

  /** Says what one of actions.mjs answers; only some readers need them. */
  async use(act) {
    try {
      this.say(await act(await import("./actions.mjs")));
    } catch (error) {
      this.say(`This did not work: ${error.message}. Check your connection, reload the page and try again.`);
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
