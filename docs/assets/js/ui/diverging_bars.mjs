// Bars above and below a zero line, for numbers with a sign. Shape, side and sign say what the colour says.
import { chart, gridLines, pixel, scale, words } from "./chart.mjs";
import { element } from "./element.mjs";
import { signed } from "./format.mjs";
import { mark } from "./mark.mjs";
import { draggable } from "./pointed.mjs";

const REACH = 22; // pixels around a handle that take a finger
const PAD = { left: 36, right: 6, top: 16, bottom: 34 };

/**
 * A chart { node, draw }; draw(values, guesses) shows one bar for each number, counted from 1
 * or with the `names` of what they are. A mark is at most `widest` pixels wide. The axis reaches from -limit to
 * limit and does not follow the values, so that bars can be compared before and after a change. With a `hand` the bars have
 * handles: take(i) is called when one is held, to(change) with how far up it was dragged in units of the axis, and end().
 * Guesses { value, text } are about the first bar.
 */
export function divergingBars({ height: usual = 200, limit, ticks, digits = 1, name, names: called, widest = 36, hand }) {
  let values = [];
  let guesses = [];
  let handles = [];
  let from;
  const { node, redraw } = chart(usual, paint);
  node.classList.add("grpo-tall");
  if (hand) {
    draggable(node, {
      hold: (point) => {
        const i = handles.findIndex(({ x, y }) => Math.hypot(point.x - x, point.y - y) < REACH);
        if (i < 0) return false;
        hand.take(i);
        from = point.y;
        return true;
      },
      move: ({ y }) => hand.to((from - y) / handles.unit),
      end: hand.end,
    });
  }

  function paint(width, height) {
    const y = scale(-limit, limit, height - PAD.bottom, PAD.top);
    const step = (width - PAD.left - PAD.right) / Math.max(1, values.length);
    const bars = values.map((value, i) => bar(value, PAD.left + i * step, step, y));
    handles = values.map((value, i) => ({ x: PAD.left + (i + 0.5) * step, y: y(within(value)) }));
    handles.unit = y(0) - y(1);
    const names = values.map((_, i) =>
      words(PAD.left + (i + 0.5) * step, height - PAD.bottom + 16, called?.[i] ?? String(i + 1), { "text-anchor": "middle" }));
    return [
      gridLines(ticks, y, { left: PAD.left, right: width - PAD.right, digits }),
      bars.flat(), guesses.flatMap(({ value, text }) => guessed(y(within(value)), text, step)), hand ? handles.flatMap(handle) : [], names, words(width / 2, height - 3, name, { "text-anchor": "middle" }),
    ];
  }

  /** The bar of a value in the middle of its piece of the axis, and its number beyond the bar's end. */
  function bar(value, left, step, y) {
    const end = within(value);
    const [middle, wide] = [left + step / 2, Math.min((called ? 0.86 : 0.6) * step, widest)];
    return [
      mark({ middle, wide, line: y(0), end: y(end) }),
      words(middle, y(end) + (end > 0 ? -6 : end < 0 ? 16 : -11) + (hand ? Math.sign(end || 1) * -7 : 0), signed(value), { "text-anchor": "middle", class: "name" }),
    ];
  }

  const within = (value) => Math.min(limit, Math.max(-limit, value));

  /** A dashed line across the first bar, with its name where the next bar is not. */
  const guessed = (y, text, step) => [
    element("line", { x1: PAD.left, x2: pixel(PAD.left + step), y1: pixel(y), y2: pixel(y), class: "guessed" }),
    words(PAD.left + step + 4, y + 4, text, { class: "name" }),
  ];

  function draw(next, made = []) {
    [values, guesses] = [next, made];
    redraw();
  }
  return { node, draw };
}

/** A handle on a bar's end; a finger on it drags, and elsewhere on the chart it moves the page. */
const handle = ({ x, y }) => [
  element("circle", { cx: x, cy: y, r: REACH, class: "touch" }),
  element("circle", { cx: x, cy: y, r: 7, class: "dot handle upright" }),
];
