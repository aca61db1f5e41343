// <grpo-path>: the cards of the home page. Pages that are done get a tick, and the first of the others can be continued
// with, here and at the top of the page.
import { element } from "../ui/element.mjs";
import { CHANGED, readProgress, stopAt } from "../ui/progress.mjs";
import { Widget } from "../ui/widget.mjs";

class Path extends Widget {
  setup() {
    this.append(...this.fallback);
    this.stops = [...this.querySelectorAll("li > a")].map((link) => ({ link, id: stopAt(link.pathname) }));
    this.start = document.querySelector(".grpo-actions .grpo-primary");
    this.first = this.start && { href: this.start.href, words: this.start.textContent };
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener(CHANGED, () => this.show(), { signal });
    window.addEventListener("storage", () => this.show(), { signal });
    this.show();
  }

  disconnectedCallback() {
    this.listening?.abort();
  }

  show() {
    const { done } = readProgress();
    this.querySelectorAll(".grpo-tick, .grpo-continue").forEach((node) => node.remove());
    for (const { link, id } of this.stops)
      if (done.includes(id)) link.before(element("span", { class: "grpo-tick", role: "img", "aria-label": "done:" }, "✓"));
    const next = this.stops.some(({ id }) => done.includes(id)) && this.stops.find(({ id }) => !done.includes(id));
    if (next) next.link.after(" ", element("strong", { class: "grpo-continue" }, "Continue here"));
    if (!this.start) return;
    this.start.href = next ? next.link.href : this.first.href;
    this.start.textContent = next ? `Continue: ${next.link.textContent}` : this.first.words;
  }
}

customElements.define("grpo-path", Path);
