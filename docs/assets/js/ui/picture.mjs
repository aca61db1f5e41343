// A figure as a picture to post: a PNG with its title, its sentence, its charts as the page shows them now, and the address.
import { card, HEIGHT, WIDTH } from "./card.mjs";
import { element } from "./element.mjs";
import { download } from "./files.mjs";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "stroke-opacity", "opacity", "paint-order", "font-family", "font-size", "font-weight", "text-anchor", "display"];
const FACES_MS = 200;
const drawn = new WeakSet(); // figures whose faces were there once, and stay
const COLORS = { paper: "--paper", ink: "--ink", pale: "--ink-2", up: "--up", down: "--down" };

/** Saves what a figure shows, with a title, a large number if any, and a sentence. */
export async function savePicture(figure, name, told) {
  const canvas = element("canvas", { width: WIDTH, height: HEIGHT });
  canvas.getContext("2d").drawImage(await imageOf(figure, told), 0, 0);
  download(`${name}.png`, await new Promise((made) => canvas.toBlob(made, "image/png")));
}

/** The same as an image. */
export async function imageOf(figure, told) {
  const here = getComputedStyle(figure);
  const colors = Object.fromEntries(Object.entries(COLORS).map(([name, token]) => [name, here.getPropertyValue(token)]));
  const shown = (node) => !node.closest("button") && node.getBoundingClientRect().width > 0;
  const [samples, charts] = [".grpo-legend-item svg", "svg.grpo-chart"].map((kind) => [...figure.querySelectorAll(`.grpo-picture ${kind}`)].filter(shown));
  const whole = card({
    ...told, colors,
    charts: charts.filter((node) => !samples.includes(node)).map((node) => ({ node: copyOf(node), width: node.clientWidth, height: node.clientHeight })),
    legend: samples.map((node) => ({ node: copyOf(node), text: node.parentNode.textContent.trim() })),
    course: document.querySelector(".md-header__topic")?.textContent.trim() ?? "",
    address: location.host + location.pathname.replace(/\/$/, ""),
  });
  whole.prepend(element("style", {}, await faces()));
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(whole)], { type: "image/svg+xml" }));
  await image.decode();
  if (!drawn.has(figure)) await facesAreThere(image);
  drawn.add(figure);
  URL.revokeObjectURL(image.src);
  return image;
}

/** Chromium decodes a picture before the faces inside it are ready, and leaves their text out of the first drawing. */
async function facesAreThere(image) {
  const pen = element("canvas", { width: WIDTH, height: HEIGHT }).getContext("2d");
  pen.drawImage(image, 0, 0);
  await new Promise((later) => setTimeout(later, FACES_MS));
}

/** A copy of a chart that needs no style sheet. */
function copyOf(chart) {
  const twin = chart.cloneNode(true);
  const twins = twin.querySelectorAll("*");
  chart.querySelectorAll("*").forEach((node, i) => {
    const styles = getComputedStyle(node);
    twins[i].removeAttribute("class");
    for (const name of STYLES) twins[i].style.setProperty(name, styles.getPropertyValue(name));
  });
  twin.removeAttribute("class");
  return twin;
}

let kept;

/** The page's own faces inside a style sheet, because a picture loads nothing. */
function faces() {
  kept ??= Promise.all([...document.styleSheets].flatMap(rulesOf).map(async (rule) => {
    const source = /url\("?([^")]+)/.exec(rule.style.src)[1];
    const font = await (await fetch(new URL(source, rule.parentStyleSheet.href))).blob();
    const data = await new Promise((read) => {
      const reader = new FileReader();
      reader.onload = () => read(reader.result);
      reader.readAsDataURL(font);
    });
    return `@font-face{font-family:${rule.style.fontFamily};font-weight:${rule.style.fontWeight};src:url(${data})}`;
  })).then((all) => all.join(""), () => "");
  return kept;
}

const NAMES = /^"?(Gabarito|Literata Greek)"?$/;

function rulesOf(sheet) {
  try {
    return [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule && NAMES.test(rule.style.fontFamily) && rule.style.src.includes("url"));
  } catch {
    return []; // a site on a disk may not read its own style sheets; the system's faces do
  }
}
