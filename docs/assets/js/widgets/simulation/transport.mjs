// One bar for the film of a run: run or pause, one step, reset, the step that is shown, speed. All else is in a menu.
import { element } from "../../ui/element.mjs";
import { menu } from "../../ui/menu.mjs";
import { picks } from "../../ui/picks.mjs";

const ICONS = {
  play: "M3.5 1.5v13l11-6.5z",
  pause: "M3 2h3.5v12H3zM9.500 2H13v12H9.500z",
  step: "M2 2v12l8-6zM11 2h3v12h-3z",
  reset: "M8 2.500a5.500 5.500 0 1 1-5.300 4l2.100.6A3.400 3.400 0 1 0 8 4.600V7L3.800 3.500 8 0z",
};
export const AT_ONCE = Infinity;
const SPEEDS = [[0.5, "½×"], [1, "1×"], [4, "4×"], [20, "20×"], [AT_ONCE, "at once"]];

const icon = (d) => element("svg", { viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" }, element("path", { d }));
const round = (name, shape, onclick) =>
  element("button", { type: "button", class: "grpo-round", "aria-label": name, title: name, onclick }, icon(ICONS[shape]));

/**
 * The bar { node, show({ step, steps, label, playing }) }. `run`, `step`, `reset`, `seek(step)` and `pace(speed)` are called
 * by its controls; `actions` are [name, what it does] of the menu; `settings` is the button of the sheet.
 */
export function transport({ run, step, reset, seek, pace, speed, actions, settings }) {
  const label = element("span");
  const picture = icon(ICONS.play);
  const main = element("button", { type: "button", class: "grpo-button grpo-primary grpo-run", onclick: run }, picture, label);
  const count = element("span", { class: "grpo-value grpo-count" });
  const time = element("input", { type: "range", min: 0, "aria-label": "Read step", oninput: () => seek(time.valueAsNumber) });
  const speeds = picks({ label: "Speed", options: SPEEDS, value: speed, change: pace });
  const node = element("div", { class: "grpo-transport", role: "group", "aria-label": "Run" },
    main, round("One step", "step", step), round("Reset", "reset", reset), count,
    element("div", { class: "grpo-control grpo-time" }, time), speeds.node, settings, menu(actions));

  function show({ step: at, steps, label: text, playing }) {
    label.textContent = text;
    picture.firstChild.setAttribute("d", playing ? ICONS.pause : ICONS.play);
    count.textContent = steps && at < steps ? `step ${at} of ${steps}` : `step ${at}`;
    time.max = Math.max(1, steps);
    time.disabled = steps === 0;
    time.value = at;
    time.setAttribute("aria-valuetext", `step ${at}`);
    time.style.setProperty("--at", `${(100 * at) / (steps || 1)}%`);
  }
  return { node, show };
}
