// The picture of the timeline: cards and lanes on a wide screen, a list that runs down on a narrow one.
import { changersOf, columns, lineTo } from "../../core/timeline.mjs";
import { chart, pixel, scale, words } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { lines } from "../../ui/word_lines.mjs";

const NARROW = 560; // pixels, below which time runs down
const CARD = 52; // high
const LANE = 17; // high
const FIRST = 142; // upper edge of the first lane: above it two rows of cards and the lines to their dots
const LEFT = 84; // room for the names of the lanes
const LETTER = 6.1; // wide, on average
const ROW = 46; // of a card where time runs down

/**
 * A chart { node, redraw } of entries; `lanes` has the names of their parts, `now()` gives the chosen { part, method },
 * and `press(method)` is called where one is pressed.
 */
export function timelinePicture(entries, { lanes: parts, now, press }) {
  const names = Object.keys(entries);
  const axis = FIRST + LANE * Object.keys(parts).length;
  const { node, redraw } = chart(axis + 64, (width, height) => (width < NARROW ? list(width) : paint(width, height)));

  /** Cards of those that changed the part, the lanes of all parts with a dot for each change, and arcs of descent. */
  function paint(width, height) {
    const { part, method } = now();
    const { middles, years } = columns(entries, LEFT, width - 2, 33);
    const x = (name) => middles[names.indexOf(name)];
    const lanes = [part, ...Object.keys(parts).filter((other) => other !== part)];
    const y = (lane) => FIRST + LANE * (lanes.indexOf(lane) + 0.5);
    return [
      element("rect", { class: "pale", x: pixel(x(method) - 11), width: 22, y: FIRST, height: axis - FIRST, rx: 11 }),
      lanes.map((lane) => [
        words(0, y(lane) + 4, parts[lane], { class: lane === part ? "name" : "soft" }),
        element("line", { class: "grid", x1: LEFT, x2: width, y1: y(lane), y2: y(lane) }),
        changersOf(lane, entries).map((name) => element("circle", {
          class: lane === part || name === method ? "stop" : "stop far", cx: pixel(x(name)), cy: y(lane), r: name === method ? 6 : 4,
        })),
      ]),
      years.map(({ year, left, right }) => [
        element("line", { class: "grid", x1: pixel(left), x2: pixel(left), y1: FIRST, y2: axis + 4 }),
        words((left + right) / 2, axis + 16, String(year), { "text-anchor": "middle", class: "soft" }),
      ]),
      arcs(x, scale(0, width - LEFT, axis + 24, height + 12)),
      names.map((name) => element("rect", { class: "press", x: pixel(x(name) - 12), width: 24, y: FIRST, height: axis - FIRST,
        onclick: () => press(name) })),
      cards(width, x),
    ].flat(3);
  }

  /** Arcs from each entry to what builds on it; those of the chosen one's descent are solid. */
  function arcs(x, depth) {
    const line = lineTo(now().method, entries);
    const arc = (parent, name) => {
      const near = line.includes(name) && entries[name].parents[0] === parent;
      const [from, to] = [pixel(x(parent)), pixel(x(name))];
      return element("path", { class: near ? "arc near" : "arc",
        d: `M${from} ${axis + 22}C${from} ${pixel(depth(to - from))} ${to} ${pixel(depth(to - from))} ${to} ${axis + 22}` });
    };
    return names.flatMap((name) => entries[name].parents.map((parent) => arc(parent, name)))
      .sort((a, b) => a.classList.length - b.classList.length); // what is chosen lies on top
  }

  /** The cards in one or two rows, from left to right as time goes, each with a line to its dot. */
  function cards(width, x) {
    const shown = changersOf(now().part, entries);
    const rows = shown.length > 6 ? 2 : 1;
    const wide = Math.min(190, (rows * width - 10 * (shown.length - 1)) / (shown.length + rows - 1));
    const middleOf = scale(0, shown.length - 1, wide / 2 + 1, width - wide / 2 - 1);
    return shown.map((name, i) => {
      const middle = middleOf(i);
      const top = 1 + (i % rows) * (CARD + 6);
      const lead = `M${pixel(middle)} ${top + CARD}V${FIRST - 24}L${pixel(x(name))} ${FIRST + 4}`;
      return [element("path", { class: "lead", d: lead }), box(name, { left: middle - wide / 2, top, wide, high: CARD })];
    });
  }

  /** The same cards below each other, on the line of the years. */
  function list(width) {
    const shown = changersOf(now().part, entries);
    const end = 8 + ROW * shown.length;
    return [
      element("line", { class: "axis", x1: 44, x2: 44, y1: 8, y2: end }),
      shown.map((name, i) => {
        const top = 6 + i * ROW;
        const { year } = entries[name];
        return [
          year === entries[shown[i - 1]]?.year ? [] : words(0, top + 25, String(year), { class: "name" }),
          element("circle", { class: "stop", cx: 44, cy: top + 20, r: name === now().method ? 7 : 5 }),
          box(name, { left: 60, top, wide: width - 61, high: ROW - 5 }),
        ];
      }),
    ].flat(2);
  }

  function box(name, { left, top, wide, high }) {
    const style = name === now().method ? "card on" : "card";
    const text = lines(entries[name].changes[now().part], (wide - 16) / LETTER);
    return element("g", { class: style, onclick: () => press(name) },
      element("rect", { x: pixel(left), y: top, width: pixel(wide), height: high, rx: 9 }),
      words(left + 9, top + 16, name, { class: "who" }),
      text.map((line, i) => words(left + 9, top + 31.5 + 15 * i, line)));
  }
  return { node, redraw };
}
