// Charts that can be pressed or dragged.

/** Where on a chart a pointer is, in pixels. */
export function pointed({ clientX, clientY }, node) {
  const { left, top } = node.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}
