// The finish: eight answers, scored one after the other until all are right. Their advantages are computed as everywhere in
// the course, so at the end they are all 0: a group of right answers has nothing left to teach.
import { average, groupAdvantages } from "../../core/grpo.mjs";
import { eight, meanLine } from "../../ui/eight.mjs";
import { element } from "../../ui/element.mjs";
import { fixed } from "../../ui/format.mjs";
import { easeInOut, fall, isStill, lerp, part, set } from "../../ui/moving.mjs";

const [HEIGHT, LINE, UNIT] = [222, 120, 22];
const TAB = 88; // width of the mean's tab: beside the answers, or above them where there is no room
const NARROW = 420;
const GROUP = 8;
const [BEAT, FALL] = [0.45, 0.4]; // seconds from coin to coin, and of a fall
const END = GROUP * BEAT + 0.6;
const STATES = Array.from({ length: GROUP + 1 }, (_, right) => {
  const rewards = Array.from({ length: GROUP }, (_, i) => Number(i < right));
  return { mean: average(rewards), ...groupAdvantages(rewards) };
});
const NEXT = [
  ["next", "#1-a-pretrained-model-with-your-files", "Train a pretrained language model with your functions"],
  ["learn/limits", "#variants", "See what GRPO's relatives do on the same run"],
  ["learn/limits", "#open-questions", "Four open questions"],
];

/** Shows the finish in a box and plays its film once; a still where motion is not wanted. */
export function showFinish(box, stops) {
  const { node, draw } = film(box.clientWidth || NARROW);
  const root = (id) => stops.find((stop) => stop.id === id)?.address;
  box.replaceChildren(
    node,
    element("p", { class: "grpo-finish-said" }, "Eight of eight right. Every advantage is 0: this group has nothing left to teach you."),
    element("p", {}, "You wrote GRPO: advantages from a group, the clipped surrogate, the KL penalty, and the loops that train a bandit and a language model with them."),
    element("ul", {}, NEXT.filter(([id]) => root(id)).map(([id, place, words]) => element("li", {}, element("a", { href: root(id) + place }, words)))));
  if (isStill()) return draw(END);
  let begin = null;
  const step = (now) => {
    begin ??= now;
    draw(Math.min(END, (now - begin) / 1000));
    if (node.isConnected && now - begin < 1000 * END) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/** { node, draw(t) }: the picture t seconds after its begin. */
function film(width) {
  const [answers, mean] = [eight(GROUP), meanLine(TAB)];
  const coins = STATES.slice(1).map(() => element("circle", { class: "coin", r: 9 }));
  const node = element("svg", { class: "grpo-chart", role: "img", viewBox: `0 0 ${width} ${HEIGHT}`,
    "aria-label": "Eight answers with one coin each, all on the line of their mean." }, mean.node, answers.node, coins);
  const narrow = width < NARROW;
  const column = (width - (narrow ? 0 : TAB + 12)) / GROUP;
  const side = Math.min(40, column * 0.76);
  /** Where the middle of an answer is: on its stem, or on the line without a signal. */
  const height = (advantage) => LINE - advantage * UNIT + (advantage < 0 ? side / 2 : -side / 2);

  function draw(t) {
    const right = Math.max(0, Math.min(GROUP, Math.floor((t - FALL) / BEAT + 1))); // coins that have landed
    const before = STATES[Math.max(0, right - 1)];
    const after = STATES[right];
    const way = part(t, (right - 1) * BEAT + FALL, right * BEAT + FALL - 0.1, easeInOut);
    mean.draw({ left: 0, right: width, y: LINE, words: `mean ${fixed(after.mean)}`, alpha: 1, at: width - TAB, lift: narrow ? 14 - LINE : 0 });
    for (let i = 0; i < GROUP; i++) {
      const [from, to] = [before.advantages[i], after.advantages[i]];
      const [x, y] = [(i + 0.5) * column, lerp(height(from), height(to), way)];
      const tone = to && from ? 1 : to ? way : 1 - way;
      answers.place(i, { x, y, s: side, line: LINE, name: "", advantage: to || Math.abs(from), tone, reward: Number(i < right),
        coined: Number(i < right), number: "", numbered: 0, alpha: 1 });
      const falling = part(t, i * BEAT, i * BEAT + FALL, fall);
      set(coins[i], { cx: x, cy: lerp(-12, LINE - side - 12, falling), opacity: i >= right && t > i * BEAT ? 1 : 0 });
    }
  }
  return { node, draw };
}
