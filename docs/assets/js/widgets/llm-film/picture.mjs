// The picture of <grpo-llm-film>: groups of completions, each one pushed up or down from the mean by its advantage.
import { pixel, words } from "../../ui/chart.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, signed } from "../../ui/format.mjs";
import { mark } from "../../ui/mark.mjs";

export const HEIGHT = 330; // of two rows; where four groups fit in one, styles make it less
const BETWEEN = 20; // two columns
const HEAD = 22; // above the first row
const TITLE = 38; // of a group, two lines
const ANSWERS = 36; // below its marks
const NARROW = 25; // pixels of an answer, from which answers stand in two lines
const ROOM = 3; // the largest advantage of eight rewards of which one differs is 2.65

/** Groups { prompt, right, completions: [{ text, reward, advantage }] } in two rows or one; `lengths` are the advantages that are drawn. */
export function groupsPicture({ drawn, groups }, lengths, width, height) {
  const columns = height < 0.8 * HEIGHT ? groups.length : 2;
  const wide = (width - BETWEEN * (columns - 1)) / columns;
  const tall = (height - HEAD) / Math.ceil(groups.length / columns);
  let place = 0;
  return [
    words(0, 13, `Completions sampled after step ${drawn}, by advantage`, { class: "soft" }),
    ...groups.flatMap((group, g) => {
      const at = { left: (g % columns) * (wide + BETWEEN), top: HEAD + Math.floor(g / columns) * tall, wide, tall };
      return one(group, lengths.slice(place, (place += group.completions.length)), at);
    }),
  ];
}

function one({ prompt, right, completions }, lengths, { left, top, wide, tall }) {
  const most = (tall - TITLE - ANSWERS) / 2;
  const line = top + TITLE + most;
  const cell = wide / completions.length;
  const advantages = [...new Set(completions.map(({ advantage }) => advantage))].sort((a, b) => b - a);
  return [
    words(left, top + 16, prompt, { class: "name" }),
    words(left + wide, top + 16, `${right} of ${completions.length} right`, { "text-anchor": "end" }),
    words(left, top + 33, advantages.length === 1 ? `A = ${fixed(advantages[0], 0)}, no push` : `A = ${advantages.map((x) => signed(x)).join(" or ")}`, { class: "soft" }),
    element("line", { class: "mean", x1: pixel(left), x2: pixel(left + wide), y1: pixel(line), y2: pixel(line) }),
    completions.flatMap(({ text, reward }, i) => {
      const middle = left + (i + 0.5) * cell;
      return [
        mark({ middle, wide: Math.min(30, 0.8 * cell), line, end: line - (lengths[i] / ROOM) * most }),
        words(Math.min(left + wide - 11, Math.max(left + 13, middle)), top + tall - (cell < NARROW && i % 2 ? 6 : 20), short(text), { class: reward === 1 ? "name" : "soft", "text-anchor": "middle" }),
      ];
    }),
  ].flat();
}

const short = (text) => (text.length > 3 ? `${text.slice(0, 2)}…` : text);
