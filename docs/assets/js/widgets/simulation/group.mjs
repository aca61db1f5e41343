// The group of a step: its samples in the order in which they were drawn, on the line of their mean.
import { eight, meanLine } from "../../ui/eight.mjs";
import { element } from "../../ui/element.mjs";
import { fixed, signed } from "../../ui/format.mjs";
import { set } from "../../ui/moving.mjs";
import { film } from "./film.mjs";

const HEIGHT = 190;
const SLOT = 36; // pixels of a mark that is still legible

/** Picture and sentence { node, draw({ record, size, t }) }: `size` marks wait where there is no record yet. */
export function groupView() {
  let marks = null;
  const line = meanLine(0);
  const picture = element("svg", { role: "img", class: "grpo-chart", height: HEIGHT });
  const note = element("p", { class: "grpo-readout" });
  const node = element("section", { "aria-label": "Group of the step" }, element("h2", { class: "grpo-title" }, "The group of this step"), picture, note);

  function draw({ record, size, t }) {
    const width = picture.clientWidth;
    if (!width) return;
    const count = Math.min(Math.floor(width / SLOT) || 1, record?.actions.length ?? size);
    if (marks?.count !== count) {
      marks = { count, ...eight(count) };
      picture.replaceChildren(line.node, marks.node);
    }
    set(picture, { viewBox: `0 0 ${width} ${HEIGHT}` });
    const slot = width / count;
    const s = Math.min(36, slot * 0.82);
    const largest = Math.max(1.9, ...(record?.advantages ?? []).map(Math.abs)); // no mark is cut
    const unit = Math.min(30, (HEIGHT / 2 - s - 24) / largest);
    line.draw({ left: 0, right: width, y: HEIGHT / 2, words: "", alpha: 1, at: -99 });
    const tone = film.sides(t);
    for (let i = 0; i < count; i++) {
      const advantage = record?.advantages[i] ?? 0;
      marks.place(i, {
        x: slot * (i + 0.5), y: HEIGHT / 2 - tone * (advantage * unit + (Math.sign(advantage) * s) / 2), s, line: HEIGHT / 2,
        name: record ? record.actions[i] : "?", advantage, tone, coined: 0, reward: 0,
        number: signed(advantage, 1), numbered: record ? tone : 0, alpha: record ? Math.min(1, 4 * film.falls(t, i, count)) : 1,
      });
    }
    tell(record, count);
  }

  function tell(record, count) {
    const said = `${words(record)}${record ? rest(record.actions.length, count) : ""}`;
    if (note.textContent === said) return;
    note.textContent = said;
    picture.setAttribute("aria-label", record
      ? `Group of step ${record.steps}: ${record.actions.slice(0, count).map((a, i) => `action ${a}, advantage ${signed(record.advantages[i])}`).join("; ")}.`
      : "No group yet.");
  }
  return { node, draw };
}

const rest = (size, count) => (size > count ? ` ${size - count} more samples are in Step detail.` : "");

function words(record) {
  if (!record) return "Not drawn yet: each sample will appear above or below the mean of its group.";
  if (record.zeroSignal) return `Step ${record.steps}: all rewards are ${fixed(record.rewards[0])}. No signal, every advantage is 0.`;
  return `Step ${record.steps}: mean ${fixed(record.meanReward)}, standard deviation ${fixed(record.std)}.`;
}
