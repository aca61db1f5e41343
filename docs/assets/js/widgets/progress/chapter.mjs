// A chapter is done when its end has been reached: when the foot of the page comes into sight, and was not from the start,
// as it is where the page before was left at its end.
import { markDone, stopAt } from "../../ui/progress.mjs";

let watching = null;

/** Watches for the end of the chapter that is shown now, and of no other any more. */
export function watchEnd() {
  watching?.disconnect();
  const chapter = stopAt(location.pathname);
  const footer = document.querySelector(".md-footer");
  let above = false;
  watching = new IntersectionObserver((entries) => {
    const { isIntersecting } = entries.at(-1);
    if (isIntersecting && above && location.pathname.includes(chapter)) markDone([chapter]);
    above ||= !isIntersecting;
  });
  if (footer) watching.observe(footer);
}
