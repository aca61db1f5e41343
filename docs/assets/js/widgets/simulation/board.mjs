// The picture of the simulation (S1-P1): the policy as bars, and the film of a step on them. Samples fall on the bars of
// their actions, are compared with the mean of their rewards, and the bars move. Pale bars are the end of a finished run.
// Longer than 150 lines, because bars, samples and their film share one frame of coordinates.
import { gridLines, legendItem, pixel, scale, words } from "../../ui/chart.mjs";
import { block, meanLine } from "../../ui/eight.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, percent } from "../../ui/format.mjs";
import { lerp, set, write } from "../../ui/moving.mjs";
import { film } from "./film.mjs";

const SMALL = 520; // pixels: narrower pictures have no room beside the bars
const GAP = 2; // between samples
const SIZES = [24, 19, 15, 11, 8, 6, 5]; // of samples, the largest that their piles allow

/** Picture and key { node, key, draw({ run, step, t, ghost, crowd }) }: t from 0 to 1 is the time within the step. */
export function board() {
  const grid = element("g");
  const rail = element("path", { class: "rail" });
  const bars = Array.from({ length: 10 }, bar);
  const mean = meanLine(84);
  const samples = element("g");
  const pool = [];
  const hints = ["reward", "at the start"].map((text) => words(0, 0, text, { class: "soft" }));
  const coins = bars.map(({ coin }) => coin);
  const node = element("svg", { role: "img", class: "grpo-chart" }, grid, rail, bars.flatMap(({ parts }) => parts), samples, coins, mean.node, hints);
  const ghostName = element("span", { class: "grpo-ghost-name" });
  const key = element("p", { class: "grpo-legend grpo-keys" },
    legendItem("bar", "policy now"), legendItem("ghost", "before the step"), legendItem("line-reference", "at the start"),
    legendItem("coin", "reward"), side("up", 1, "beat the mean"), side("down", -1, "missed it"), side("flat", 0, "met it"), legendItem("pale", ghostName));
  let drawn = null; // width and height of what is there

  function draw({ run, step, t, ghost, crowd }) {
    const width = node.clientWidth;
    if (!width) return;
    const frame = layout(width, node.clientHeight);
    if (drawn !== frame.name) {
      drawn = frame.name;
      set(node, { viewBox: `0 0 ${width} ${frame.height}` });
      grid.replaceChildren(...gridLines([0, 0.5, 1], frame.y, { left: frame.left, right: width - frame.right + (frame.small ? 0 : 12) }));
    }
    const { record, policy } = run.at(step);
    const before = record?.policyBefore ?? policy;
    const moved = film.moves(t);
    const level = before.map((p, a) => lerp(p, policy[a], moved));
    const rewards = run.simulation.settings.rewardTable;
    set(rail, { d: `M${rewards.map((reward, a) => `${pixel(frame.x(a))} ${pixel(frame.y(reward))}`).join("L")}` });
    bars.forEach((each, a) => each.place(frame, a, {
      p: level[a], before: moved > 0.02 && Math.abs(before[a] - policy[a]) > 4e-3 ? before[a] : null,
      start: run.start[a], reward: rewards[a], end: ghost ? ghost.run.at(ghost.run.steps).policy[a] : null,
    }));
    drawSamples(record, frame, { level, t, crowd, best: run.best });
    [rewards[9], run.start[9]].forEach((value, i) => {
      const covered = record && Math.abs(frame.y(value) - frame.y(record.meanReward)) < 20;
      set(hints[i], { x: width - frame.right + 16, y: frame.y(value) + 4.5, opacity: frame.small || covered ? 0 : 1 });
    });
    write(ghostName, ghost?.name ?? "");
    ghostName.parentNode.hidden = !ghost;
    const top = level.indexOf(Math.max(...level));
    node.setAttribute("aria-label", `Policy after step ${step}: the likeliest action is ${top + 1} with ${percent(level[top])}, `
      + `the best is ${run.best + 1} with ${percent(level[run.best])}.`);
  }

  /** The samples on their bars, and the mean of their rewards; without them where too many steps pass by. */
  function drawSamples(record, frame, { level, t, crowd, best }) {
    const actions = record && !crowd ? record.actions : [];
    while (pool.length < actions.length) pool.push([element("path", { class: "bar flat" }), element("path")]);
    if (samples.childElementCount !== 2 * actions.length) samples.replaceChildren(...pool.slice(0, actions.length).flat());
    mean.draw({
      left: frame.left, right: frame.width - frame.right, y: frame.y(record ? record.meanReward * film.rises(t) : 0),
      at: frame.small && best > 4 ? frame.left : frame.width - 84, // beside the bars, or over those that the best is not among
      words: `mean ${fixed(record?.meanReward ?? 0)}`, alpha: actions.length ? (frame.small ? film.rises : film.comes)(t) : 0,
    });
    const piles = count(actions);
    const tallest = (a) => Math.max(record.policyBefore[a - 1], record.policy[a - 1]);
    const fits = (s) => s <= frame.bar && [...piles].every(([a, n]) => Math.ceil(n / frame.across(s)) * (s + GAP) < frame.y(tallest(a)));
    const size = SIZES.find(fits) ?? SIZES.at(-1);
    const across = frame.across(size);
    const placed = new Map();
    actions.forEach((action, i) => {
      const place = placed.get(action) ?? 0;
      placed.set(action, place + 1);
      const row = Math.floor(place / across);
      const inRow = Math.min(across, piles.get(action) - row * across);
      const x = frame.x(action - 1) + ((place % across) - (inRow - 1) / 2) * (size + GAP);
      const rest = frame.y(level[action - 1]) - GAP - size / 2 - row * (size + GAP);
      const y = lerp(-size, rest, film.falls(t, i, actions.length));
      const advantage = record.advantages[i];
      const [way, tone] = [advantage < 0 ? -1 : 1, advantage ? film.sides(t) : 0];
      const [plain, colored] = pool[i];
      set(plain, { d: block(x, y, size - 2, way, tone), opacity: tone < 1 ? 1 : 0 });
      set(colored, { d: block(x, y, size, way, tone), opacity: tone, class: way > 0 ? "bar up" : "bar down" });
    });
  }
  return { node, key, draw };
}

/** One action: { parts, coin, place(frame, a, { p, before, start, reward, end }) }; before and end may be null. */
function bar() {
  const [pale, old] = [element("rect", { class: "pale", rx: 4 }), element("rect", { class: "ghost", rx: 4 })];
  const now = element("path", { class: "bar" });
  const reference = element("line", { class: "line-reference" });
  const coin = element("circle", { class: "coin" });
  const name = element("text", { class: "name", "font-size": 16, "text-anchor": "middle" });
  const share = element("text", { class: "soft", "text-anchor": "middle" });

  function place({ x, y, bar: wide, base, small }, a, { p, before, start, reward, end }) {
    const [middle, left] = [x(a), x(a) - wide / 2];
    const high = (value) => Math.max(1.5, base - y(value));
    const upright = (node, value, more) => set(node, {
      x: pixel(left - more), width: pixel(wide + 2 * more), y: pixel(base - high(value ?? 0)), height: pixel(high(value ?? 0)), opacity: value === null ? 0 : 1,
    });
    upright(pale, end, small ? 3 : 7);
    upright(old, before, 0.5);
    set(now, { d: rounded(left, base, wide, high(p)) });
    set(reference, { x1: pixel(left - wide * 0.2), x2: pixel(left + wide * 1.2), y1: pixel(y(start)), y2: pixel(y(start)) });
    set(coin, { cx: pixel(middle), cy: pixel(y(reward)), r: small ? 5 : 6.5 });
    set(name, { x: pixel(middle), y: base + 22 }); // below the coin of a reward of 0
    set(share, { x: pixel(middle), y: base + 39 });
    write(name, a + 1);
    write(share, small ? fixed(100 * p, 0) : percent(p));
  }
  return { parts: [pale, reference, now, old, name, share], coin, place };
}

/** A bar with round shoulders on the base. */
function rounded(x, base, wide, high) {
  const r = Math.min(7, high, wide / 2);
  const [l, w, t] = [pixel(x), pixel(wide), pixel(base - high)];
  return `M${l} ${base}V${pixel(t + r)}Q${l} ${t} ${pixel(l + r)} ${t}H${pixel(l + w - r)}Q${pixel(l + w)} ${t} ${pixel(l + w)} ${pixel(t + r)}V${base}Z`;
}

/** Sizes and scales of a picture. */
function layout(width, height) {
  const small = width < SMALL;
  const pad = small ? { left: 26, right: 0, top: 40, bottom: 46 } : { left: 34, right: 92, top: 44, bottom: 46 };
  const base = height - pad.bottom;
  const slot = (width - pad.left - pad.right) / 10;
  const wide = Math.min(56, slot * 0.64);
  return {
    name: `${width} ${height}`, width, height, small, base, bar: wide, left: pad.left, right: pad.right,
    x: (a) => pad.left + slot * (a + 0.5),
    y: scale(0, 1, base, pad.top),
    across: (size) => Math.max(1, Math.floor((wide + 8) / (size + GAP))),
  };
}

function count(actions) {
  const times = new Map();
  for (const action of actions) times.set(action, (times.get(action) ?? 0) + 1);
  return times;
}

const side = (style, way, name) => element("span", { class: "grpo-legend-item" },
  element("svg", { width: 28, height: 14, class: "grpo-chart", "aria-hidden": "true", focusable: "false" },
    element("path", { class: `bar ${style}`, d: block(14, 7, 13, way, Math.abs(way)) })), name);
