// What the numbers of a question's runs look like. A picture shows what is in the fields, right or wrong, and dashed
// where nothing is yet; it computes nothing, so it gives nothing away.
import { record, slotsOf } from "../../core/worksheet.mjs";
import { dotPlot } from "../../ui/dot_plot.mjs";
import { element } from "../../ui/element.mjs";
import { group, policy } from "./pictures.mjs";

const SHARES = [0, 0.25, 0.5, 0.75, 1];
const STEPS = [0, 10, 20, 30, 40, 50];
const LONG = [0, 50, 100, 150, 200];
const ALGORITHMS = ["GRPO", "REINFORCE", "REINFORCE + baseline"];

/** { nodes, draw(cells) } of a question; edit(slot id) is called when the place of a run is pressed. */
export function plotOf(question, edit) {
  const { nodes, draw } = PLOTS[question](edit);
  let shown = "";
  return {
    nodes: nodes.map((node) => element("div", { class: "grpo-plot", style: node.getAttribute("style") }, node)),
    draw(cells) {
      const text = JSON.stringify(cells);
      if (text !== shown) draw(cells); // a press that takes the focus from a field must not lose what it presses
      shown = text;
    },
  };
}

const PLOTS = {
  "1B.1": (edit) => together(...slotsOf("1B.1").map((slot, i) => group(slot, ["First run", "Second run"][i], edit))),
  "1C.1": (edit) => plot(edit, { title: "Steps until π(7) > 0.5", ticks: STEPS, digits: 0, never: true, gutter: 44 }, "stepsToHalf",
    slotsOf("1C.1").map((slot, i) => ({ name: `Try ${i + 1}`, slots: [slot] }))),
  "1C.3": (edit) => policy(...slotsOf("1C.3"), edit),
  "1D.1": (edit) => plot(edit, { title: "π(7) after 50 steps", ticks: SHARES, digits: 3, gutter: 50 }, "bestProbability",
    [2, 8, 32].map((size) => ({ name: `G = ${size}`, slots: slotsOf("1D.1").filter(({ id }) => id.startsWith(`1D.G${size}.`)) }))),
  "1E.1": (edit) => {
    const groups = slotsOf("1E.1").map((slot, i) => ({ name: ALGORITHMS[i], slots: [slot] }));
    return together(
      plot(edit, { title: "Steps until π(7) > 0.9", ticks: LONG, digits: 0, never: true, gutter: 0 }, "stepsTo90", groups),
      plot(edit, { title: "max π after 200 steps", ticks: SHARES, digits: 3, gutter: 0 }, "maxProbability", groups));
  },
  // beside it, hollow, the runs of 1D that differ in nothing but β
  bonus: (edit) => plot(edit, { title: "π(7) after 50 steps", ticks: SHARES, digits: 3, gutter: 56 }, "bestProbability", [
    { name: "β = 0.30", slots: slotsOf("bonus") },
    { name: "β = 0", soft: true, slots: slotsOf("1D.1").filter(({ id }) => id.startsWith("1D.G8.")) },
  ]),
};

const together = (...plots) => ({
  nodes: plots.flatMap(({ nodes }) => nodes),
  draw: (cells) => plots.forEach(({ draw }) => draw(cells)),
});

/** One dot for each slot of groups { name, slots, soft }: a value of its run. */
function plot(edit, options, value, groups) {
  const { node, draw } = dotPlot({ ...options, sizes: groups.map(({ slots }) => slots.length) });
  const lane = (slot, soft, cells) => {
    const { seed, values } = record(slot, cells[slot.id]);
    return { value: values[value], note: seed === null ? "" : `seed ${seed}`, press: soft ? null : () => edit(slot.id) };
  };
  return {
    nodes: [node],
    draw: (cells) => draw(groups.map(({ name, slots, soft }) => ({ name, soft, lanes: slots.map((slot) => lane(slot, soft, cells)) }))),
  };
}
