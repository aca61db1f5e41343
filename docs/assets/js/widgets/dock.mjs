// <grpo-dock>: the worksheet beside the simulation, so that its steps need no change of page; in a narrow window the two are
// tabs. The worksheet is in a frame: it is the page itself, with its answers, and hears of sent runs as another tab would.
import { button } from "../ui/controls.mjs";
import { FRAME, isWide, readDock, saveDock } from "../ui/docked.mjs";
import { element } from "../ui/element.mjs";
import { Widget } from "../ui/widget.mjs";

const REPLACED = ["simulation", "comparison"]; // what reads its settings from the address

class Dock extends Widget {
  setup() {
    this.append(...this.fallback);
    if (location.protocol === "file:") return; // where a page may not look into a frame
    this.address = this.querySelector("a").href;
    this.simulation = button("Simulation", () => this.open(false));
    this.worksheet = button("Worksheet", () => this.open(!isWide() || !this.isOpen));
    this.replaceChildren(element("div", { class: "grpo-dock-tabs", role: "group", "aria-label": "Lab" }, this.simulation, this.worksheet));
    this.colours = new MutationObserver(() => this.colour());
    this.colours.observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
    this.open(readDock().open && isWide());
  }

  disconnectedCallback() {
    this.colours?.disconnect();
    document.documentElement.classList.remove("with-dock");
  }

  open(on) {
    this.isOpen = on;
    document.documentElement.classList.toggle("with-dock", on);
    this.simulation.setAttribute("aria-pressed", !on);
    this.worksheet.setAttribute("aria-pressed", on);
    if (on && !this.frame) {
      const { step } = readDock();
      this.frame = element("iframe", { name: FRAME, title: "Worksheet", src: step ? `${this.address}#${step}` : this.address,
        onload: () => this.listen() });
      this.append(this.frame);
    }
    saveDock({ open: on });
  }

  /** Links of the worksheet to the simulation change what stands beside it; others leave this page. */
  listen() {
    const inside = this.frame.contentDocument;
    this.colour();
    inside.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href]");
      if (!link || link.pathname === inside.location.pathname || /^(blob|javascript):/.test(link.href)) return;
      event.preventDefault();
      event.stopPropagation();
      if (link.pathname === location.pathname) this.show(link);
      else location.assign(link.href);
    }, true);
  }

  colour() {
    const { mdColorScheme } = document.body.dataset;
    if (this.frame?.contentDocument?.body) Object.assign(this.frame.contentDocument.body.dataset, { mdColorScheme });
  }

  /** The simulation as at another address of its page. */
  show({ search, hash }) {
    if (!isWide()) this.open(false);
    history.replaceState(history.state, "", location.pathname + search);
    for (const name of REPLACED) {
      const old = document.querySelector(`grpo-${name}`);
      const fresh = document.createElement(`grpo-${name}`);
      fresh.speed = old.speed; // no address holds it
      old.replaceWith(fresh);
    }
    import("./simulation.mjs");
    import("./comparison.mjs");
    const place = hash && document.querySelector(hash);
    if (place) place.scrollIntoView();
    else scrollTo({ top: 0 });
  }
}

customElements.define("grpo-dock", Dock);
