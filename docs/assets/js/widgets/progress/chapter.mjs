// A page to read is done when its end has been reached: when its foot comes into sight, and was not from the start,
// as it is where the page before was left at its end.
import { markDone, stopAt } from "../../ui/progress.mjs";

let watching = null;

/** Watches for the end of the page that is shown now, and of no other any more; `above`: the reader began above it. */
export function watchEnd(above) {
  watching?.disconnect();
  const stop = stopAt(location.pathname);
  const footer = document.querySelector(".md-footer");
  watching = new IntersectionObserver((entries) => {
    const { isIntersecting } = entries.at(-1);
    if (isIntersecting && above && stopAt(location.pathname) === stop) markDone([stop]);
    above ||= !isIntersecting;
  });
  if (footer) watching.observe(footer);
}
