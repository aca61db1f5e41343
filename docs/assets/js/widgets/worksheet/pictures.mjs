// The two pictures of runs that are no dots: the group of a first step as the eight, and a policy as bars. Each is
// { nodes, draw(cells) } for a slot; edit(slot id) is called when it is pressed.
import { record } from "../../core/worksheet.mjs";
import { chart, gridLines, pixel, scale, words } from "../../ui/chart.mjs";
import { eight } from "../../ui/eight.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, signed } from "../../ui/format.mjs";

const TALL = 164;
const ROOM = 38; // pixels above and below the largest advantage: for the name, and for the number of a mark
const MOST = 2.65; // the largest advantage of eight

/** The group of a run's first step. */
export function group(slot, name, edit) {
  let read = {};
  const { node, redraw } = chart(TALL, (width, height) => {
    const [line, unit] = [(height + 12) / 2, (height / 2 - ROOM) / MOST];
    const { seed, values: { actions, advantages } } = read;
    const column = width / 8;
    const s = Math.min(30, column * 0.82);
    const answers = eight(8);
    const empty = [];
    for (let j = 0; j < 8; j++) {
      const x = (j + 0.5) * column;
      const [action, advantage = 0] = [actions?.[j], advantages?.[j]];
      const high = Math.max(-MOST, Math.min(MOST, advantage)) * unit;
      answers.place(j, {
        x, y: line - high - (advantage < 0 ? -s / 2 : s / 2), s, line, name: action ?? "", advantage, tone: 1, reward: 0, coined: 0,
        number: signed(advantage, 1), numbered: advantages ? 1 : 0, alpha: actions || advantages ? 1 : 0,
      });
      if (!actions && !advantages) empty.push(element("rect", { class: "ghost", x: pixel(x - s / 2), y: line - s, width: s, height: s, rx: 8 }));
    }
    return [
      words(0, 12, name, { class: "name" }), words(width, 12, seed == null ? "" : `seed ${seed}`, { class: "soft", "text-anchor": "end" }),
      element("line", { class: "mean", x1: 0, x2: width, y1: line, y2: line }), empty, answers.node,
    ];
  });
  return {
    nodes: [pressable(node, () => edit(slot.id))],
    draw: (cells) => {
      read = record(slot, cells[slot.id]);
      redraw();
    },
  };
}

function pressable(node, press) {
  node.classList.add("press");
  node.addEventListener("click", press);
  return node;
}

/** On a phone ".978" for "0.978". */
const short = (number, width) => (width < 420 ? number.replace(/^0(?=.)/, "") : number);

/** The policy of a run as bars, as in the simulation. */
export function policy(slot, edit) {
  let cell = {};
  const { node, redraw } = chart(210, (width, height) => {
    const { seed } = record(slot, cell);
    const [left, foot] = [30, height - 40];
    const y = scale(0, 1, foot, 28);
    const column = (width - left) / 10;
    const wide = Math.min(44, column * 0.66);
    const bars = Array.from({ length: 10 }, (_, j) => {
      // each number by itself: a policy is read as a whole only when it is complete
      const { values } = record({ ...slot, values: [`policy.${j + 1}`] }, cell);
      const share = values[`policy.${j + 1}`];
      const middle = left + (j + 0.5) * column;
      const top = y(Math.min(1, Math.max(0, share ?? 0.1)));
      const high = Math.max(1.5, foot - top);
      return [
        element("rect", {
          class: share === undefined ? "ghost" : "bar", x: pixel(middle - wide / 2), width: pixel(wide), y: pixel(foot - high), height: pixel(high),
          rx: Math.min(5, high / 2),
        }),
        words(middle, foot + 17, String(j + 1), { "text-anchor": "middle", class: "name" }),
        words(middle, foot + 34, share === undefined ? "" : short(fixed(share, 3), width), { "text-anchor": "middle", class: "soft" }),
      ];
    });
    return [
      words(left, 12, "π(a)", { class: "name" }), words(width, 12, seed === null ? "" : `seed ${seed}`, { class: "soft", "text-anchor": "end" }),
      gridLines([0, 0.5, 1], y, { left, right: width }), bars.flat(),
      element("line", { class: "line-reference", x1: left, x2: width, y1: pixel(y(0.1)), y2: pixel(y(0.1)) }),
      words(width, y(0.1) - 6, "at the start", { class: "soft name", "text-anchor": "end" }),
    ];
  });
  return {
    nodes: [pressable(node, () => edit(slot.id))],
    draw: (cells) => {
      cell = cells[slot.id] ?? {};
      redraw();
    },
  };
}
