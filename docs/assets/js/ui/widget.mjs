// Base of every widget: a custom element in the page, without shadow DOM, so that the theme's styles reach it.
//
// The static text inside the tag is what search, print and readers without scripts get; setup() replaces it. The browser
// calls connectedCallback when instant navigation swaps a page in, so no widget needs the theme's events.

export class Widget extends HTMLElement {
  connectedCallback() {
    if (this.dataset.ready !== undefined) return; // it was moved on the page
    this.path = location.pathname; // instant navigation changes the address before it removes the old page
    this.key = this.getAttribute("key") ?? this.constructor.key ?? this.localName.replace("grpo-", "");
    this.fallback = [...this.childNodes];
    this.replaceChildren();
    try {
      this.setup();
    } catch (error) {
      this.replaceChildren(...this.fallback); // better the static text than a hole
      throw error;
    } finally {
      this.dataset.ready = "";
    }
  }

  /** Builds the widget. */
  setup() {
    throw new Error(`${this.localName} has no setup()`);
  }

  /** A value of the page's address (?key.name=value), else of the attribute, else null. */
  read(name) {
    return new URLSearchParams(location.search).get(`${this.key}.${name}`) ?? this.getAttribute(name);
  }

  /** Keeps values in the page's address, so that a reload or a copied link brings them back; null removes one. */
  write(values) {
    if (!this.isConnected || location.pathname !== this.path) return;
    try {
      history.replaceState(history.state, "", this.addressWith(values));
    } catch {
      // Safari refuses more than 100 changes in 30 s; the next one writes everything.
    }
  }

  /** The page's address with some values of this widget changed. */
  addressWith(values) {
    const address = new URL(location.href);
    for (const [name, value] of Object.entries(values)) {
      if (value === null) address.searchParams.delete(`${this.key}.${name}`);
      else address.searchParams.set(`${this.key}.${name}`, value);
    }
    return address;
  }
}
