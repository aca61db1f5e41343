// The controls of the simulation (S1-C1 to S1-C13) and the notes that some of them carry.
import { button, choice, group, slider, toggle, wholeNumber } from "../../ui/controls.mjs";
import { element } from "../../ui/element.mjs";
import { EXAMPLES, LARGEST_SHOWN_SEED, SETTINGS, randomSeed } from "./settings.mjs";

/**
 * The panel { node, show(state) }. `change(settings, options)` is called with the settings that the reader changes, also
 * while a slider moves (options.keep is false then); `keep()` when it stops.
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
  const lock = toggle({ label: "Lock seed: Reset keeps it", value: state.lock, change: (on) => change({ lock: on }, { restart: false }) });
  lock.input.dataset.setting = "lock";
  const defaults = Object.fromEntries(Object.entries(SETTINGS).map(([name, { value }]) => [name, value]));
  const noClip = element("p", { class: "grpo-note", hidden: true },
    "With one inner update every ratio is 1, so ε has no effect. ",
    button("Try 4", () => {
      change({ k: 4 });
      controls.k.input.focus(); // the button goes
    }));
  const noGroup = element("p", { class: "grpo-note", hidden: true },
    "Why not 1? A sample alone is its own mean: its advantage is 0, and nothing is learned.");
  const nodes = (...names) => names.map((name) => controls[name].node);
  const node = element("div", { class: "grpo-panel" },
    group("Examples", element("div", { class: "grpo-bar" }, EXAMPLES.map(([name, settings, look]) =>
      button(name, () => change({ ...defaults, ...settings }, { look: ` ${look}` }))))),
    group("Problem", nodes("reward", "peak", "start", "bump")),
    group("Algorithm", nodes("g"), noGroup, nodes("lr", "k", "eps"), noClip, nodes("beta", "std")),
    group("Randomness", seed.node, element("div", { class: "grpo-bar" },
      button("New seed", () => change({ seed: randomSeed() })), lock.node)));

  function show(now) {
    for (const name in SETTINGS) controls[name].set(now[name]);
    seed.set(now.seed);
    lock.set(now.lock);
    controls.peak.node.hidden = now.reward !== "single";
    controls.bump.node.hidden = now.start !== "biased";
    noClip.hidden = now.k > 1 || now.eps === null;
    noGroup.hidden = now.g > 1;
  }
  show(state);
  return { node, show };
}
