// A button that plays: it moves on by itself until the end, or until it is pressed again, another control of the figure is
// used, or the page is left. Nothing on the site plays before it is pressed.
import { button } from "./controls.mjs";

/** The button; `advance()` shows the next moment and returns whether there is another one after it. */
export function player({ advance, milliseconds = 500 }) {
  let timer = null;
  const node = button("Play", () => (timer === null ? play() : stop()), { class: "grpo-button grpo-primary" });
  const stop = () => {
    clearInterval(timer);
    timer = null;
    node.textContent = "Play";
  };
  const play = () => {
    node.textContent = "Pause";
    for (const kind of ["click", "input"]) node.closest(".grpo-explorable").addEventListener(kind, other);
    timer = setInterval(() => (!node.isConnected || !advance()) && stop(), milliseconds);
  };
  const other = ({ target }) => target !== node && target.matches("button, input, select") && stop();
  return node;
}
