// <grpo-myth>: a claim with its correction, number, source and figure, as a card that can be linked to and saved.
import { button } from "../ui/controls.mjs";
import { element } from "../ui/element.mjs";
import { copy } from "../ui/files.mjs";
import { savePicture } from "../ui/picture.mjs";

class Myth extends HTMLElement {
  connectedCallback() {
    if (this.dataset.ready !== undefined) return; // it was moved on the page
    const heading = this.querySelector("h3");
    const claim = heading.firstChild.textContent.trim(); // without the theme's ¶
    // Each myth has a page that chats show with its own title and picture; a site on a disk has none.
    const address = new URL(location.protocol === "file:" ? `#${heading.id}` : `${heading.id}/`, location.href.split(/[?#]/)[0]).href;
    const told = element("span", { role: "status", class: "grpo-told" });
    this.append(element("div", { class: "grpo-bar", role: "group", "aria-label": `This card: ${claim}` },
      button("Save as image", () => {
        const [text, fact] = this.querySelectorAll(":scope > p");
        const number = this.querySelector("svg.grpo-chart") ? "" : fact.textContent;
        return savePicture(this, heading.id, { title: claim, number, words: text.textContent });
      }),
      button("Copy link", async () => {
        told.textContent = (await copy(address)) ? "Link copied." : address;
      }), told));
    this.dataset.ready = "";
  }
}

customElements.define("grpo-myth", Myth);
