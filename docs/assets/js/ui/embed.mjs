// ?embed=NAME shows one figure of the page alone, for an <iframe> on another page, with a link back to this one.
import { element } from "./element.mjs";

/** The code that embeds a figure with what it shows now, as high as here. */
export function embedding(figure, title) {
  const address = new URL(location.href);
  address.searchParams.set("embed", figure.key);
  address.hash = "";
  const height = figure.offsetHeight + 48; // with the link back
  return element("iframe", { src: address.href, title, width: "100%", height, style: "border: 0", loading: "lazy" }).outerHTML;
}

/** The address of what is shown now on its own page. */
export function ownAddress() {
  const address = new URL(location.href);
  address.searchParams.delete("embed");
  return address;
}

/**
 * Leaves nothing of the page but the figure that its address asks for; a name that no figure has changes nothing. The page
 * around the frame is told the height that it needs, at each change: { type: "grpo-height", height }, in pixels.
 */
export function embed() {
  const name = new URLSearchParams(location.search).get("embed");
  const figure = /^[\w-]+$/.test(name) && document.querySelector(`[key="${name}"], grpo-${name}`);
  if (!figure) return;
  document.documentElement.classList.add("grpo-embed");
  figure.classList.add("grpo-alone");
  for (let node = figure.parentElement; node; node = node.parentElement) node.classList.add("grpo-around");
  const link = element("a", { href: ownAddress().href, target: "_blank", rel: "noopener", onclick: () => (link.href = ownAddress().href) }, document.title);
  figure.after(element("p", { class: "grpo-back" }, "From ", link));
  const tell = () => parent.postMessage({ type: "grpo-height", height: document.body.offsetHeight }, "*"); // no secret
  new ResizeObserver(tell).observe(document.body);
}
