// What the widgets of the worksheet share: one state, kept in this browser.
import { tidy } from "../../core/worksheet.mjs";
import { isStored, load, save } from "../../ui/storage.mjs";

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

/** Calls changed(state, elsewhere) after every change; `elsewhere` if another tab made it. */
export function followState(changed, { signal }) {
  document.addEventListener(CHANGED, (event) => changed(event.detail, false), { signal });
  window.addEventListener("storage", ({ key }) => (key === KEY || key === null) && changed(readState(), true), { signal });
}
