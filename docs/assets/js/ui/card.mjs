// What is posted: a picture of 1200 × 630 with a title, a sentence, charts, and whose it is. A page draws it when somebody
// saves a picture or a film, and the build draws one for every page.
import { element } from "./element.mjs";
import { lines } from "./word_lines.mjs";

export const WIDTH = 1200;
export const HEIGHT = 630;
const EDGE = 60;
const FOOT = 560; // the upper edge of the mark
const BESIDE = 0.5; // charts that are higher for their width stand beside the words
const MARK = [-1, 1, -1, 1, 1, -1, -1, -1]; // the logo: eight answers, pushed up or down
const LEGEND = 30;

/**
 * The card as SVG. Charts are { node, width, height, scope }, drawn at that size, with the classes of what they are in;
 * legend items are { node, text, scope }; colors are { paper, ink, pale, up, down }.
 */
export function card({ title, number = "", words = "", charts = [], legend = [], course, address, colors }) {
  const nodes = [element("rect", { width: WIDTH, height: HEIGHT, fill: colors.paper })];
  const width = Math.max(0, ...charts.map((chart) => chart.width));
  const height = charts.reduce((sum, chart) => sum + chart.height, 0);
  const bare = !charts.length;
  const beside = !bare && height / width > BESIDE;
  const column = beside ? 440 : WIDTH - 2 * EDGE;
  let y = EDGE - 14;
  const say = (text, { size, weight = 500, most, fill = colors.ink }) => {
    const all = lines(text.replaceAll("‖", "||"), column / (0.5 * size));
    if (all.length > most) all.splice(most - 1, Infinity, `${all[most - 1].replace(/[^\p{L}\p{N}]*$/u, "")} …`);
    for (const line of all) {
      y += 1.18 * size;
      nodes.push(element("text", { x: EDGE, y, "font-size": size, "font-weight": weight, fill }, line));
    }
    y += 0.5 * size;
  };
  const long = !bare && title.length > 85; // a question that was guessed
  say(title, { size: bare ? 60 : title.length < 45 ? 50 : long ? 30 : 42, weight: 800, most: (beside ? 5 : bare ? 3 : 2) + 2 * long });
  if (number) say(number, { size: 36, weight: 800, most: 2, fill: colors.up });
  if (words) say(words, { size: bare ? 30 : 25, most: beside ? 7 : bare ? 3 : 2 });
  const box = beside ? { x: EDGE + column + 40, y: EDGE } : { x: EDGE, y: y + 6 };
  const { rows, names } = legendOf(legend, box, colors);
  box.y += rows * LEGEND;
  nodes.push(...names, ...placed(charts, { width, height }, { ...box, width: WIDTH - EDGE - box.x, height: FOOT - 36 - box.y }));
  if (bare && y < 380) nodes.push(mark({ x: EDGE, y: 400, scale: 3.2 }, colors));
  else nodes.push(mark({ x: EDGE, y: FOOT, scale: 1 }, colors));
  nodes.push(said(bare && y < 380 ? EDGE : EDGE + 100, course, 24, 800, colors.ink), said(WIDTH - EDGE, address, 22, 500, colors.pale, "end"));
  return element("svg", { xmlns: "http://www.w3.org/2000/svg", width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    "font-family": 'Gabarito, "Literata Greek", sans-serif' }, nodes);
}

const said = (x, text, size, weight, fill, anchor = "start") =>
  element("text", { x, y: FOOT + 26, "font-size": size, "font-weight": weight, fill, "text-anchor": anchor }, text);

/** Samples of marks with their names, in rows. */
function legendOf(items, { x: left, y: top }, { ink }) {
  let [x, rows] = [left, items.length ? 1 : 0];
  const names = items.flatMap(({ node, text, scope }) => {
    const width = 72 + 9.5 * text.length;
    if (x > left && x + width > WIDTH - EDGE) [x, rows] = [left, rows + 1];
    const y = top + rows * LEGEND - 16;
    for (const [name, value] of Object.entries({ viewBox: "0 0 28 12", x, y: y - 15, width: 42, height: 18 })) node.setAttribute(name, value);
    const both = [element("g", { class: scope }, node), element("text", { x: x + 50, y, "font-size": 19, fill: ink, "font-weight": 500 }, text)];
    x += width;
    return both;
  });
  return { rows, names };
}

/** Charts below each other, as large as they fit into a box. */
function placed(charts, { width, height }, box) {
  const scale = Math.min(box.width / width, box.height / height);
  let y = box.y;
  return charts.map((chart) => {
    const place = { viewBox: `0 0 ${chart.width} ${chart.height}`, x: box.x, y, width: chart.width * scale, height: chart.height * scale };
    for (const [name, value] of Object.entries(place)) chart.node.setAttribute(name, value);
    y += place.height;
    return element("g", { class: chart.scope }, chart.node);
  });
}

const mark = ({ x, y, scale }, { up, down, pale }) => element("g", { transform: `translate(${x} ${y}) scale(${scale})` },
  MARK.map((side, i) => element("rect", { x: 2 + 10 * i, y: side > 0 ? 0 : 18, width: 8, height: side > 0 ? 18 : 12, rx: 4, fill: side > 0 ? up : down })),
  element("line", { x1: 0, x2: 82, y1: 18, y2: 18, stroke: pale, "stroke-width": 2.5 }));
