// The reward as blocks to put together: terms that are added, each a number times one to three blocks.
import { BLOCKS, LARGEST, LONGEST_WORD, MOST_FACTORS, MOST_TERMS, rewardOf } from "../../core/lm/reward.mjs";
import { button } from "../../ui/controls.mjs";
import { element, uniqueId } from "../../ui/element.mjs";
import { fixed } from "../../ui/format.mjs";

const NEW = { times: 1, factors: [{ name: "has", not: false, argument: "z" }] };
const ARGUMENTS = { word: "z", number: 8 };
const OPTIONS = Object.entries(BLOCKS).map(([name, { text }]) => [name, text]);

/** The builder { node, show(terms) }; `change(terms)` is called with every change, `example(text)` names a prompt to try with. */
export function rewardBuilder(change, promptOf) {
  let terms = [];
  const list = element("div");
  const tried = element("input", { type: "text", maxlength: 40, value: "pizza.", spellcheck: "false", autocapitalize: "off", oninput: () => tryOut() });
  const earned = element("output", { class: "grpo-value" });
  const more = button("+ term", () => put([...terms, structuredClone(NEW)], terms.length));
  const node = element("fieldset", { class: "grpo-group lm-reward" }, element("legend", {}, "Reward"), list, more,
    element("div", { class: "grpo-control" }, element("label", { for: (tried.id = uniqueId("tried")) }, "A completion earns"), earned, tried));

  function put(next, focus) {
    change(next);
    show(next);
    if (focus !== undefined) list.children[focus]?.querySelector("input, select").focus();
  }

  const tryOut = () => void (earned.textContent = fixed(rewardOf(terms, promptOf(), tried.value), 2));

  function show(next) {
    terms = next;
    list.replaceChildren(...terms.map(termNode));
    more.hidden = terms.length >= MOST_TERMS;
    tryOut();
  }

  /** Changes a term; with `again`, its nodes are new, and the keyboard goes to the one that is called as before. */
  const edit = (t, next, again = false) => {
    const changed = terms.map((term, i) => (i === t ? { ...term, ...next } : term));
    terms = changed;
    change(changed);
    if (again) {
      const label = document.activeElement.getAttribute("aria-label");
      show(changed);
      [...list.querySelectorAll("[aria-label]")].find((node) => node.getAttribute("aria-label") === label)?.focus();
    } else tryOut();
  };

  function termNode({ times, factors }, t) {
    const number = element("input", { type: "number", step: "any", min: -LARGEST, max: LARGEST, value: times, "aria-label": `Term ${t + 1}: number`, onchange: () => {
      const entered = number.valueAsNumber;
      number.value = Number.isFinite(entered) ? Math.min(LARGEST, Math.max(-LARGEST, Math.round(entered * 1000) / 1000)) : times;
      edit(t, { times: Number(number.value) });
    } });
    const remove = button("Remove", () => put(terms.filter((_, i) => i !== t), Math.max(0, t - 1)), { class: "grpo-button lm-quiet", "aria-label": `Remove term ${t + 1}` });
    const another = button("× another block", () => edit(t, { factors: [...terms[t].factors, structuredClone(NEW.factors[0])] }, true), { class: "grpo-button lm-quiet", "aria-label": `Term ${t + 1}: times another block` });
    return element("div", { class: "lm-term", role: "group", "aria-label": `Term ${t + 1}` },
      element("div", { class: "lm-times" }, element("span", { class: "lm-sign" }, t ? "+" : ""), number, ...(terms.length > 1 ? [remove] : [])),
      factors.map((factor, f) => factorNode(factor, t, f)), ...(factors.length < MOST_FACTORS ? [another] : []));
  }

  function factorNode({ name, not, argument }, t, f) {
    const where = `Term ${t + 1}, block ${f + 1}`;
    const change_ = (next, again) => edit(t, { factors: terms[t].factors.map((each, i) => (i === f ? { ...each, ...next } : each)) }, again);
    const select = element("select", { "aria-label": where, onchange: () => {
      if (select.value === "none") return edit(t, { factors: terms[t].factors.filter((_, i) => i !== f) }, true);
      const block = BLOCKS[select.value];
      change_({ name: select.value, not: not && Boolean(block.yesNo), argument: ARGUMENTS[block.takes] }, true);
    } }, (f ? [...OPTIONS, ["none", "remove this block"]] : OPTIONS).map(([key, text]) => element("option", { value: key, selected: key === name }, text)));
    const { takes, yesNo } = BLOCKS[name];
    const box = element("input", { type: "checkbox", onchange: () => change_({ not: box.checked }) });
    box.checked = not;
    return element("div", { class: "lm-factor" }, element("span", { class: "lm-sign" }, "×"),
      ...(yesNo ? [element("label", { class: "grpo-option" }, box, "not")] : []), select, ...(takes ? [argumentNode(takes, argument, where, change_)] : []));
  }

  function argumentNode(takes, argument, where, change_) {
    const input = element("input", { type: takes === "number" ? "number" : "text", value: argument, min: 1, max: 99, maxlength: LONGEST_WORD, spellcheck: "false", autocapitalize: "off",
      "aria-label": `${where}: ${takes}`, onchange: () => {
        const text = takes === "number" ? Math.min(99, Math.max(1, Math.round(input.valueAsNumber) || 8)) : input.value.toLowerCase().replace(/[^a-z0-9 +=.]/g, "").slice(0, LONGEST_WORD) || argument;
        input.value = text;
        change_({ argument: text });
      } });
    return input;
  }
  return { node, show };
}
