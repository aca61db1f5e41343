// The sent runs in the strip: each as the small eight of its first step, with its seed, what it is, and the tables that have it.
import { Simulation } from "../../core/bandit.mjs";
import { isStarted, record } from "../../core/worksheet.mjs";
import { fits, wordsFor } from "../../core/worksheet_filling.mjs";
import { RUNS } from "../../core/worksheet_runs.mjs";
import { element } from "../../ui/element.mjs";
import { mark } from "../../ui/mark.mjs";
import { sentRuns } from "../../ui/runs.mjs";
import { makeScrollable } from "../../ui/table.mjs";

const [WIDE, HIGH, LINE] = [88, 44, 22]; // pixels of a small eight, and the height of its mean line
const UNIT = 12; // pixels of an advantage of 1, fewer where one is large
const pictures = new Map(); // of a run as text

/** Shows the sent runs, newest first. */
export function showSent(box, cells) {
  const runs = sentRuns().reverse();
  const said = JSON.stringify([runs, cells]);
  if (box.dataset.shown === said) return;
  box.dataset.shown = said;
  box.replaceChildren(runs.length ? element("ul", {}, runs.map((run) => item(run, cells))) : none());
  makeScrollable(box, "Sent runs");
}

/** The address of the simulation is taken from a link of the page: it is another one where the pages are files on a disk. */
function none() {
  const { href } = document.querySelector("article a[href*=simulation]");
  return element("p", {}, "None yet. Make a run in the ", element("a", { href }, "simulation"),
    element("span", {}, " and press ", element("em", {}, "Send to worksheet"), " there"), ".");
}

function item(run, cells) {
  const places = placesOf(run, cells);
  const links = places.filter(({ taken }) => taken).map(({ question }) =>
    element("a", { href: `#runs-${question.toLowerCase()}` }, element("span", { class: "grpo-number" }, question === "bonus" ? "Bonus" : question)));
  return element("li", {}, pictureOf(run),
    element("span", { class: "grpo-sent-run" }, element("b", {}, `seed ${run.seed}`), " ", element("span", {}, wordsFor(run))),
    element("span", { class: "grpo-sent-places" }, links.length ? links : places.length ? "not used yet" : "fits no empty row"));
}

/** The tables in which a run is, or could be: [{ question, taken }]. */
function placesOf(run, cells) {
  const found = new Map();
  for (const slot of RUNS.filter((slot) => fits(slot, run))) {
    const taken = record(slot, cells[slot.id]).seed === run.seed;
    if (taken || !isStarted(cells[slot.id])) found.set(slot.question, taken || found.get(slot.question) === true);
  }
  return [...found].map(([question, taken]) => ({ question, taken }));
}

function pictureOf(run) {
  const text = JSON.stringify(run);
  if (!pictures.has(text)) pictures.set(text, draw(run));
  return pictures.get(text).cloneNode(true);
}

function draw(run) {
  const node = element("svg", { class: "grpo-chart grpo-small-eight", viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true", focusable: "false" },
    element("line", { class: "mean", x1: 0, x2: WIDE, y1: LINE, y2: LINE }));
  const advantages = firstGroup(run);
  const unit = Math.min(UNIT, (LINE - 2) / Math.max(...advantages.map(Math.abs), 1e-9));
  const column = Math.min(11, WIDE / advantages.length);
  const left = (WIDE - column * advantages.length) / 2;
  node.append(...advantages.map((advantage, i) =>
    mark({ middle: left + (i + 0.5) * column, wide: column * 0.82, line: LINE, end: LINE - advantage * unit })));
  return node;
}

/** The advantages of a run's first step; none if another version of the simulation sent it. */
function firstGroup({ settings, seed }) {
  try {
    return new Simulation(settings, { seed }).step().advantages;
  } catch {
    return [];
  }
}
