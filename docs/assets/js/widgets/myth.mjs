// <grpo-myth>: a claim with its correction, number, source and figure, as a card that can be linked to and saved.
import { button } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { copy, download } from "../ui/files.mjs";
import { drawingOf } from "../ui/picture.mjs";

class Myth extends HTMLElement {
  connectedCallback() {
    if (this.dataset.ready !== undefined) return; // it was moved on the page
    const heading = this.querySelector("h3");
    const claim = heading.firstChild.textContent.trim(); // without the theme's ¶
    const address = new URL(`#${heading.id}`, location.origin + location.pathname).href;
    const told = element("span", { role: "status", class: "grpo-told" });
    this.append(element("div", { class: "grpo-bar", role: "group", "aria-label": `This card: ${claim}` },
      button("Save as image", () => {
        const [text, fact, source] = this.querySelectorAll(":scope > p");
        const [number, ...rest] = [...fact.childNodes].map((part) => part.textContent);
        const words = [rest.join(""), text.textContent, source.textContent, address];
        download(`${heading.id}.svg`, drawingOf(this, { title: `Myth: ${claim}`, number, words }), "image/svg+xml");
      }),
      button("Copy link", async () => {
        told.textContent = (await copy(address)) ? "Link copied." : address;
      }), told));
    this.dataset.ready = "";
  }
}

customElements.define("grpo-myth", Myth);
