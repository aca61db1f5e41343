// Charts that can be pressed or dragged.

/** Where on a chart a pointer is, in pixels. */
export function pointed({ clientX, clientY }, node) {
  const { left, top } = node.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}

/**
 * Lets a pointer drag what a chart shows: hold(point) says whether there is anything to take, move(point) follows the
 * pointer, and end() is called when it lets go.
 */
export function draggable(node, { hold, move, end }) {
  let dragging = false;
  const follow = (event) => dragging && move(pointed(event, node));
  const stop = () => {
    if (dragging) end();
    dragging = false;
  };
  node.addEventListener("pointerdown", (event) => {
    dragging = hold(pointed(event, node));
    if (dragging) node.setPointerCapture(event.pointerId);
    if (event.pointerType === "mouse") follow(event); // a finger may be about to move the page
  });
  node.addEventListener("pointermove", follow);
  node.addEventListener("pointerup", (event) => {
    follow(event);
    stop();
  });
  node.addEventListener("pointercancel", stop); // it was the page that was moved
}
