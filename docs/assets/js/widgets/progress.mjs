// <grpo-progress>: the ring in the header says how many stops are done, and opens their list.
import { element } from "../ui/element.mjs";
import { CHANGED, readProgress, stopAt } from "../ui/progress.mjs";
import { Widget } from "../ui/widget.mjs";

class Progress extends Widget {
  setup() {
    const circle = (style) => element("circle", { class: style, cx: 16, cy: 16, r: 13, pathLength: 1 });
    this.arc = circle("arc");
    this.count = element("text", { x: 16, y: 20.5, "text-anchor": "middle" });
    this.button = element("button", { type: "button", class: "grpo-ring", "aria-haspopup": "dialog", onclick: () => this.open() },
      element("svg", { viewBox: "0 0 32 32", "aria-hidden": "true" }, circle("rail"), this.arc, this.count));
    this.append(this.button);
    document.addEventListener(CHANGED, () => this.show());
    window.addEventListener("storage", () => this.show());
    if (window.document$) window.document$.subscribe(() => this.arrive());
    else this.arrive();
  }

  /** The stops of the course in the navigation: [{ id, title, address }]. */
  get stops() {
    const links = [...document.querySelectorAll(".md-nav--primary a.md-nav__link:not([href*='#'])")];
    return links.map((link) => ({ id: stopAt(link.pathname), title: link.textContent.trim(), address: link.href })).filter(({ id }) => id);
  }

  async arrive() {
    this.show();
    if (/^learn/.test(stopAt(location.pathname))) (await import("./progress/chapter.mjs")).watchEnd();
  }

  show() {
    const { done, finished } = readProgress();
    const { stops } = this;
    const count = stops.filter(({ id }) => done.includes(id)).length;
    const isWhole = count > 0 && count === stops.length;
    this.arc.setAttribute("stroke-dasharray", `${count / stops.length || 0} 2`);
    this.count.textContent = count || "";
    this.classList.toggle("whole", isWhole);
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
