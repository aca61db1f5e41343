// Dots on an axis, a lane for each number: how far apart are the runs? A dot without a number yet waits, dashed,
// before the axis.
import { chart, pixel, scale, words } from "./chart.mjs";
import { element } from "./element.mjs";

const [LANE, NAME, BETWEEN, AXIS, TITLE] = [21, 20, 9, 22, 20]; // pixels: heights of what a plot is made of, at least
const [RADIUS, LETTER] = [6.5, 7.4]; // of a dot; width of a digit
const [WAITING, NEVER] = [20, 52]; // widths of the places before and beyond the axis

const sum = (numbers) => numbers.reduce((all, x) => all + x, 0);

/**
 * A plot { node, draw(groups) } with a `title` above its axis, from ticks[0] to the last tick. A group is { name, lanes, soft },
 * and a lane { value, note, press }: no value yet is undefined, null is "never" and has a place beyond the axis if `never`
 * is set; `note` is written after the number; press() is called when the lane is pressed. The dots of a soft group are
 * hollow. `sizes` are the numbers of lanes of the groups, for which room is kept; `gutter` is the width of the names, which
 * stand above their lanes if it is 0.
 */
export function dotPlot({ title, ticks, digits, never, sizes, gutter }) {
  let groups = [];
  const above = gutter ? 0 : NAME;
  const lanes = sizes.length * (above + BETWEEN) + sum(sizes) * LANE;
  const { node, redraw } = chart(TITLE + lanes + AXIS, paint);

  function paint(width, height) {
    const [left, right] = [gutter + WAITING, width - (never ? NEVER : RADIUS + 8)];
    const within = (value) => Math.min(ticks.at(-1), Math.max(ticks[0], value)); // what is typed may be anything
    const place = scale(ticks[0], ticks.at(-1), left, right);
    const x = (value) => place(within(value));
    const foot = height - AXIS;
    const tall = LANE + (height - TITLE - lanes - AXIS) / sum(sizes); // of a lane
    const upright = (at, style) => element("line", { x1: pixel(at), x2: pixel(at), y1: TITLE, y2: foot, class: style });
    const parts = [words(gutter && left, 12, title, { class: "name" })];
    for (const tick of ticks) {
      parts.push(upright(x(tick), tick === ticks[0] ? "axis" : "grid"));
      parts.push(words(x(tick), foot + 16, String(tick), { "text-anchor": "middle" }));
    }
    if (never) parts.push(words(width, foot + 16, "never", { "text-anchor": "end" }));
    let top = TITLE + BETWEEN / 2;
    for (const group of groups) {
      parts.push(words(above ? left + 7 : 0, top + (above ? 15 : tall / 2 + 4.5), group.name, { class: "name" }));
      const values = group.lanes.map(({ value }) => value).filter(Number.isFinite);
      if (values.length > 1) {
        const [from, to] = [x(Math.min(...values)), x(Math.max(...values))].map(pixel);
        const size = { width: Math.max(1, to - from), height: tall * group.lanes.length };
        parts.push(element("rect", { class: "pale", x: from, y: top + above, ...size }));
      }
      group.lanes.forEach((lane, i) => parts.push(drawn(lane, top + above + (i + 0.5) * tall, group.soft)));
      top += above + tall * group.lanes.length + BETWEEN;
    }
    return parts;

    function drawn({ value, note, press }, y, soft) {
      const is = value !== undefined;
      const outside = value === null && never;
      const at = is ? (outside ? width - RADIUS - 12 : x(value)) : left - WAITING / 2 - 1;
      const [side, way] = at > (left + right) / 2 ? ["end", -1] : ["start", 1];
      const number = is && !outside ? value.toFixed(digits) : "";
      const beside = (is ? at : left) + way * (RADIUS + 5);
      const after = beside + way * (number ? number.length * LETTER + 5 : 0);
      return element("g", press ? { onclick: press, class: "press" } : {},
        element("rect", { class: "touch", x: gutter, width: width - gutter, y: y - tall / 2, height: tall }),
        element("line", { class: is ? "grid" : "lane", x1: left, x2: right, y1: y, y2: y }),
        element("circle", { class: is ? (soft ? "dot" : "bar") : "ghost", cx: pixel(at), cy: y, r: RADIUS }),
        words(beside, y + 4.5, number, { class: "name", "text-anchor": side }),
        words(after, y + 4.5, note, { class: "soft name", "text-anchor": side }));
    }
  }

  function draw(next) {
    groups = next;
    redraw();
  }
  return { node, draw };
}
