// As much of a browser's document as figures need to draw their first state: nodes with attributes, and no layout.
class Style {
  setProperty(name, value) { this[name] = value; }
  getPropertyValue(name) { return this[name] ?? ""; }
  removeProperty(name) { delete this[name]; }
}

class ClassList {
  constructor(node) { this.node = node; }
  get all() { return (this.node.getAttribute("class") ?? "").split(/\s+/).filter(Boolean); }
  set(names) { this.node.setAttribute("class", [...new Set(names)].join(" ")); }
  contains(name) { return this.all.includes(name); }
  add(...names) { this.set([...this.all, ...names]); }
  remove(...names) { this.set(this.all.filter((name) => !names.includes(name))); }
  toggle(name, on = !this.contains(name)) { this[on ? "add" : "remove"](name); }
}

class Text {
  constructor(text) { this.textContent = String(text); }
  remove() { this.parentNode?.drop(this); }
  cloneNode() { return new Text(this.textContent); }
  get outerHTML() { return escaped(this.textContent); }
}

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
const simple = /^([\w-]*)((?:\.[\w-]+|\[[\w-]+(?:="[^"]*")?\])*)$/;

class HTMLElement {
  constructor(name = "div") {
    Object.assign(this, { localName: name, attributes: new Map(), childNodes: [], style: new Style(), parentNode: null, isConnected: true });
    this.classList = new ClassList(this);
    const key = (name) => `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    this.dataset = new Proxy({}, {
      get: (_, name) => this.getAttribute(key(name)) ?? undefined,
      set: (_, name, value) => (this.setAttribute(key(name), value), true),
      deleteProperty: (_, name) => (this.removeAttribute(key(name)), true),
    });
  }
  getAttribute(name) { return this.attributes.get(name) ?? null; }
  hasAttribute(name) { return this.attributes.has(name); }
  setAttribute(name, value) { this.attributes.set(name, String(value)); }
  removeAttribute(name) { this.attributes.delete(name); }
  toggleAttribute(name, on = !this.hasAttribute(name)) { on ? this.setAttribute(name, "") : this.removeAttribute(name); }
  get id() { return this.getAttribute("id") ?? ""; }
  set id(value) { this.setAttribute("id", value); }
  get className() { return this.getAttribute("class") ?? ""; }
  set className(value) { this.setAttribute("class", value); }
  get children() { return this.childNodes.filter((node) => node instanceof HTMLElement); }
  get firstChild() { return this.childNodes[0] ?? null; }
  get lastChild() { return this.childNodes.at(-1) ?? null; }
  get rows() { return this.children; }
  set rows(value) { Object.defineProperty(this, "rows", { value, writable: true }); } // a figure's own
  get cells() { return this.children; }
  set cells(value) { Object.defineProperty(this, "cells", { value, writable: true }); }
  get valueAsNumber() { return Number(this.value); }
  get parentElement() { return this.parentNode; }
  get textContent() { return this.childNodes.map((node) => node.textContent).join(""); }
  set textContent(text) { this.replaceChildren(text); }
  adopt(nodes) {
    return nodes.map((node) => {
      const child = node instanceof HTMLElement || node instanceof Text ? node : new Text(node);
      child.remove();
      child.parentNode = this;
      return child;
    });
  }
  drop(node) { this.childNodes = this.childNodes.filter((each) => each !== node); }
  append(...nodes) { this.childNodes.push(...this.adopt(nodes)); }
  prepend(...nodes) { this.childNodes.unshift(...this.adopt(nodes)); }
  appendChild(node) { this.append(node); return node; }
  replaceChildren(...nodes) { this.childNodes = []; this.append(...nodes); }
  before(...nodes) { const all = this.parentNode.childNodes; all.splice(all.indexOf(this), 0, ...this.parentNode.adopt(nodes)); }
  after(...nodes) { const all = this.parentNode.childNodes; all.splice(all.indexOf(this) + 1, 0, ...this.parentNode.adopt(nodes)); }
  remove() { this.parentNode?.drop(this); }
  addEventListener() {}
  removeEventListener() {}
  focus() {}
  getBoundingClientRect() { return { left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 }; }
  matches(selector) {
    return selector.split(",").some((each) => {
      const parts = simple.exec(each.trim());
      if (!parts) throw new Error(`no selector of this document: ${each}`);
      return (!parts[1] || parts[1] === this.localName) && (parts[2].match(/\.[\w-]+|\[[^\]]+\]/g) ?? []).every((part) => {
        if (part[0] === ".") return this.classList.contains(part.slice(1));
        const [name, value] = part.slice(1, -1).split("=");
        return this.hasAttribute(name) && (value === undefined || `"${this.getAttribute(name)}"` === value);
      });
    });
  }
  closest(selector) { return this.matches(selector) ? this : this.parentNode?.closest(selector) ?? null; }
  querySelectorAll(selector) {
    const inside = this.children.flatMap((node) => [node, ...node.querySelectorAll("")]);
    if (!selector) return inside;
    const found = (node) => selector.split(",").some((each) => {
      const path = each.replace(/:scope\s*>?/g, "").trim().split(/\s*>\s*|\s+/);
      return node.matches(path.pop()) && path.every((part) => node.parentNode?.closest(part));
    });
    return inside.filter(found);
  }
  querySelector(selector) { return this.querySelectorAll(selector)[0] ?? null; }
  cloneNode() {
    const twin = new HTMLElement(this.localName);
    for (const [name, value] of this.attributes) twin.setAttribute(name, value);
    twin.append(...this.childNodes.map((node) => node.cloneNode()));
    return twin;
  }
  get outerHTML() {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
    return `<${this.localName}${attributes}>${this.childNodes.map((node) => node.outerHTML).join("")}</${this.localName}>`;
  }
}

const defined = new Map();
const sized = [];
const body = new HTMLElement("body");
Object.assign(globalThis, {
  HTMLElement,
  document: Object.assign(body, {
    body, head: new HTMLElement("head"), documentElement: new HTMLElement("html"), hidden: true, activeElement: body,
    createElement: (name) => new HTMLElement(name),
    createElementNS: (_, name) => new HTMLElement(name),
    createTextNode: (text) => new Text(text),
    dispatchEvent: () => {},
  }),
  customElements: { define: (name, type) => defined.set(name, type), get: (name) => defined.get(name) },
  location: { href: "https://site.example/", pathname: "/", search: "", hash: "", origin: "https://site.example", protocol: "https:" },
  performance: { now: () => 0 },
  history: { replaceState: () => {} },
  URLSearchParams: class { get() { return null; } },
  matchMedia: () => ({ matches: true, addEventListener: () => {} }), // motion is reduced: a figure shows where it arrives
  ResizeObserver: class { constructor(tell) { this.tell = tell; } observe(node) { sized.push({ node, tell: this.tell }); } disconnect() {} unobserve() {} },
  IntersectionObserver: class { observe() {} disconnect() {} unobserve() {} },
  MutationObserver: class { observe() {} disconnect() {} },
  requestAnimationFrame: () => 0, cancelAnimationFrame: () => {}, setTimeout: () => 0, clearTimeout: () => {},
  addEventListener: () => {}, removeEventListener: () => {},
  localStorage: { getItem: () => null, setItem: () => {}, removeItem: () => {} },
  getComputedStyle: () => new Style(),
});
globalThis.window = globalThis;

/** The class of a figure. */
function typeOf(name) {
  needed(`widgets/${name.slice(5)}.mjs`);
  return defined.get(name);
}

const asks = (name) => Boolean(typeOf(name).guess);

/** The charts of a figure in its first state, drawn at a width, and its sentence. */
function firstState(name, attributes, width) {
  sized.length = 0;
  body.replaceChildren();
  const figure = new (typeOf(name))();
  figure.localName = name;
  for (const [key, value] of Object.entries(attributes)) figure.setAttribute(key, value);
  body.append(figure);
  figure.connectedCallback();
  const nodes = figure.querySelectorAll(".grpo-chart").filter((node) => !["[hidden]", "button", ".grpo-legend-item"].some((inside) => node.closest(inside)));
  for (const { node, tell } of sized) tell([{ target: node, contentRect: { width, height: Number(node.getAttribute("height")) } }]);
  const scope = `${name} grpo-explorable grpo-picture`;
  const charts = nodes.map((node) => ({ node, width, height: Number(node.getAttribute("height")), scope }));
  const legend = figure.querySelectorAll(".grpo-legend-item").filter((node) => !node.closest("[hidden]"))
    .map((item) => ({ node: item.querySelector("svg"), text: item.textContent, scope }));
  return { charts, legend, height: charts.reduce((sum, chart) => sum + chart.height, 0), sentence: figure.status?.textContent ?? "" };
}

/** The card of a page as SVG, with a figure in its first state if one is named; nothing if that has no charts.
    A picture does not give away what the figure asks. */
function pageCard(page, figure) {
  const { card } = needed("ui/card.mjs");
  if (!figure) return card(page).outerHTML;
  if (asks(figure.name)) return card({ ...page, words: page.words || typeOf(figure.name).guess.ask }).outerHTML;
  const { charts, legend, sentence } = drawn(figure);
  return charts.length ? card({ ...page, words: page.words || sentence, charts, legend }).outerHTML : "";
}

/** Charts narrower than the card are enlarged, so their words can be read in a chat. */
function drawn({ name, attributes }) {
  const { height } = firstState(name, attributes, 720);
  return firstState(name, attributes, height > 360 ? 620 : 720);
}
