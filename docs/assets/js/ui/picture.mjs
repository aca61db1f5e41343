// A figure as a file of its own: its charts as one SVG, with the colors and faces that the page's styles give them now.
import { element } from "./element.mjs";
import { lines } from "./word_lines.mjs";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "stroke-opacity", "opacity", "paint-order", "font-family", "font-size", "font-weight", "text-anchor", "display"];
const EDGE = 24;

/** The SVG text of what is shown: title, large number if any, sentence or paragraphs, legend and charts, one below the other. */
export function drawingOf(figure, { title, number, words }) {
  const here = getComputedStyle(figure);
  const charts = [...figure.querySelectorAll(".grpo-picture svg.grpo-chart")].filter((node) => !node.closest(".grpo-legend-item"));
  const width = Math.max(480, ...charts.map((chart) => chart.clientWidth)) + 2 * EDGE;
  const whole = element("svg", { width, fill: here.color, "font-family": here.fontFamily });
  let y = EDGE;
  const say = (text, size, weight) => {
    for (const line of lines(text, (width - 2 * EDGE) / (0.52 * size))) {
      y += 1.3 * size;
      whole.append(element("text", { x: EDGE, y, "font-size": size, "font-weight": weight }, line));
    }
    y += 8;
  };
  say(title.replace(/^([\d.]+)/, "$1  "), 20, 700);
  if (number) say(number, 36, 800);
  for (const text of [words].flat()) say(text, 15, 500);
  for (const item of figure.querySelectorAll(".grpo-picture .grpo-legend-item")) {
    const sample = place(item.querySelector("svg"), EDGE, y);
    whole.append(sample, element("text", { x: EDGE + 36, y: y + 11, "font-size": 13 }, item.textContent));
    y += 20;
  }
  for (const chart of charts) {
    whole.append(place(chart, EDGE, y));
    y += chart.clientHeight + 8;
  }
  whole.setAttribute("height", y + EDGE);
  whole.setAttribute("viewBox", `0 0 ${width} ${y + EDGE}`);
  whole.prepend(element("rect", { width: "100%", height: "100%", fill: here.backgroundColor }));
  return new XMLSerializer().serializeToString(whole);
}

/** A copy of a chart at (x, y) that needs no style sheet. */
function place(chart, x, y) {
  const twin = chart.cloneNode(true);
  const twins = twin.querySelectorAll("*");
  chart.querySelectorAll("*").forEach((node, i) => {
    const styles = getComputedStyle(node);
    twins[i].removeAttribute("class");
    for (const name of STYLES) twins[i].style.setProperty(name, styles.getPropertyValue(name));
  });
  const { width, height } = chart.getBoundingClientRect();
  for (const [name, value] of Object.entries({ x, y, width, height })) twin.setAttribute(name, value);
  return twin;
}
