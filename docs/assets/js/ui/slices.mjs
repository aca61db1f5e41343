// Long computations in slices, so that a page answers and draws between them.

const MILLISECONDS = 25; // of a slice: half of what a reader would feel

/** { isOver(), rest() }: when a slice is over, await rest() lets the page go on and begins the next. */
export function slices() {
  let began = performance.now();
  const isOver = () => performance.now() - began > MILLISECONDS;
  const rest = async () => {
    await new Promise((resume) => setTimeout(resume));
    began = performance.now();
  };
  return { isOver, rest };
}
