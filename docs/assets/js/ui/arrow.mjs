// A straight arrow in a chart.
import { pixel } from "./chart.mjs";
import { element } from "./element.mjs";

/** A line with a head, from one place to another; without a head where both are the same. */
export function arrow(from, to, { style = "", wide = 3 } = {}) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const long = Math.hypot(dx, dy);
  if (long < 0.5) return [];
  const head = Math.min(4 + 2 * wide, long);
  const [x, y] = [dx / long, dy / long];
  const foot = { x: to.x - head * x, y: to.y - head * y };
  const side = 0.5 * head;
  const points = [[to.x, to.y], [foot.x - side * y, foot.y + side * x], [foot.x + side * y, foot.y - side * x]];
  return [
    element("line", { x1: pixel(from.x), y1: pixel(from.y), x2: pixel(foot.x), y2: pixel(foot.y), "stroke-width": pixel(wide), class: `arrow ${style}` }),
    element("path", { d: `M${points.map((point) => point.map(pixel).join(" ")).join("L")}Z`, class: `head ${style}` }),
  ];
}
