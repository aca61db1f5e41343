// A ring that fills: how much is done, with the number in it. It becomes a coin when all is done.
import { element } from "./element.mjs";

/** { node, show(done, of) }. Nothing of it is read out, so what stands beside it says the same. */
export function ring() {
  const circle = (style) => element("circle", { class: style, cx: 16, cy: 16, r: 13, pathLength: 1 });
  const arc = circle("arc");
  const count = element("text", { x: 16, y: 20.5, "text-anchor": "middle" });
  const node = element("svg", { viewBox: "0 0 32 32", "aria-hidden": "true" }, circle("rail"), arc, count);
  const show = (done, of) => {
    arc.setAttribute("stroke-dasharray", `${done / of || 0} 2`);
    count.textContent = done;
    node.classList.toggle("whole", done > 0 && done === of);
  };
  return { node, show };
}
