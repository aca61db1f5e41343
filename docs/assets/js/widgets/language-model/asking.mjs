// The question of an opening, and what a finished run says about the guess.
import { button } from "../../ui/controls.mjs";
import { element } from "../../ui/element.mjs";
import { OPENINGS } from "./openings.mjs";

/**
 * { node, ask(name), verdict(run), hide(), close() }: `run()` is called when the reader has guessed or does not want
 * to, `next(settings)` when the second run is asked for.
 */
export function asking(run, next) {
  const node = element("div", { class: "lm-asked" });
  let opening = null;

  function ask(name) {
    const { ask: question, choices } = OPENINGS[name];
    opening = { name, guess: null, before: null };
    const guessed = (guess) => () => {
      opening.guess = guess;
      node.replaceChildren();
      run();
    };
    node.replaceChildren(element("div", { class: "lm-question", role: "group", "aria-label": "Your guess" }, element("p", {}, question),
      element("div", { class: "grpo-bar" }, choices.map((text, i) => button(text, guessed(i))),
        button("Run without a guess", guessed(null), { class: "grpo-button lm-quiet" }))));
  }

  /** The sentence after a run, or null; offers the second run. */
  function verdict(finished) {
    if (!opening) return null;
    const { name, guess, before } = opening;
    const { right, verdict: said, choices, then, next: label } = OPENINGS[name];
    const came = right(finished, before);
    if (then && !before) {
      node.replaceChildren(element("div", { class: "grpo-bar" }, button(label, () => {
        opening.before = finished;
        node.replaceChildren();
        next(then);
      }, { class: "grpo-button grpo-primary" })));
    }
    const decided = guess !== null && came !== null && (!before || right(before) === null);
    const how = came === guess ? "right" : came < 0 ? "none of the three came true" : `it was “${choices[came]}”`;
    return `${decided ? `You guessed “${choices[guess]}”: ${how}. ` : ""}${said(finished, before)}`;
  }

  function close() {
    opening = null;
    node.replaceChildren();
  }
  return { node, ask, verdict, close, hide: () => node.replaceChildren() };
}
