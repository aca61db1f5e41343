// Asks before something is lost. A modal <dialog>: the browser keeps the focus in it, and Escape means no.
import { button } from "./controls.mjs";
import { element, uniqueId } from "./element.mjs";

/** Shows a question with two buttons; whether `yes` was pressed. The abort signal of the asking widget means no. */
export function ask({ question, yes, no, signal }) {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const id = uniqueId("question");
    const close = (value) => () => dialog.close(value);
    const dialog = element(
      "dialog",
      { class: "grpo-dialog", "aria-labelledby": id },
      element("p", { id }, question),
      element("div", { class: "grpo-bar" }, button(no, close("")), button(yes, close("yes"))),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    signal.addEventListener("abort", close(""));
    document.body.append(dialog);
    dialog.showModal(); // the focus is on the first button, which changes nothing
  });
}
