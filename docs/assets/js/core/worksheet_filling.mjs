// Filling the worksheet from runs of the simulation: what a slot asks for, its numbers, which sent runs it takes.
// See worksheet.mjs for what a slot and a cell are.
import { DEFAULTS, bestAction, run as simulate, singlePeak } from "./bandit.mjs";
import { groupAdvantages } from "./grpo.mjs";
import { LARGEST_SEED, isStarted, kindOf, record, slotsOf } from "./worksheet.mjs";

const same = (x, y) => JSON.stringify(x) === JSON.stringify(y);

/** "1 run", "2 runs". */
export const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

// One run

/** All settings of a slot, as core/bandit.mjs takes them. */
export const settingsOf = (slot) => ({ rewardTable: singlePeak(), ...DEFAULTS, ...slot.settings });

/** The values of a slot's run with a seed. A step that never comes is null. */
export function measure(slot, seed) {
  const settings = settingsOf(slot);
  const { actions, policy } = simulate(settings, { seed, steps: slot.steps }); // row t of policy: after t steps
  const { rewardTable } = settings;
  const best = bestAction(rewardTable);
  const firstOver = (threshold) => {
    const step = policy.findIndex((probabilities) => probabilities[best] > threshold);
    return step < 0 ? null : step;
  };
  const all = {
    actions: actions[0],
    advantages: groupAdvantages(
      actions[0].map((action) => rewardTable[action - 1]),
      settings,
    ).advantages,
    policy: policy.at(-1),
    bestProbability: policy.at(-1)[best],
    maxProbability: Math.max(...policy.at(-1)),
    stepsToHalf: firstOver(0.5),
    stepsTo90: firstOver(0.9),
  };
  return Object.fromEntries(slot.values.map((name) => [name, all[name]]));
}

/** A cell with a run's seed and values: the text of each field, three decimals as the simulation shows them. */
export function cellOf(seed, values, write = threeDecimals) {
  const cell = { seed: seed === null ? "" : String(seed) };
  for (const [name, value] of Object.entries(values)) {
    const sign = (x) => (name === "advantages" && Number(write(x)) > 0 ? "+" : "");
    const text = (x) =>
      x === null ? "never" : kindOf(name).whole ? String(x) : sign(x) + write(x).replace("-", "\u2212");
    if (name === "policy") value.forEach((x, j) => void (cell[`policy.${j + 1}`] = text(x)));
    else cell[name] = Array.isArray(value) ? value.map(text).join("  ") : text(value);
  }
  return cell;
}

/** 0.5 is "0.500", and there is no "-0.000". */
export const threeDecimals = (x) => x.toFixed(3).replace(/^-(?=0\.000$)/, "");

// Sent runs

const WORDS = {
  rewardTable: "the rewards",
  algorithm: "the algorithm",
  groupSize: "G",
  lr: "η",
  clipEps: "ε",
  klCoef: "β",
  innerSteps: "the number of inner updates",
  divideByStd: "the division by the standard deviation",
  correction: "the standard deviation",
  temperature: "the temperature",
  startAction: "the policy at the start",
  startLogit: "the policy at the start",
};

const ALGORITHMS = { reinforce: "REINFORCE", reinforce_baseline: "REINFORCE + baseline" };

/** What a sent run has other than a slot asks for: a list of { name, given, asked }. */
function differences(slot, sent) {
  const asked = settingsOf(slot);
  const given = Object(sent.settings);
  const found = Object.keys({ ...asked, ...given })
    .filter((name) => !same(given[name], asked[name]))
    .map((name) => ({ name, given: given[name], asked: asked[name] }));
  if (sent.steps < slot.steps) found.push({ name: "steps", given: sent.steps, asked: slot.steps });
  if (!(Number.isInteger(sent.seed) && sent.seed >= 0 && sent.seed <= LARGEST_SEED)) found.push({ name: "seed" });
  return found;
}

/**
 * Whether a sent run may fill a slot: it has the settings that are asked for, and at least as many steps. A longer run
 * will do, because its beginning is the shorter run: same settings, same seed, same random numbers.
 */
export const fits = (slot, sent) => differences(slot, sent).length === 0;

/** Why a sent run fits no slot of a list, as the end of a sentence. */
export function reason(slots, sent) {
  const all = slots.map((slot) => differences(slot, sent));
  const fewest = Math.min(...all.map((each) => each.length));
  const [{ name, given }] = all.find((each) => each.length === fewest);
  const asked = new Set(
    all
      .filter((each) => each.length === fewest)
      .flatMap((each) => each.filter((one) => one.name === name).map((one) => one.asked)),
  );
  if (name === "seed") return "its seed is not a whole number";
  if (name === "steps") return `it has ${count(given, "step")}, but the worksheet asks for ${[...asked].join(" or ")}`;
  const plain = (x) => ["number", "string"].includes(typeof x);
  const words = WORDS[name] ?? name;
  if (!plain(given) || ![...asked].every(plain))
    return `${words} ${words.endsWith("s") ? "are" : "is"} ${given === undefined ? "missing" : "not what the worksheet asks for"}`;
  return `${words} is ${given}, but the worksheet asks for ${[...asked].join(" or ")}`;
}

/**
 * Puts sent runs (oldest first) into cells of slots, and returns the filled ones: { slot id: run }. A cell that was
 * begun takes a run with its seed. Into the empty ones go the newest runs, newer ones below older ones; runs of exactly
 * the right length win over longer ones. No seed fills two cells of the same kind. The cells of a comparison (1E) are
 * filled when all their runs have come with one seed, or one by one if a seed is there already.
 */
export function assign(slots, cells, runs) {
  const filled = {};
  for (const slot of slots.filter(({ id }) => isStarted(cells[id]))) {
    const { seed, missing } = record(slot, cells[slot.id]);
    const sent = missing.length && runs.findLast((each) => each.seed === seed && fits(slot, each));
    if (sent) filled[slot.id] = sent;
  }
  for (const question of new Set(slots.map((slot) => slot.question))) {
    const of = slots.filter((slot) => slot.question === question);
    if (of[0].seeds === "same") Object.assign(filled, assignSameSeed(of, cells, runs));
    else {
      const kinds = new Set(of.map((slot) => JSON.stringify(slot.settings)));
      for (const kind of kinds) {
        Object.assign(
          filled,
          assignOwnSeeds(
            of.filter((slot) => JSON.stringify(slot.settings) === kind),
            cells,
            runs,
          ),
        );
      }
    }
  }
  return filled;
}

function assignOwnSeeds(slots, cells, runs) {
  const free = slots.filter((slot) => !isStarted(cells[slot.id]));
  if (!free.length) return {};
  const taken = new Set(slots.map((slot) => record(slot, cells[slot.id]).seed));
  const candidates = runs.filter((sent) => fits(free[0], sent) && !taken.has(sent.seed));
  const exact = (sent) => Number(sent.steps === free[0].steps);
  const best = [...candidates]
    .sort((a, b) => exact(a) - exact(b)) // stable: among equals the newest stays last
    .filter((sent, i, sorted) => !sorted.slice(i + 1).some((later) => later.seed === sent.seed))
    .slice(-free.length)
    .sort((a, b) => runs.indexOf(a) - runs.indexOf(b));
  return Object.fromEntries(best.map((sent, i) => [free[i].id, sent]));
}

function assignSameSeed(slots, cells, runs) {
  const free = slots.filter((slot) => !isStarted(cells[slot.id]));
  const given = slots.map((slot) => record(slot, cells[slot.id]).seed).find((seed) => seed !== null);
  const seeds = given === undefined ? [...new Set(runs.map((sent) => sent.seed).reverse())] : [given]; // newest first
  for (const seed of seeds) {
    const found = free
      .map((slot) => [slot.id, runs.findLast((sent) => sent.seed === seed && fits(slot, sent))])
      .filter(([, sent]) => sent);
    if (found.length === free.length || given !== undefined) return Object.fromEntries(found);
  }
  return {};
}

/** What a sent run is, in a few words: "50 steps, G = 32". Settings without a sign are "other settings". */
export function wordsFor({ settings, steps }) {
  const defaults = { rewardTable: singlePeak(), ...DEFAULTS };
  const changed = Object.keys(defaults).filter((name) => !same(settings[name], defaults[name]));
  const say = (name) => {
    if (name === "algorithm") return ALGORITHMS[settings.algorithm] ?? "other settings";
    return /^.$/u.test(WORDS[name] ?? "") ? `${WORDS[name]} = ${settings[name] ?? "off"}` : "other settings";
  };
  return [...new Set([count(steps, "step"), ...changed.map(say)])].join(", ");
}

function withWords({ question, settings }) {
  if (question === "1E.1") return ` of ${ALGORITHMS[settings.algorithm] ?? "GRPO"}`;
  if (question === "1D.1") return ` with G = ${settings.groupSize ?? DEFAULTS.groupSize}`;
  const [[name, value] = []] = Object.entries(settings);
  return name ? ` with ${WORDS[name]} = ${value}` : "";
}

/** What the seeds of a question's cells have wrong, as a sentence; "" if nothing. */
export function seedProblem(question, cells) {
  const slots = slotsOf(question);
  const rule = slots[0].seeds; // "any", "different" or "same"
  const seeds = slots
    .map((slot) => ({ slot, seed: record(slot, cells[slot.id]).seed }))
    .filter(({ seed }) => seed !== null);
  if (rule === "same" && new Set(seeds.map(({ seed }) => seed)).size > 1) {
    return "The three runs must have the same seed.";
  }
  if (rule !== "different") return "";
  const twice = seeds.find(({ slot, seed }, i) =>
    seeds.slice(0, i).some((other) => other.seed === seed && same(other.slot.settings, slot.settings)),
  );
  return twice ? `Seed ${twice.seed} appears twice${withWords(twice.slot)}: every trial needs a different seed.` : "";
}
