// The mark of an advantage, the same in all figures: pushed up it stands on the line with a round head, pushed down it hangs
// with its round end below, and without a signal it is a plain block on the line.
import { pixel } from "./chart.mjs";
import { element } from "./element.mjs";

const PLAIN = 6; // height of a block without signal

/** A path around x = middle from the height of the line to that of its end, both in pixels. */
export function mark({ middle, wide, line, end }) {
  const [left, right, foot, tip] = [middle - wide / 2, middle + wide / 2, line, end].map(pixel);
  if (foot === tip) {
    return element("path", { class: "bar flat", d: `M${left} ${foot}V${foot - PLAIN}H${right}V${foot}Z` });
  }
  const way = Math.sign(foot - tip);
  const bend = Math.min(wide / 2, Math.abs(foot - tip));
  const shoulder = pixel(tip + way * bend);
  const round = `A${pixel(wide / 2)} ${pixel(bend)} 0 0 ${way > 0 ? 1 : 0}`;
  return element("path", {
    class: way > 0 ? "bar up" : "bar down",
    d: `M${left} ${foot}V${shoulder}${round} ${right} ${shoulder}V${foot}Z`,
  });
}
