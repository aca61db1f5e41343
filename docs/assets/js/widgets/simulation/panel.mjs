// The controls of the simulation (S1-C1 to S1-C13) and the notes that some of them carry.
import { button, choice, group, slider, toggle, wholeNumber } from "../../ui/controls.mjs";
import { element } from "../../ui/element.mjs";
import { set } from "../../ui/moving.mjs";
import { EXAMPLES, LARGEST_SHOWN_SEED, SETTINGS, randomSeed, unused } from "./settings.mjs";

/**
 * The panel { node, opener, show(state) }; `opener` is its button on a phone. `change(settings, options)` is called with the
 * settings that the reader changes, also while a slider moves (options.keep is false then); `keep()` when it stops.
 */
export function panel(state, change, keep) {
  const controls = {};
  for (const [name, { label, values, options, show }] of Object.entries(SETTINGS)) {
    const use = (value) => change({ [name]: value }, { keep: Boolean(options) });
    controls[name] = options
      ? choice({ label, options, value: state[name], change: use })
      : slider({ label, values, value: state[name], show, change: use, commit: keep });
    controls[name].input.dataset.setting = name;
  }
  const seed = wholeNumber({ label: "Seed", value: state.seed, low: 0, high: LARGEST_SHOWN_SEED, change: (value) => change({ seed: value }) });
  seed.input.dataset.setting = "seed";
  const lock = toggle({ label: "Lock seed", value: state.lock, change: (on) => change({ lock: on }, { restart: false }) });
  lock.input.dataset.setting = "lock";
  const defaults = Object.fromEntries(Object.entries(SETTINGS).map(([name, { value }]) => [name, value]));
  const noClip = element("p", { class: "grpo-note", hidden: true },
    "With one inner update every ratio is 1: ε has no effect. ",
    button("Try 4", () => {
      change({ k: 4 });
      controls.k.input.focus(); // the button goes
    }));
  const noGroup = element("p", { class: "grpo-note", hidden: true },
    "Why not 1? A single sample is its own mean: its advantage is 0, and the policy learns nothing.");
  const n = wholeNumber({ label: "Steps per run", value: state.n, low: 1, high: 500, change: (value) => change({ n: value }, { restart: false }) });
  n.input.dataset.setting = "n";
  const nodes = (...names) => names.map((name) => controls[name].node);
  const done = button("Done", () => open(false), { class: "grpo-button grpo-primary grpo-close" });
  const node = element("div", { class: "grpo-panel", role: "group", "aria-label": "Settings" }, done,
    group("Try", element("div", { class: "grpo-bar" }, EXAMPLES.map(([name, settings, look]) =>
      button(name, () => change({ ...defaults, ...settings }, { look: `${name}. ${look}` }))))),
    group("Problem", nodes("reward", "peak", "start", "bump").map((each, i) => set(each, { "data-cell": i + 1 }))), // each keeps its place
    group("Algorithm", nodes("g", "lr", "k", "eps"), noGroup, noClip, nodes("beta", "std")),
    group("Run", n.node, seed.node, button("New seed", () => change({ seed: randomSeed() })), lock.node));
  // On a phone the panel is a sheet over the lower half of the screen, below the picture.
  const opener = button("Settings", () => open(!node.classList.contains("open")), { class: "grpo-button grpo-opener", "aria-expanded": "false" });
  node.addEventListener("keydown", ({ key }) => key === "Escape" && node.classList.contains("open") && open(false));

  function open(on) {
    node.classList.toggle("open", on);
    opener.setAttribute("aria-expanded", on);
    (on ? done : opener).focus({ preventScroll: true });
    if (on) node.dispatchEvent(new CustomEvent("grpo-open", { bubbles: true }));
  }

  function show(now) {
    for (const name in SETTINGS) controls[name].set(now[name]);
    n.set(now.n);
    seed.set(now.seed);
    lock.set(now.lock);
    for (const name of ["peak", "bump"]) controls[name].node.hidden = unused(now).includes(name);
    noClip.hidden = now.k > 1 || [null, SETTINGS.eps.value].includes(now.eps); // whoever moves it sees why nothing happens
    noGroup.hidden = now.g > 1;
  }
  show(state);
  return { node, opener, show };
}
