// The eight: the answers of a group in the order in which they were drawn. An answer is a block; mark.mjs says what the
// shapes mean. Here they can move from one to the other, and carry their name, a coin and a number.
import { element } from "./element.mjs";
import { lerp, set, write } from "./moving.mjs";

/** Outline of a block of size s around (x, y); m from 0 (plain) to 1 (round on the side `way`: 1 up, -1 down). */
export function block(x, y, s, way, m) {
  const round = lerp(0.27, 0.5, m) * s;
  const flat = lerp(0.27, 0.02, m) * s;
  const [top, low] = way > 0 ? [round, flat] : [flat, round];
  const [l, r, t, b] = [x - s / 2, x + s / 2, y - s / 2, y + s / 2];
  const n = (z) => z.toFixed(1);
  const corner = (radius, to) => `A${n(radius)} ${n(radius)} 0 0 1 ${to.map(n).join(" ")}`;
  return `M${n(l)} ${n(t + top)}${corner(top, [l + top, t])}H${n(r - top)}${corner(top, [r, t + top])}`
    + `V${n(b - low)}${corner(low, [r - low, b])}H${n(l + low)}${corner(low, [l, b - low])}Z`;
}

const text = (style, properties = {}) => element("text", { class: style, "text-anchor": "middle", "font-weight": 750, ...properties });

/** One answer: { node, place(state) }. */
function answer() {
  const stem = element("rect");
  const plain = element("path", { class: "bar flat" });
  const head = element("path");
  const [label, onHead] = [text("ink"), text("on")];
  const coin = element("circle", { class: "coin" });
  const [coinText, value] = [text("on-coin"), text("ink")];
  const node = element("g", {}, stem, plain, head, label, onHead, coin, coinText, value);

  /**
   * (x, y) is the middle of the block of size s, `line` the height of the mean line; `tone` from 0 (plain) to 1 (colored
   * by the sign of `advantage`); `coined` from 0 to 1 shows its reward, `numbered` from 0 to 1 the number.
   */
  function place({ x, y, s, line, name, advantage, tone, coined, reward, number, numbered, alpha }) {
    const way = advantage < 0 ? -1 : 1;
    const side = way > 0 ? "up" : "down";
    const m = advantage ? tone : 0;
    set(node, { opacity: alpha });
    const inner = y + (way * s) / 2;
    const [from, to] = way > 0 ? [inner + 2.5, line] : [line, inner - 2.5]; // a hair of paper between stem and block
    set(stem, { class: `bar ${side}`, x: x - s / 2, width: s, y: from, height: Math.max(0, to - from), opacity: m });
    set(plain, { d: block(x, y, s - 2, way, m), opacity: m < 1 ? 1 : 0 });
    set(head, { class: `bar ${side}`, d: block(x, y, s, way, m), opacity: m });
    const size = s * 0.43;
    for (const [words, opacity] of [[label, 1 - m], [onHead, m]]) {
      set(words, { x, y: y + size * 0.35, "font-size": size, opacity });
      write(words, name);
    }
    const radius = Math.max(8, s * 0.2, 4 * String(reward).length);
    const edge = y - way * (s / 2 + Math.max(11, s * 0.26, radius + 2));
    set(coin, { cx: x, cy: edge, r: radius * coined, opacity: reward > 0 ? coined : 0 });
    set(coinText, { x, y: edge + 4.5, "font-size": 13, opacity: coined, class: reward > 0 ? "on-coin" : "soft" });
    write(coinText, reward);
    set(value, { x, y: edge + 5, "font-size": Math.max(13, s * 0.3), opacity: numbered, class: advantage ? side : "ink" });
    write(value, number);
  }
  return { node, place };
}

/** `count` answers as { node, place(i, state) }. */
export function eight(count) {
  const all = Array.from({ length: count }, answer);
  return { node: element("g", {}, all.map(({ node }) => node)), place: (i, state) => all[i].place(state) };
}

/** The mean line with its gold tab: { node, draw({ left, right, y, words, alpha, at, lift }) }. */
export function meanLine(wide = 88) {
  const line = element("line", { class: "mean" });
  const tab = element("rect", { class: "coin", rx: 11, height: 22, width: wide });
  const words = text("on-coin", { "font-size": 13 });
  const node = element("g", {}, line, tab, words);
  const draw = ({ left, right, y, words: said, alpha, at, lift = 0 }) => {
    set(node, { opacity: alpha });
    set(line, { x1: left, x2: right, y1: y, y2: y });
    set(tab, { x: at, y: y + lift - 11 });
    set(words, { x: at + wide / 2, y: y + lift + 4.5 });
    write(words, said);
  };
  return { node, draw };
}
