// <grpo-progress>: the ring in the header says how many stops are done, and opens their list.
import { PATH } from "../core/path.mjs";
import { element } from "../ui/element.mjs";
import { CHANGED, isRead, readProgress, stopAt } from "../ui/progress.mjs";
import { ring } from "../ui/ring.mjs";
import { Widget } from "../ui/widget.mjs";

class Progress extends Widget {
  setup() {
    this.ring = ring();
    this.button = element("button", { type: "button", class: "grpo-ring", "aria-haspopup": "dialog", onclick: () => this.open() }, this.ring.node);
    this.append(this.button);
    document.addEventListener(CHANGED, () => this.show());
    window.addEventListener("storage", () => this.show());
    if (window.document$) window.document$.subscribe(() => this.arrive());
    else this.arrive();
  }

  /** The stops of the path, with the titles and addresses of the menu: [{ id, title, address }]. */
  get stops() {
    const links = [...document.querySelectorAll(".md-nav--primary a.md-nav__link:not([href*='#'])")];
    const pages = new Map(links.map((link) => [stopAt(link.pathname), { title: link.textContent.trim(), address: link.href }]));
    return PATH.filter((id) => pages.has(id)).map((id) => ({ id, ...pages.get(id) }));
  }

  async arrive() {
    this.show();
    const stop = stopAt(location.pathname);
    const above = document.querySelector(".md-footer")?.getBoundingClientRect().top > innerHeight; // before the script comes
    if (stop && isRead(stop)) (await import("./progress/chapter.mjs")).watchEnd(above);
  }

  show() {
    const { done, finished } = readProgress();
    const { stops } = this;
    const count = stops.filter(({ id }) => done.includes(id)).length;
    const isWhole = count > 0 && count === stops.length;
    this.ring.show(count, stops.length);
    this.button.title = `${count} of ${stops.length} done`;
    this.button.setAttribute("aria-label", this.button.title);
    if (isWhole && !finished) this.open(); // once
  }

  async open() {
    const { showStops } = await import("./progress/stops.mjs");
    if (!document.querySelector(".grpo-stops")) showStops(this.stops);
  }
}

customElements.define("grpo-progress", Progress);
