// Words of the text that name a button or a box of a figure press it: "press *One correct*".
import { element } from "./element.mjs";

const CONTROLS = ".grpo-side :is(button, .grpo-option, .grpo-picks label), .grpo-bar button";

/** Turns such words of the page into buttons; a native one would not break where the line ends. */
export function linkWords(figure) {
  for (const word of document.querySelectorAll("article em")) {
    const text = word.textContent.toLowerCase();
    if (!named(figure, text) || word.closest(".grpo-explorable, button")) continue;
    const press = () => {
      const here = figure.isConnected ? figure : document.querySelector(figure.localName); // it may have been drawn anew
      const control = named(here, text);
      (control.querySelector("input") ?? control).click();
      here.scrollIntoView({ block: "nearest" });
    };
    const onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault(); // the space bar scrolls
      press();
    };
    word.replaceWith(element("span", { role: "button", tabindex: "0", class: "grpo-word", onclick: press, onkeydown }, word.textContent));
  }
}

/** The control that has this text, or begins with it. */
function named(figure, text) {
  const all = [...figure.querySelectorAll(CONTROLS)].map((node) => [node.textContent.trim().toLowerCase(), node]);
  return (all.find(([name]) => name === text) ?? all.find(([name]) => name.startsWith(`${text} `)))?.[1];
}
