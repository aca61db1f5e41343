// "Guess first": a figure is covered by a question until the reader has guessed or skips it; then the guess is drawn beside
// the truth. A figure asks by `static guess = { ask, of, values, show, truth }`: `of` is the state that the question is about,
// `truth(figure)` reads the figure's own numbers, values and show are those of a slider, which begins without a value. The
// guess stays in the browser and in the address, so a link asks the next reader, who sees both guesses after the own one.
import { button, slider } from "./controls.mjs";
import { element } from "./element.mjs";
import { fixed } from "./format.mjs";
import { load, save } from "./storage.mjs";

const SKIPPED = "skipped";

/** { begin(), close(), made(), told() }: asks if there is reason to, ends the question, the guesses about what is shown, and
 * the question with its answer, for a picture; null if none is shown. */
export function guessing(figure, { ask, of, values, show = (x) => fixed(x), truth }, body) {
  const key = `guess.${figure.key}`;
  const valid = (guess) => values.find((value) => String(value) === String(guess));
  let cover;
  let answered = "";
  let guesses = []; // { value, name }, the reader's own one first

  function begin() {
    const [own, other] = [load(key, null), figure.read("guess")].map(valid);
    if (other !== undefined) guesses = [{ value: other, name: "they" }];
    if (own !== undefined && other !== undefined) tell(own);
    else if (other !== undefined || (load(key, null) === null && !isAddressed())) open();
  }

  /** Whether the page or a link wants to show a certain state. */
  const isAddressed = () => Object.keys(figure.controls).some((name) => figure.read(name) !== null);

  function open() {
    let guess;
    const one = slider({ label: ask, values, value: values[values.length >> 1], show, change: take });
    const ready = button("Show", () => (guess === undefined ? one.input.focus() : answer(guess)), { class: "grpo-button grpo-primary", "aria-disabled": "true" });
    function take(value) {
      guess = value;
      one.set(value);
      ready.ariaDisabled = "false";
      cover.classList.remove("unset");
    }
    one.input.addEventListener("pointerup", () => take(values[one.input.valueAsNumber])); // also where the hidden handle is
    one.input.setAttribute("aria-valuetext", "no guess yet");
    one.node.querySelector("output").textContent = "?";
    cover = element("div", { class: "grpo-guess unset", role: "group", "aria-label": "Guess first" }, one.node,
      element("div", { class: "grpo-bar grpo-ends", "aria-hidden": "true" }, ...[values[0], values.at(-1)].map((end) => element("span", {}, show(end)))),
      element("div", { class: "grpo-bar" }, ready, button("Skip", skip)));
    figure.classList.add("grpo-guessing");
    body.append(cover);
    figure.status.textContent = guesses.length ? "Somebody sends you this question. You see their guess after yours."
      : "Guess first: move the slider, then press Show.";
  }

  function answer(guess) {
    save(key, guess);
    figure.set(of);
    tell(guess);
    hand();
  }

  function skip() {
    if (load(key, null) === null) save(key, SKIPPED);
    figure.show();
    hand();
  }

  /** The keyboard goes on in what was covered. */
  const hand = () => figure.querySelector("[role=tab], button").focus({ preventScroll: true });

  function close() {
    cover?.remove();
    figure.classList.remove("grpo-guessing");
  }

  function tell(guess) {
    const others = guesses.filter(({ name, value }) => name !== "you" && value !== guess); // a reload reads the own one back
    guesses = [{ value: guess, name: "you" }, ...others];
    Object.assign(figure.state, of);
    for (const name in of) figure.controls[name].set(of[name]);
    figure.draw(figure.state);
    const off = show(Math.abs(guess - truth(figure))).replace(/\s?%$/, " points");
    const error = parseFloat(off) === 0 ? "You are right" : `It is ${show(truth(figure))}: you were off by ${off}`;
    const next = others.length ? `They guessed ${show(others[0].value)}.` : "Copy the link to ask somebody else.";
    answered = `You guessed ${show(guess)}. ${error}.`;
    figure.status.textContent = `${answered} ${next}`;
    figure.write({ guess });
  }

  const isAbout = (state) => Object.entries(of).every(([name, value]) => state[name] === value);
  const made = () => (guesses[0]?.name === "you" && isAbout(figure.state) ? guesses.map((one) => ({ ...one, text: `${one.name} ${show(one.value)}` })) : []);
  const told = () => (made().length ? { title: ask, words: answered } : null);
  return { begin, close, made, told };
}
