// What the pictures of <grpo-policy-gradient> and <grpo-baseline> are made of: a plane and pushes on logits.
import { flat } from "../../core/policy_gradient.mjs";
import { pixel, words } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { signed } from "../../ui/format.mjs";
import { mark } from "../../ui/mark.mjs";

const CORNERS = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(flat);
const ROOM = { top: 26, bottom: 62, side: 30 }; // for the names of the corners
const PUSH = 0.3; // the largest push that is drawn to scale

/** The triangle of all policies in a rectangle: where a place of the plane is on the chart, and back. */
export function plane({ wide, tall }) {
  const [top, left, right] = CORNERS;
  const size = Math.max(1, Math.min((wide - 2 * ROOM.side) / (right.x - left.x), (tall - ROOM.top - ROOM.bottom) / (top.y - left.y)));
  const middle = wide / 2;
  const foot = ROOM.top + size * (top.y - left.y);
  const at = ({ x, y }) => ({ x: pixel(middle + size * x), y: pixel(foot - size * (y - left.y)) });
  const policyAt = ({ x, y }) => ({ x: (x - middle) / size, y: left.y + (foot - y) / size });
  const anchors = ["middle", "start", "end"];
  return {
    at, policyAt, foot,
    corners: CORNERS.map(at),
    holds: ({ x, y }) => x < wide && y < foot + 20,
    named: (x, y, a, reward) => a === 0
      ? [words(x, y - 10, `action 1, reward ${reward}`, { class: "name", "text-anchor": "middle" })]
      : [words(x + (a === 1 ? -24 : 24), y + 18, `action ${a + 1}`, { class: "name", "text-anchor": anchors[a] }),
        words(x + (a === 1 ? -24 : 24), y + 34, `reward ${reward}`, { "text-anchor": anchors[a] })],
  };
}

/** The push on the logit of each action, as the marks of all figures. */
export function pushes(gradient, { left, wide, top, tall }) {
  const step = wide / gradient.length;
  const zero = top + tall / 2;
  const scale = (tall / 2 - 18) / PUSH;
  return [
    words(left + wide / 2, top - 14, "push on each logit", { class: "name", "text-anchor": "middle" }),
    gradient.map((push, a) => {
      const middle = left + (a + 0.5) * step;
      const end = zero - scale * Math.max(-PUSH, Math.min(PUSH, push));
      return [
        mark({ middle, wide: Math.min(30, 0.5 * step), line: zero, end: Math.abs(push) < 0.0005 ? zero : end }),
        words(middle, push < 0 ? end + 15 : end - 6, signed(push, 3), { class: "name", "text-anchor": "middle" }),
        words(middle, push < 0 ? zero - 6 : zero + 16, String(a + 1), { "text-anchor": "middle" }),
      ];
    }).flat(),
    element("line", { x1: pixel(left), x2: pixel(left + wide), y1: pixel(zero), y2: pixel(zero), class: "mean" }),
  ].flat();
}
