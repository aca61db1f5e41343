// Motion: a film is a function of the time, so it can be stopped, entered anywhere and shown as a still.

export const lerp = (a, b, t) => a + (b - a) * t;
const clamp = (t) => Math.min(1, Math.max(0, t));

/** The points [x, y] of a curve until x, where it ends between two of them: what a film has drawn so far. */
export function drawnUntil(points, x) {
  const past = points.filter(([at]) => at <= x);
  const [from, to] = [past.at(-1), points[past.length]];
  if (!to || from[0] === x) return past;
  return [...past, [x, lerp(from[1], to[1], (x - from[0]) / (to[0] - from[0]))]];
}

/** How far `t` has come on its way from a to b, eased: 0 before, 1 after. */
export const part = (t, a, b, ease = easeOut) => ease(clamp((t - a) / (b - a)));
export const even = (t) => t;
export const easeOut = (t) => 1 - (1 - t) ** 3;
export const easeInOut = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);
/** Falls with gravity and bounces once. */
export const fall = (t) => (t < 0.62 ? (t / 0.62) ** 2 : 1 - 0.22 * (1 - ((t - 0.81) / 0.19) ** 2) * (t < 1));

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Changes attributes of a node; those that stay as they are cost no drawing. */
export function set(node, attributes) {
  for (const name in attributes) {
    const value = String(attributes[name]);
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  return node;
}

/** Changes the words of a node, if they are others. */
export function write(node, words) {
  if (node.textContent !== String(words)) node.textContent = words;
}
