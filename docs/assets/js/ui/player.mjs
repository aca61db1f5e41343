// Plays: a film moves on by itself until the end, or until its button is pressed again, another control of the figure is
// used, or the page is left. Nothing on the site plays before it is pressed.
import { button } from "./controls.mjs";
import { element } from "./element.mjs";

const SPEEDS = [1, 2, 0.5];

/** The button; `advance()` shows the next moment and returns whether there is another one after it. */
export function player({ advance, milliseconds = () => 500 }) {
  let timer = null;
  const node = button("Play", () => (timer === null ? play() : stop()), { class: "grpo-button grpo-primary" });
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    node.textContent = "Play";
  };
  const wait = () => (timer = setTimeout(() => (node.isConnected && advance() ? wait() : stop()), milliseconds()));
  const play = () => {
    node.textContent = "Pause";
    for (const kind of ["click", "input"]) node.closest(".grpo-explorable").addEventListener(kind, other);
    wait();
  };
  const other = ({ target }) =>
    target !== node && target.matches("button, input, select") && !target.matches(".grpo-speed") && stop();
  return node;
}

/**
 * Restart, Back, Play, Next and the speed of a film: { node, show() }; `at()` is the frame that is shown or lies before,
 * `go(frame)` shows another.
 */
export function transport({ frames, at, go, milliseconds = 1000 }) {
  let speed = 0;
  const previous = () => frames.filter((frame) => frame < at()).at(-1);
  const next = () => frames.find((frame) => frame > at());
  const to = (frame) => frame !== undefined && go(frame);
  const play = player({
    milliseconds: () => milliseconds / SPEEDS[speed],
    advance: () => {
      go(next() ?? frames[0]);
      return next() !== undefined;
    },
  });
  const faster = button("1×", () => {
    speed = (speed + 1) % SPEEDS.length;
    faster.textContent = `${SPEEDS[speed]}×`;
    faster.ariaLabel = `Speed ${SPEEDS[speed]}×`;
  }, { class: "grpo-button grpo-speed", "aria-label": "Speed 1×" });
  const back = button("Back", () => to(previous()));
  const forward = button("Next", () => to(next()));
  const show = () => {
    back.ariaDisabled = String(previous() === undefined); // not `disabled`, which would take the focus away
    forward.ariaDisabled = String(next() === undefined);
  };
  const restart = button("Restart", () => go(frames[0]));
  return { node: element("div", { class: "grpo-bar", role: "group", "aria-label": "Film" }, restart, back, play, forward, faster), show };
}
