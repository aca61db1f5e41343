// The picture of <grpo-llm-run>: eight completions, every token lifted or pressed by what it adds to the loss.
import { pixel, words } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { signed } from "../../ui/format.mjs";
import { mark } from "../../ui/mark.mjs";

export const HEIGHT = 648; // of eight in a column; where two columns fit, styles make it less
const BETWEEN = 24; // two columns
const HEAD = 24; // above the first row
const CHIP = 26; // high
const NUMBER = 16; // high
const LEFT = 74; // of the tokens, after coin and advantage
const MOST = 56; // pixels of a token
const GAP = 5;

/** A token as one can read it: spaces and line ends have a sign. */
export const plain = (text) => text.replaceAll(" ", "␣").replaceAll("\n", "⏎");

/** Marks of all rows { reward, advantage, tokens: [{ text, length, share, bound }] }; length is from -1 to 1, above 0 up. */
export function completions(rows, width, height) {
  const columns = height < 0.8 * HEIGHT ? 2 : 1;
  const wide = (width - BETWEEN * (columns - 1)) / columns;
  const high = Math.ceil(rows.length / columns);
  const longest = Math.max(...rows.map(({ tokens }) => tokens.length));
  const cell = Math.min(MOST, (wide - LEFT) / longest);
  const tall = (height - HEAD) / high;
  const place = (i) => ({ left: Math.floor(i / high) * (wide + BETWEEN), top: HEAD + (i % high) * tall, tall, cell, aligned: columns > 1 });
  return [
    words(0, 14, "Push on each token: minus its share of the loss.", { class: "soft" }),
    rows.map((row, i) => one(row, place(i))).flat(2),
  ].flat();
}

function one({ reward, advantage, tokens }, { left, top, tall, cell, aligned }) {
  const up = advantage > 0;
  const spare = aligned ? (tall - CHIP) / 2 : tall - CHIP - 4; // for a mark and its number, on its side of the tokens
  const chip = aligned || up ? top + spare : top + 4; // the tokens of two columns are on one line
  const line = up ? chip - 3 : chip + CHIP + 3; // on which marks stand, or from which they hang
  const middle = chip + CHIP / 2;
  const most = spare - NUMBER - 5; // length of the longest mark
  return [
    element("circle", { cx: pixel(left + 10), cy: pixel(middle), r: 9, class: reward ? "coin" : "dot" }),
    words(left + 10, middle + 4.5, String(reward), { class: reward ? "on-coin" : "soft", "text-anchor": "middle" }),
    words(left + 25, middle + 4.5, signed(advantage), { class: "name" }),
    tokens.map((token, t) => drawn(token, { x: left + LEFT + t * cell, wide: cell - GAP, most, line, chip, up })),
  ];
}

/** A token on its chip; its mark is solid where the loss pushes it, and only an outline where the clip lets go of it. */
function drawn({ text, length, share, bound }, { x, wide, most, line, chip, up }) {
  const end = line - length * most;
  const middle = x + wide / 2;
  const ghost = element("rect", { class: "ghost", x: pixel(middle - wide / 3), width: pixel((2 * wide) / 3),
    y: pixel(Math.min(line, end)), height: pixel(Math.abs(end - line)), rx: 3 });
  return [
    length === 0 ? [] : bound ? ghost : mark({ middle, wide: (2 * wide) / 3, line, end }),
    length === 0 ? [] : words(middle, up ? end - 4 : end + 13, signed(-share, 3), { "text-anchor": "middle", class: "share" }),
    element("rect", { class: "token", x: pixel(x), y: pixel(chip), width: pixel(wide), height: CHIP, rx: 7 }),
    words(middle, chip + 18, plain(text), { "text-anchor": "middle", class: "name" }),
  ].flat();
}
