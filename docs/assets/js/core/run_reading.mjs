// A reading of a training log: what was read, at most three findings in the order in which to look at them, and notes.
import { readLog } from "./run_log.mjs";
import * as rules from "./run_rules.mjs";
import * as harmless from "./run_harmless.mjs";
import { areOneProgram, libraryOf } from "./run_metrics.mjs";
import { highest, lowest, show, viewOf } from "./run_view.mjs";

const MOST = 3;
const LONG = 4_000; // lines of a log that are all looked at
const IN_ORDER = [rules.notANumber, rules.zeroGradient, rules.truncation, rules.noSignal, rules.klAtStart, rules.collapse, rules.notSynced,
  rules.formatOnly, rules.smallDifferences, rules.pair, rules.overTrained, rules.entropyLow, rules.entropyHigh, rules.learningRate,
  rules.sampler, rules.clipHigh, rules.plateau];
/** What a finding already explains: its consequences are not told again. "*" is everything. */
const EXPLAINS = {
  nan: ["*"],
  no_signal: ["*"],
  saturated: ["*"],
  truncation: ["no_signal", "plateau", "small_std", "entropy_low"],
  grad_zero: ["plateau", "small_std", "lr_low", "pair"],
  collapse: ["lr_high", "entropy_low", "entropy_high", "clip_high", "plateau", "sampler", "format_only", "overtrained"],
  length_limit: ["lr_high", "entropy_high", "entropy_low", "plateau"],
  falling: ["plateau", "overtrained"],
  kl_start: ["sampler", "plateau"],
  lr_low: ["plateau"],
  not_synced: ["clip_high", "plateau", "sampler", "entropy_high"],
  small_std: ["plateau"],
  pair: ["plateau"],
  format_only: ["plateau", "entropy_low", "falling"],
};
const HARMLESS = [harmless.course, harmless.lossZero, harmless.lossRising, harmless.clipZero, harmless.klSpike, harmless.klPlain, harmless.someTies, harmless.rewardScale,
  harmless.lossNegative, harmless.advantageMean, harmless.learningRateZero, harmless.gradientLarge, harmless.samplerFine,
  harmless.entropyMoves, harmless.lengths, harmless.cutSome];
/** Notes that would sound wrong beside a finding. */
const SILENCES = {
  nan: ["too_short", "loss_zero", "loss_negative", "clip_zero", "clip_low", "rising", "near_top", "ties_some", "reward_negative", "advantage_negative", "grad_large", "sampler_fine", "entropy_falls", "length_moves", "cut_some", "kl_spike", "alternating"],
  no_signal: ["loss_zero", "loss_negative", "rising", "near_top", "clip_zero", "clip_low"],
  saturated: ["loss_zero", "loss_negative", "rising", "near_top", "clip_zero", "clip_low"],
  grad_zero: ["loss_zero", "loss_negative", "clip_zero", "rising", "near_top"],
  collapse: ["loss_zero", "loss_negative", "reward_negative", "kl_spike", "alternating"],
  format_only: ["rising", "length_moves", "entropy_falls"],
  small_std: ["near_top", "rising", "loss_zero"],
  truncation: ["cut_some", "loss_zero"],
  kl_start: ["loss_zero", "rising"],
  entropy_low: ["entropy_falls"],
  not_synced: ["near_top", "loss_zero"],
};
const isIn = (list, id) => list !== undefined && (list[0] === "*" || list.includes(id));

/** Reads a pasted text at once; the page does it in pieces (`readingOf`). */
export const read = (text, settings = {}) => readingOf(readLog(text), settings);

/**
 * The reading of parsed records: { summary, view, findings, notes, refusal }. A refusal says why there are no findings:
 * "nothing", "other" or "lastValues".
 */
export function readingOf({ records: all, runs, unit }, settings = {}) {
  const { records: own, others } = ofOneLibrary(all);
  const { records, every } = thinned(own);
  const view = viewOf(records, settings, unit);
  const refusal = refusalOf(view);
  const summary = refusal === "nothing" ? "" : summaryOf(view, { runs, others, every });
  if (refusal) return { summary, view, findings: [], notes: [], refusal };
  const findings = [];
  for (const rule of IN_ORDER) {
    const found = rule(view);
    if (found && !findings.some(({ id }) => isIn(EXPLAINS[id], found.id))) findings.push(found);
  }
  const notes = HARMLESS.map((rule) => rule(view)).filter(Boolean).filter((note) => !findings.some(({ id }) => isIn(SILENCES[id], note.id)));
  const reading = { summary, view, unknown: unknownTo(view), refusal: null };
  if (!findings.length) return { ...reading, findings: notes.slice(0, MOST), notes: notes.slice(MOST) };
  const rising = notes.find(({ id }) => id === "rising");
  if (rising) rising.facts = [rising.facts[0].replace(" Nothing in this log is alarming.", "")];
  return { ...reading, findings: findings.slice(0, MOST), notes };
}

/** A long log, thinned to lines at equal distances, with all its first lines that have a nan. */
function thinned(records) {
  const every = Math.ceil(records.length / LONG);
  if (every < 2) return { records, every };
  let bad = 0;
  return { every, records: records.filter(({ values }, i) => i % every === 0
    || (bad < 1000 && [...values.values()].some((value) => !Number.isFinite(value)) && (bad += 1))) };
}

const NEEDED = [["ties", "how many groups tie"], ["cut", "how many completions the length limit cuts"], ["gradNorm", "whether a gradient arrives"],
  ["kl", "how far the policy has moved"], ["entropy", "how much it still explores"], ["heldOut", "whether other prompts get better"]];
/** What this log cannot tell, as a sentence. */
function unknownTo(view) {
  const lacks = NEEDED.filter(([key]) => !(key in view && key !== "curve" ? view[key] : view.curve(key))).map(([, what]) => what);
  return `This log cannot tell whether the reward is right${lacks.length ? `. It does not show ${lacks.slice(0, -1).join(", ")}${lacks.length > 1 ? ", or " : ""}${lacks.at(-1)}` : ""}.`;
}

/** Lines of the library that printed most of them; other lines are left out, because their names mean other things. */
function ofOneLibrary(all) {
  const kinds = new Map();
  const cache = new Map();
  const kindOf = ({ values }) => {
    const names = [...values.keys()];
    const key = names.join("\n");
    if (!cache.has(key)) cache.set(key, libraryOf(names));
    return cache.get(key);
  };
  for (const each of all) {
    if (!kinds.has(kindOf(each))) kinds.set(kindOf(each), []);
    kinds.get(kindOf(each)).push(each);
  }
  const named = [...kinds.entries()].filter(([name]) => name !== null).sort((a, b) => b[1].length - a[1].length);
  if (named.length < 2) return { records: all, others: [] };
  const [first, ...rest] = named;
  const left = rest.filter(([name]) => !areOneProgram(name, first[0])); // a line without a telling name still belongs to the run
  return { records: all.filter((each) => !left.some(([name]) => name === kindOf(each))), others: left.map(([name]) => name) };
}

function refusalOf(view) {
  if (!view.n) return "nothing";
  if (view.curve("preference") || view.curve("critic") || view.curve("supervised") && !view.reward) return "other";
  const hasMore = ["reward", "shapedReward", "kl", "ties", "rewardStd", "advMax", "cut", "policyLoss", "clip", "ppoKl", "heldOut", "length", "mismatchKl",
    "logpDiff", "multError", "probDiff"].some((key) => view.raw(key).length) || view.functions.size > 0;
  return hasMore || view.raw("loss").some(({ value }) => !Number.isFinite(value)) ? null : view.raw("loss").length || view.raw("gradNorm").length ? "other" : null;
}

/** "23 lines (steps 1 to 23), TRL 0.27 or later, no entropy, β = 0." */
function summaryOf(view, { runs, others, every }) {
  const parts = [`${view.n} ${view.n === 1 ? "line" : "lines"}${view.unit === "line" ? "" : view.n > 1 ? ` (steps ${view.steps[0]} to ${view.steps.at(-1)})` : ` (step ${view.steps[0]})`}`];
  if (view.library) parts.push({ course: "this course's `run_charlm` or `run_llm`" }[view.library] ?? `${view.library}${view.version ? ` ${view.version}` : ""}`);
  else parts.push("library not recognized");
  if (!view.reward) parts.push("no reward");
  if (!view.raw("entropy").length) parts.push("no entropy");
  const { reward } = view;
  if (reward && view.n > reward.length) parts.push(`a reward on ${reward.length} of them`);
  parts.push(betaOf(view));
  if (view.spread) parts.push({ group: `\`${view.spread.curve.name}\` is inside groups`, batch: `\`${view.spread.curve.name}\` is over the batch, not inside groups`,
    unknown: `whether \`${view.spread.curve.name}\` is inside groups or over the batch depends on the version` }[view.spread.kind]);
  const sentences = [`${parts.filter(Boolean).join(", ")}.`];
  if (every > 1) sentences.push(`The log is longer; this is one line in ${every}.`);
  if (runs > 1) sentences.push(`The text has ${runs} runs; this is the last one.`);
  if (others.length) sentences.push(`It also has lines of ${others.join(" and ")}, which were left out.`);
  return sentences.join(" ");
}

function betaOf(view) {
  if (view.settings.beta !== undefined) return `β = ${show(view.settings.beta)} (from you)`;
  const kl = view.curve("kl");
  const isTrl = view.library === "TRL" && view.version && !/0\.16 or|0\.17|0\.18/.test(view.version);
  if (!view.raw("kl").length) return isTrl ? "no KL: β = 0" : "no KL";
  const weight = harmless.klWeight(view);
  if (weight !== null) return `β ≈ ${show(weight)}`;
  return view.library === "Unsloth" && kl && kl.values.every((value) => value === 0) ? "KL 0 throughout: β = 0" : null;
}

/** The line to go back to: { from, to } steps of the best stretch of the reward, or null. */
export function bestStretch(view) {
  if (!view.reward || view.n < 8) return null;
  const w = Math.max(3, Math.round(view.reward.length / 6));
  const windows = view.reward.windows(w);
  if (highest(windows) - lowest(windows) < 3 * view.reward.noise * Math.sqrt(2 / w)) return null; // the best of a flat curve is noise
  const place = windows.indexOf(highest(windows));
  const rows = view.reward.points.slice(place, place + w).map(({ row }) => row);
  return { rows, from: view.steps[rows[0]], to: view.steps[rows.at(-1)] };
}

/** A reading as text for an issue or a chat. `texts` are the page's, by id. */
export function asText({ summary, findings, notes, unknown, refusal }, texts) {
  const level = { stop: "STOP", look: "LOOK", normal: "NORMAL" };
  if (refusal) return `${summary ? `${summary}\n\n` : ""}${texts[refusal]?.title ?? ""}`;
  const list = (name, items) => (items?.length ? [`${name}:`, ...items.map((item) => `- ${item}`)] : []);
  const parts = findings.map(({ id, level: kind, facts }) => [
    `## ${level[kind]}: ${texts[id].title}`, ...facts,
    ...(kind === "normal" ? texts[id].causes.slice(0, 1) : list("Probable causes, in order", texts[id].causes)),
    ...list("Look at next", kind === "normal" ? [] : texts[id].next), ...(texts[id].disagree && kind !== "normal" ? [`Practitioners disagree: ${texts[id].disagree}`] : []),
  ].join("\n"));
  const rest = notes.length ? [["## Also seen, and normal", ...notes.map(({ facts }) => `- ${facts.join(" ")}`)].join("\n")] : [];
  return [`I read: ${summary}`, ...parts, ...rest, unknown].join("\n\n");
}
