// "Guess first": the reader sets a slider, presses Show and reads the truth and how far off the guess was. A figure asks by
// `static guess = { ask, of, values, show, truth }`: `of` is the state that the question is about, `truth(figure)` reads the
// figure's own numbers, values and show are those of a slider. The guess stays in the browser and in the address.
import { button, slider } from "./controls.mjs";
import { element } from "./element.mjs";
import { fixed } from "./format.mjs";
import { load, save } from "./storage.mjs";

/** { opener, restore(), close() }: the button of a figure, a guess from the address, and the end of a guess. */
export function guessing(figure, { ask, of, values, show = (x) => fixed(x), truth }, { stage, side }) {
  const key = `guess.${figure.key}`;
  const off = (guess) => show(Math.abs(guess - truth(figure)));
  const opener = button("Guess first", () => open().focus(), { class: "grpo-button grpo-guess-first" });
  let cover, other;

  /** Covers the picture with the question; returns the slider. */
  function open() {
    figure.set(of);
    opener.disabled = side.inert = true;
    figure.classList.add("grpo-guessing");
    let guess = values[values.length >> 1];
    const { node, input } = slider({ label: ask, values, value: guess, show, change: (value) => (guess = value) });
    cover = element("div", { class: "grpo-guess", role: "group", "aria-label": "Your guess" }, node, element("div", { class: "grpo-bar" },
      button("Show", () => {
        close();
        save(key, guess);
        tell(guess);
        opener.focus();
      }),
      button("Cancel", () => {
        figure.show();
        opener.focus();
      })));
    stage.append(cover);
    figure.status.textContent = other === undefined ? "Set the slider to your guess, then press Show."
      : `Somebody guessed ${show(other)} and was off by ${off(other)}. Your turn.`;
    return input;
  }

  function close() {
    cover?.remove();
    opener.disabled = side.inert = false;
    figure.classList.remove("grpo-guessing");
  }

  function tell(guess) {
    const error = off(guess) === show(0) ? "You are right" : `It is ${show(truth(figure))}: you were off by ${off(guess)}`;
    const next = other === undefined ? "Copy the link to ask somebody else." : `Somebody else was off by ${off(other)}.`;
    figure.status.textContent = `You guessed ${show(guess)}. ${error}. ${next}`;
    figure.write({ guess });
  }

  function restore() {
    const guess = values.find((value) => String(value) === figure.read("guess"));
    if (guess === undefined) return;
    if (load(key, null) === guess) {
      figure.set(of);
      tell(guess);
    } else {
      other = guess;
      open();
      figure.write({ guess }); // a reload asks again
    }
  }

  return { opener, restore, close };
}
