// Runs before the theme's script and keeps it from work that would cost a phone more than all of the page's own code. Both generators work in the same way here; if one day they work in another, pages are only slower.
{
  // The index of the search is larger than all the rest. It comes when the search is opened, or at once where the words of
  // a search are to be marked (?h=).
  const { open, send } = XMLHttpRequest.prototype;
  const late = new WeakSet();
  const opened = new Promise((searched) => {
    const search = "[data-md-toggle=search], [data-md-component=search]";
    for (const kind of ["change", "click"])
      document.addEventListener(kind, ({ target }) => target.closest(search) && searched(), true);
  });
  XMLHttpRequest.prototype.open = function (method, address, ...rest) {
    if (/\/search(_index)?\.json$/.test(address)) late.add(this);
    open.call(this, method, address, ...rest);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    if (!late.has(this) || /[?&]h=/.test(location.search)) send.apply(this, body);
    else opened.then(() => send.apply(this, body));
  };

  // The search takes every word for the beginning of one: "in" finds "increasing". So words that say nothing are left out,
  // and names are spelled as in the headings. It never finds "tis", which it takes for a word that says nothing.
  const FILLERS = /\b(?:an?|and|are|at|but|can|do|does|for|how|i|in|is|it|its|my|of|on|or|the|then|to|what|when|why|with)\b/gi;
  const ALIASES = {
    __proto__: null, tis: "truncated importance sampling", reward_std: "reward std",
    increase: "rise", increases: "rise", increasing: "rise", improve: "rise", improving: "rise", rising: "rise",
  };
  const asked = (words) => words.replace(FILLERS, "").replace(/\w+/g, (word) => ALIASES[word.toLowerCase()] ?? word).trim() || words;

  // So does the script that searches, with the first message to it.
  const { Worker } = window;
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.address = new URL(address, location.href); // of this page, not of one that is followed
    }
    postMessage(message) {
      if (typeof message.data === "string") message = { ...message, data: asked(message.data) };
      if (!this.worker) {
        this.worker = new Worker(this.address);
        this.worker.addEventListener("message", ({ data }) => this.dispatchEvent(new MessageEvent("message", { data })));
      }
      this.worker.postMessage(message);
    }
  };
  addEventListener("load", () => (window.Worker = Worker));

  // While the first colors are set, the theme stops all transitions and names the color scheme in a <meta>, though the
  // style sheets have one already. Each makes the browser compute the styles of the whole page once more, or twice.
  const { body, head } = document;
  body.setAttribute = (name, value) => name === "data-md-color-switching" || Element.prototype.setAttribute.call(body, name, value);
  addEventListener("load", () => delete body.setAttribute);
  head.appendChild = (node) => (node.name === "color-scheme" ? node : Node.prototype.appendChild.call(head, node));

  // Instant navigation makes all addresses absolute, which reads the style sheets again. That waits for the first link that
  // is followed: the next page has the same sheets, and the theme compares them by their addresses.
  const sheets = document.querySelectorAll("link[rel=stylesheet]");
  for (const sheet of sheets) Object.defineProperty(sheet, "href", { value: sheet.href, writable: true, configurable: true });
  addEventListener("click", function follow({ target }) {
    if (!target.closest?.("a[href]")) return;
    removeEventListener("click", follow, true);
    for (const sheet of sheets) {
      delete sheet.href;
      sheet.href = new URL(sheet.href).href;
    }
  }, true);
}
