// The picture of the home page's film: the policy as a strip, the answers that fall from it, and the mean line. Below the
// last round, the policies of all rounds.
import { ANSWERS, RIGHT } from "../../core/answers.mjs";
import { GROUP } from "../../core/film.mjs";
import { eight, meanLine } from "../../ui/eight.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, percent, signed } from "../../ui/format.mjs";
import { easeInOut, easeOut, fall, lerp, part, set } from "../../ui/moving.mjs";

const SMALL = 520; // pixels: narrower pictures are lower and have no room beside the answers
const TAB = 88; // width of the mean's tab
const TOP = 40; // of the strip

/**
 * { node, draw(round, t, { width, title, past }) }: a round of core/film.mjs, t seconds after its begin, of `length` seconds.
 * `past` are the shares of the right answer in all rounds, where they are shown.
 */
export function heroPicture(length) {
  const circles = () => Array.from({ length: GROUP }, () => element("circle", { r: 5 }));
  const [answers, mean, drops, votes] = [eight(GROUP), meanLine(TAB), circles(), circles()];
  const question = element("text", { "font-size": 27, "font-weight": 800, y: 25 }, "2 + 2 × 6 = ?");
  const caption = element("text", { "font-size": 15, "font-weight": 600, y: 24, "text-anchor": "end", class: "soft" });
  const pieces = ANSWERS.map(() => ({
    box: element("rect", { class: "bar", rx: 5 }), ghost: element("rect", { class: "ghost", rx: 3, height: 7 }),
    name: element("text", { class: "on", "font-weight": 750, "text-anchor": "middle" }),
    change: element("text", { "font-size": 14, "font-weight": 700, "text-anchor": "middle" }),
  }));
  const strip = pieces.flatMap(({ ghost, box, name, change }) => [ghost, box, name, change]);
  const memory = element("g");
  const node = element("svg", { role: "img", class: "grpo-chart" }, question, caption, memory, strip, mean.node, answers.node, drops, votes);

  function draw(round, t, { width, title, past }) {
    const small = width < SMALL;
    const [height, thick] = small ? [326, 32] : [396, 38];
    set(node, { viewBox: `0 0 ${width} ${height}`, height });
    const middles = drawPolicy(round, t, width, thick);
    const frame = layout(round, t, { width, height, thick, small });
    const place = small ? beside(round, width, frame.s) : { at: width - TAB };
    const alpha = part(t, 3.95, 4.1) * (1 - part(t, length - 0.25, length));
    mean.draw({ left: -frame.s * 0.2, right: width + 2400, y: frame.line, words: `mean ${fixed(round.mean)}`, alpha, ...place });
    round.actions.forEach((_, i) => drawAnswer(i, round, t, frame, middles));
    memory.replaceChildren(...past.flatMap((share, k) => remembered(share, k, past.length, t, { ...frame, height, small })));
    caption.textContent = title;
    set(caption, { x: width });
  }

  /** The policy as a strip with a piece for each answer; returns the middles of the pieces. */
  function drawPolicy({ before, after, zeroSignal }, t, width, thick) {
    const learned = part(t, 6.75, 7.5, easeInOut);
    let [edge, oldEdge] = [0, 0];
    return pieces.map(({ box, ghost, name, change }, j) => {
      const wide = lerp(before[j], after[j], learned) * width;
      const middle = edge + wide / 2;
      const gain = after[j] - before[j];
      set(box, { x: edge + 1, width: Math.max(1, wide - 2), y: TOP, height: thick });
      set(ghost, { x: oldEdge + 1, width: Math.max(1, before[j] * width - 2), y: TOP + thick + 4, opacity: zeroSignal ? 0 : part(t, 6.1, 6.4) });
      name.textContent = wide > 78 ? `${ANSWERS[j]}  ·  ${percent(wide / width)}` : wide > 19 ? ANSWERS[j] : "";
      const size = wide > 30 ? 17 : 13;
      set(name, { x: middle, y: TOP + thick / 2 + size * 0.35, "font-size": size });
      change.textContent = Math.abs(gain) >= 0.01 && wide > 80 ? `${signed(100 * gain, 0)} points` : "";
      set(change, { x: middle, y: TOP + thick + 28, opacity: part(t, 7.2, 7.5) - part(t, length - 0.15, length), class: gain > 0 ? "up" : "down" });
      edge += wide;
      oldEdge += before[j] * width;
      return middle;
    });
  }

  function drawAnswer(i, round, t, { width, thick, gutter, line, s, floor, top, unit, compared }, middles) {
    const [action, advantage, reward] = [round.actions[i], round.advantages[i], round.rewards[i]];
    const starts = 0.95 + i * 0.15;
    const way = Math.sign(advantage);
    const column = ((width - gutter) / GROUP) * (i + 0.5);
    const from = round.draws[i] * width;
    const inRewards = lerp(floor, top, reward * part(t, 3.25 + i * 0.05, 3.85 + i * 0.05, easeInOut));
    const inAdvantages = round.zeroSignal ? inRewards : line - advantage * unit - (way * s) / 2;
    const falling = lerp(TOP + thick / 2, floor, part(t, starts + 0.2, starts + 0.85, fall));
    const y = t < 3 ? falling : lerp(inRewards, inAdvantages, compared);
    const shown = part(t, starts + 0.15, starts + 0.35);
    const left = part(t, length - 0.25, length);
    answers.place(i, {
      x: lerp(from, column, part(t, starts + 0.2, starts + 0.7, easeInOut)), y: y + left * 14, s: s * lerp(0.25, 1, shown), line,
      name: ANSWERS[action], advantage, tone: part(t, 4.6, 5), reward, alpha: shown * (1 - left),
      coined: part(t, 3, 3.3 + i * 0.05, easeOut) * (1 - part(t, 4.7, 5)),
      number: signed(advantage), numbered: part(t, 5.3, 5.6) - part(t, 6.6, 6.9),
    });
    set(drops[i], { class: "dot", cx: from, cy: TOP + thick / 2, opacity: t > starts && t < starts + 0.3 ? 1 : 0 });
    const fly = part(t, 6.05 + i * 0.04, 6.75 + i * 0.04, easeInOut);
    set(votes[i], {
      class: way > 0 ? "bar up" : "bar down", opacity: way && fly > 0 && fly < 1 ? 1 : 0,
      cx: lerp(column, middles[action], fly), cy: lerp(y, TOP + thick, fly),
    });
  }
  return { node, draw };
}

/** The policy of round k of `count`: the share of the right answer, from the left. Each falls out of the one before it. */
function remembered(share, k, count, t, { width, height, line, s, small }) {
  const start = 6.1 + k * 0.16;
  if (t < start) return [];
  const top = line + s / 2 + (small ? 42 : 32);
  const pitch = Math.min(28, (height - 2 - top) / count);
  const y = top + pitch * (k - 1 + part(t, start, start + 0.4, fall));
  const [left, high] = [60, pitch * 0.68];
  const full = width - left;
  const base = y + high / 2 + 4.5;
  return [
    element("text", { class: "soft", x: 0, y: base }, `round ${k + 1}`),
    element("rect", { class: "pale", x: left, y, width: full, height: high, rx: 4 }),
    element("rect", { class: "bar", x: left, y, width: full * share, height: high, rx: 4 }),
    element("text", { class: "ink", "font-weight": 700, x: left + full * share + 6, y: base }, percent(share)),
  ];
}

/** Sizes and heights: first the line rises to the mean of the rewards, then it makes room for the advantages on its sides. */
function layout({ advantages, mean, zeroSignal }, t, { width, height, thick, small }) {
  const s = Math.min(56, (width / GROUP) * 0.76); // side of a block
  const zone = [TOP + thick + 36, height - 4];
  const [up, down] = [Math.max(0, ...advantages), Math.max(0, ...advantages.map((a) => -a))];
  const [floor, top] = [zone[1] - s / 2 - 26, zone[0] + s / 2 + 26]; // of answers with reward 0 and 1
  const room = zone[1] - zone[0] - 2 * (s + 24);
  const unit = Math.min(72, room / (up + down || 1));
  const slack = (room - (up + down) * unit) / 2;
  const compared = part(t, 4.7, 5.5, easeInOut);
  const meanAt = lerp(floor, top, mean * part(t, 4, 4.6, easeInOut));
  const line = zeroSignal ? meanAt : lerp(meanAt, zone[0] + 24 + s + slack + up * unit, compared);
  return { width, thick, gutter: small ? 0 : TAB + 8, line, s, floor, top, unit, compared };
}

/** Where the tab of the mean covers nothing on a phone: beside two neighbors on the same side of the line, or below all. */
function beside({ advantages, zeroSignal }, width, s) {
  if (zeroSignal) return { at: width - TAB, lift: s / 2 + 16 };
  const i = Math.max(0, advantages.findIndex((a, j) => j < GROUP - 1 && Math.sign(a) === Math.sign(advantages[j + 1])));
  return { at: (width / GROUP) * (i + 1) - 44, lift: advantages[i] > 0 ? 17 : -17 };
}
