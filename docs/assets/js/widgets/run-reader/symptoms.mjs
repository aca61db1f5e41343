// The symptoms that stand in the page under headings: their texts, and a list in which to find one.
import { element, uniqueId } from "../../ui/element.mjs";

/** { id: { title, level, group, listed, body (nodes), causes, next, disagree } } of the headings with a level among the nodes. */
export function textsIn(nodes) {
  const elements = nodes.filter(({ nodeType }) => nodeType === Node.ELEMENT_NODE);
  return Object.fromEntries(elements.flatMap((heading, i) => {
    if (!heading.dataset.level) return [];
    const rest = elements.slice(i + 1);
    const end = rest.findIndex(({ localName }) => /^h\d$/.test(localName));
    const body = end < 0 ? rest : rest.slice(0, end);
    const items = (tag) => body.filter(({ localName }) => localName === tag).flatMap((list) => [...list.children].map(written));
    const disagree = body.map(written).find((text) => text.startsWith("Practitioners disagree: "))?.slice(24);
    heading.querySelector(".headerlink")?.remove();
    const { level, group } = heading.dataset;
    return [[heading.id, { title: written(heading), level, group, listed: !("unlisted" in heading.dataset), body, causes: items("ol"), next: items("ul"), disagree }]];
  }));
}

/** The logs to try that stand in the page: [name, text]. */
export const logsIn = (nodes) => nodes.flatMap((node) => [...(node.querySelectorAll?.("pre") ?? [])]).map((pre) => {
  const block = pre.closest(".highlight") ?? pre;
  return [block.previousElementSibling.textContent.replace(/:$/, ""), pre.textContent];
});

/** Text of a node, with its code between backticks. */
const written = (node) => [...node.childNodes].map((child) => (child.localName === "code" ? `\`${child.textContent}\`` : child.textContent)).join("").trim().replace(/\s+/g, " ");

/** The nodes of a text with `code`. */
export const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));

/** A list { node, mark(id) } with a field that narrows it. */
export function symptomList(texts, choose) {
  const id = uniqueId("seen");
  const entries = Object.entries(texts).filter(([, { listed }]) => listed).map(([name, { title, group }]) => ({ name, group,
    words: `${title} ${group}`.toLowerCase(),
    node: element("button", { type: "button", onclick: () => choose(name) }, withCode(title)) }));
  const none = element("p", { hidden: true }, "No symptom has this word. Try the name of a metric, such as kl or clip.");
  const groups = [...new Set(entries.map(({ group }) => group))].map((group) => {
    const own = entries.filter((entry) => entry.group === group);
    return { own, node: element("li", {}, element("span", { class: "grpo-run-group" }, group), element("ul", {}, own.map(({ node }) => element("li", {}, node)))) };
  });
  const narrow = (typed) => {
    const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { words, node } of entries) node.parentNode.hidden = !wanted.every((word) => words.includes(word));
    for (const { own, node } of groups) node.hidden = own.every((entry) => entry.node.parentNode.hidden);
    none.hidden = entries.some(({ node }) => !node.parentNode.hidden);
  };
  const field = element("input", { type: "search", id, autocomplete: "off", placeholder: "loss 0, kl nan, clip, length …", oninput: () => narrow(field.value) });
  const mark = (chosen) => entries.forEach(({ name, node }) => node.setAttribute("aria-pressed", String(name === chosen)));
  mark(null);
  return { mark, node: element("div", { class: "grpo-run-door" }, element("label", { for: id }, `${entries.length} symptoms, under the names that libraries print`), field,
    element("ul", { class: "grpo-run-symptoms", tabindex: "0", "aria-label": "Symptoms" }, groups.map(({ node }) => node)), none) };
}
