// The settings of the language model, and the five openings.
import { button, choice, group, slider, wholeNumber } from "../../ui/controls.mjs";
import { element, uniqueId } from "../../ui/element.mjs";
import { picks } from "../../ui/picks.mjs";
import { rewardBuilder } from "./blocks.mjs";
import { OPENINGS } from "./openings.mjs";
import { LARGEST_SEED, SETTINGS, prompts, watchable } from "./settings.mjs";

/** { node, opener, show(state) }; `change(settings)` and `open(name of an opening)` are called by its controls. */
export function panel(state, change, open) {
  const controls = {};
  for (const [name, { label, values, options, show }] of Object.entries(SETTINGS)) {
    const use = (value) => change({ [name]: value });
    let waiting = state[name];
    if (name === "task") controls[name] = picks({ label, options, value: state.task, change: use });
    else controls[name] = options ? choice({ label, options, value: state[name], change: use })
      : slider({ label, values, value: state[name], show: (x) => String(show?.(x) ?? x), change: (value) => void (waiting = value), commit: () => use(waiting) });
    controls[name].input?.setAttribute("data-setting", name);
  }
  const reward = rewardBuilder((terms) => change({ terms }), () => prompts(now)[now.prompt === "sums" ? 34 : 0]);
  const watch = watchField((text) => change({ watch: text }));
  const seed = wholeNumber({ label: "Seed", value: state.seed, low: 0, high: LARGEST_SEED, change: (value) => change({ seed: value }) });
  const nodes = (...names) => names.map((name) => controls[name].node);
  const done = button("Done", () => openSheet(false), { class: "grpo-button grpo-primary grpo-close" });
  const own = element("div", { class: "lm-own" }, reward.node, nodes("prompt"), watch.node);
  const noClip = element("p", { class: "grpo-note" }, "With one update per batch every ratio is 1, so ε has no effect.");
  const node = element("div", { class: "grpo-panel", role: "group", "aria-label": "Settings" }, done,
    group("Guess first", element("div", { class: "grpo-bar" }, Object.entries(OPENINGS).map(([name, { name: text }]) => button(text, () => open(name))))),
    controls.task.node, own,
    group("Algorithm", nodes("g", "p", "beta", "lr", "inner", "eps"), noClip,
      element("details", { class: "grpo-details lm-more" }, element("summary", {}, "More settings"), element("div", {}, nodes("high", "t", "level", "ratio", "std", "tokens")))),
    group("Run", nodes("steps"), seed.node, button("New seed", () => change({ seed: Math.floor(Math.random() * (LARGEST_SEED + 1)) }))));
  const opener = button("Settings", () => openSheet(!node.classList.contains("open")), { class: "grpo-button grpo-opener", "aria-expanded": "false" });
  node.addEventListener("keydown", ({ key }) => key === "Escape" && node.classList.contains("open") && openSheet(false));
  let now = state;

  function openSheet(on) {
    node.classList.toggle("open", on);
    opener.setAttribute("aria-expanded", on);
    (on ? done : opener).focus({ preventScroll: true });
  }

  /** `afresh`: the reward too, whose fields are left alone while somebody writes in them. */
  function show(next, afresh = true) {
    now = next;
    for (const name in SETTINGS) controls[name].set(next[name]);
    seed.set(next.seed);
    own.hidden = next.task !== "own";
    watch.node.hidden = next.prompt === "sums";
    watch.set(next.watch);
    noClip.hidden = next.inner > 1 || (next.eps === SETTINGS.eps.value && !next.high); // whoever moves it sees why nothing happens
    if (afresh) reward.show(next.terms);
  }
  show(state);
  return { node, opener, show, close: () => node.classList.contains("open") && openSheet(false) };
}

/** The completion whose probability the first curve shows. */
function watchField(change) {
  const id = uniqueId("watch");
  const input = element("input", { id, type: "text", maxlength: 24, spellcheck: "false", autocapitalize: "off" });
  let last = "";
  input.addEventListener("change", () => {
    const text = watchable(input.value.toLowerCase()) ?? last;
    input.value = text;
    if (text !== last) change(text);
  });
  const set = (text) => void (input.value = last = text);
  return { node: element("div", { class: "grpo-control" }, element("label", { for: id }, "The large curve: probability of"), input), set };
}
