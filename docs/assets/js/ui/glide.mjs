// Numbers that change glide to the next ones, so that one sees what went where.
import { isStill, lerp, part } from "./moving.mjs";

const GLIDE = 420; // milliseconds, as --t-tween

/** Lets numbers glide: the function that it returns takes the next ones and paints what lies between, so that one sees what
    went where. At once where nothing should move, the first time, and where the pages are not in sight. */
export function glide(paint) {
  let shown = null;
  let frame = 0;
  return (next) => {
    cancelAnimationFrame(frame);
    const from = shown ?? next;
    const began = performance.now();
    const go = (now) => {
      const t = isStill() || document.hidden ? 1 : part(now - began, 0, GLIDE);
      shown = next.map((x, i) => lerp(from[i], x, t));
      paint(shown);
      if (t < 1) frame = requestAnimationFrame(go);
    };
    go(next.every((x, i) => x === from[i]) ? Infinity : began);
  };
}
