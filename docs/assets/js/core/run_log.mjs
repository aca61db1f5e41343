// Reads a pasted training log: { records, runs, cut } with records { line, step, values: Map(name → number) } in their order.
// It knows dictionaries and JSON on one or several lines, "name:value" lines, tables, and blocks of one number per line.
import { MEASURED, areOneProgram, libraryOf, quantity } from "./run_metrics.mjs";
import { columnsOf, rowsOf } from "./run_table.mjs";

const NUMBER = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)`;
const WRAPPED = String.raw`(?:(?:np\.|torch\.)?(?:float\d*|int\d*|tensor|array)\(\s*)?`;
const IN_BRACES = new RegExp(String.raw`(?<brace>[{}])|(?:(?<quote>["'])(?<name>[^"'\n{}]{1,160}?)\k<quote>|(?<bare>[A-Za-z_][\w./@-]*))\s*:\s*${WRAPPED}(?<around>["']?)(?<value>${NUMBER})(?:\/\d+)?\k<around>(?![\w.%"':/-])`, "gi");
const DASHED = new RegExp(String.raw`^\s*([\w][^:]*?):\s*${WRAPPED}(${NUMBER})\)?\s*$`, "i");
const STEP_BEFORE = /(?:global[ _]?step|step|iter(?:ation)?|rollout)s?\s*[:=#]?\s*(\d+)/i;
const SHARE = new RegExp(String.raw`^\s*([A-Za-z][\w .]*?)\s+\d+\/\d+\s*\((${NUMBER})\s*%\)`, "i");
const NAMED = new RegExp(String.raw`^(?:.*?[\]):]\s+)?[\s•*\-–·>]*([A-Za-z_][\w ./@()-]*?)\s*(?:[:=]\s*|\s)${WRAPPED}(${NUMBER})\)?\s*(%?)(?=$|[\s\]),;])`, "i");
const EQUALS = new RegExp(String.raw`([A-Za-z_][\w./@-]*)=${WRAPPED}(${NUMBER})\)?(%?)(?![\w.])`, "gi");
const RAY = /^\s*(?:\u001b?\[\d+m)?\([\w.:-]*(?:Runner|task|Actor|Worker|main|Trainer)?[\w.:-]*,? ?pid=\d+(?:, ip=[\d.:a-f]+)?\)(?:\u001b?\[\d+m)?\s?/i;
const RANK = /^\s*\[?(?:rank|default)[ _]?\d+\]?:\s*/i; // several processes print the same line
// eslint-disable-next-line no-control-regex
const COLOR = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007]*\u0007|(?<=^|[^\w])\[(?:\d{1,2};)*\d{0,2}m/g;
const CHUNK = 150_000; // characters between two pauses

const toNumber = (text) => (/nan/i.test(text) ? NaN : /inf/i.test(text) ? (text[0] === "-" ? -Infinity : Infinity) : Number(text));

/** Reads all at once. */
export function readLog(text) {
  const reading = steps(text);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}

/** Reads piece by piece, so that the page can be used meanwhile; `pause` is awaited between pieces. */
export async function readLogInPieces(text, pause) {
  const reading = steps(text);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    await pause();
  }
}

function* steps(text) {
  const whole = fromDocument(text);
  if (whole?.text !== undefined) return yield* steps(whole.text);
  if (whole) return arranged(whole);
  const plain = /<t[dh][\s>]/i.test(text) ? withoutTags(text) : text;
  const lines = plain.split(/\r\n|\n|\r/);
  const reader = new Reader();
  let read = 0;
  for (let i = 0; i < lines.length; i += 1) {
    reader.take(lines[i], i + 1);
    read += lines[i].length + 50;
    if (read < CHUNK) continue;
    read = 0;
    yield;
  }
  return arranged(reader.finished());
}

/** A pasted HTML table, with tabs between its cells. */
const withoutTags = (text) => text.replace(/<\/t[dh]>\s*<t[dh][^>]*>/gi, "\t").replace(/<\/tr>/gi, "\n").replace(/<[a-z/][^>]*>/gi, "");

const TYPED = [[/\u00a0/g, " "], [/\u2212/g, "-"], [/[\u2018\u2019]/g, "'"], [/[\u201c\u201d]/g, '"']];
/** A line without colors and prefixes, with the characters that a program prints. */
// eslint-disable-next-line no-control-regex
const cleaned = (line) => (/[^\x20-\x7e]/.test(line) ? TYPED.reduce((text, [pattern, typed]) => text.replace(pattern, typed), line) : line)
  .replace(COLOR, "").replace(RAY, "").replace(RANK, "").trimEnd();

/** Records of a JSON document: lists of objects, or columns of numbers. A notebook is read as the text that it shows. */
function fromDocument(text) {
  if (!/^\s*[[{]/.test(text)) return null;
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return null; // several lines of JSON, or half a file
  }
  if (Array.isArray(document?.cells)) {
    return { text: document.cells.flatMap(({ outputs = [] }) => outputs.flatMap(({ text: shown, data = {} }) =>
      [data["text/html"] ?? data["text/plain"] ?? shown ?? ""].flat().join(""))).join("\n") };
  }
  const records = [];
  collect(document, records);
  return records.length ? records : null;
}

function collect(node, records) {
  if (!node || typeof node !== "object") return;
  const columns = Object.entries(node).filter(([name, value]) => Array.isArray(value) && value.length > 1 && quantity(name)
    && value.every((each) => typeof each === "number" || each === null));
  if (!Array.isArray(node) && columns.some(([name]) => MEASURED.has(quantity(name).key))) {
    const length = Math.max(...columns.map(([, values]) => values.length));
    for (let i = 0; i < length; i += 1) {
      records.push(record(i + 1, columns.filter(([, values]) => values[i] !== null && i < values.length).map(([name, values]) => [name, values[i]])));
    }
    return;
  }
  const numbers = Object.entries(node).filter(([, value]) => typeof value === "number"
    || (typeof value === "string" && new RegExp(`^(${NUMBER})$`, "i").test(value))).map(([name, value]) => [name, typeof value === "number" ? value : toNumber(value)]);
  if (!Array.isArray(node) && isMeasured(ofTraining(numbers))) records.push(record(records.length + 1, ofTraining(numbers)));
  for (const value of Object.values(node)) collect(value, records);
}

const record = (line, pairs) => ({ line, values: new Map(pairs), step: stepIn(pairs) });
const stepIn = (pairs) => {
  const at = pairs.find(([name]) => quantity(name)?.key === "step")?.[1];
  return Number.isFinite(at) ? at : null;
};
/** Beside "eval_loss" some libraries print metrics of the evaluation under the names of the training: those are left out. */
const ofTraining = (pairs) => (pairs.some(([name]) => /^eval[_/]/.test(name)) && !pairs.some(([name]) => ["loss", "gradNorm"].includes(quantity(name)?.key))
  ? pairs.filter(([name]) => /^eval[_/]/.test(name) || ["step", "epoch"].includes(quantity(name)?.key)) : pairs);
const isMeasured = (pairs) => pairs.some(([name]) => MEASURED.has(quantity(name)?.key)) && !pairs.some(([name]) => /^(train_runtime|num_generations|max_completion_length)$/.test(name));

/** Takes line after line. */
class Reader {
  records = [];
  open = []; // objects whose closing brace has not come yet
  block = []; // pairs that stand one per line
  blockAt = null;
  last = "";

  take(raw, line) {
    const text = raw.length > 5_000_000 ? "" : cleaned(raw);
    if (!text || (text.length > 60 && text === this.last)) return;
    this.last = text;
    if (/micro[ _-]?step\b/i.test(text.slice(0, 200))) return; // parts of a step
    if (this.dashes(text, line)) return;
    if (!this.open.length && !text.includes("{") && /^\s*["']/.test(text)) this.open.push({ line, pairs: [], step: null, cut: true }); // its brace was not copied
    if (this.open.length || text.includes("{")) {
      if (this.braces(text, line)) return;
    }
    if (this.table(text, line)) return;
    if (this.named(text, line)) return;
    const header = text.match(/^[\s=*#-]*(?:training )?(?:step|iteration)\s+(\d+)(?:\s*\/\s*\d+)?[\s=*#:-]*$/i);
    if (header) this.endBlock(), (this.blockAt = Number(header[1]));
  }

  add(line, all, step = null) {
    const pairs = ofTraining(all);
    if (!isMeasured(pairs)) return false;
    const made = record(line, pairs);
    if (step !== null && made.step === null) made.step = step;
    this.records.push(made);
    return true;
  }

  /** "step:3 - actor/entropy:0.41 - ...", also broken over two lines. */
  dashes(text, line) {
    if (!text.includes(" - ") || !text.includes(":")) return false;
    const pairs = text.split(/ - (?=[\w]+[^\s:]*:)/).map((part) => part.match(DASHED)).filter(Boolean).map(([, name, value]) => [name.replace(/^.*\s(?=step$)/, ""), toNumber(value)]);
    if (pairs.length < 3) return false;
    const before = this.records.at(-1);
    if (stepIn(pairs) === null && before?.dashed && pairs.every(([name]) => !before.values.has(name))) pairs.forEach(([name, value]) => before.values.set(name, value));
    else if (this.add(line, pairs)) this.records.at(-1).dashed = true;
    else return false;
    return true;
  }

  /** Dictionaries and JSON; an object may take several lines. */
  braces(text, line) {
    let found = false;
    for (const { index, groups: { brace, name, bare, value } } of text.matchAll(IN_BRACES)) {
      if (brace === "{") {
        const before = this.open.length ? null : text.slice(0, index).match(STEP_BEFORE);
        this.open.push({ line, pairs: [], step: before ? Number(before[1]) : this.open.at(-1)?.step ?? null });
        if (this.open.length > 50) this.open.shift();
      } else if (brace) {
        const closed = this.open.pop();
        if (closed) found = this.close(closed) || found;
      } else if (this.open.length) {
        const innermost = this.open.at(-1);
        innermost.pairs.push([name ?? bare, toNumber(value)]);
        if (quantity(name ?? bare)?.key === "step") innermost.step = toNumber(value);
        found = true;
      }
    }
    const [first] = this.open;
    if (first?.cut && (!found || first.pairs.length > 2)) {
      this.open = [];
      if (found) this.close(first);
    }
    return found;
  }

  close({ line, pairs, step }) {
    return pairs.length > 1 && this.add(line, pairs, step);
  }

  table(text, line) {
    const columns = columnsOf(text);
    if (columns) {
      this.columns = columns;
      return true;
    }
    const pairs = this.columns && rowsOf(text, this.columns, toNumber);
    if (!pairs) return false;
    if (this.add(line, pairs)) this.records.at(-1).tabular = true;
    return true;
  }

  /** "loss: 0.1, reward: 0.5", "loss=0.1 reward=0.5", "Reward 0.42 | Truncation 3.1%", and one number per line. */
  named(text, line) {
    if (text.length > 4000 || !/\d|nan/i.test(text)) return false;
    const parts = text.replace(/^wandb:\s*/, "").split(/[|│┃,;]|(?<=\d)\s{2,}/);
    const pairs = [];
    const put = (name, value, percent) => {
      if (quantity(name)) pairs.push([name.trim(), toNumber(value) / (percent && Number.isFinite(toNumber(value)) ? 100 : 1)]);
    };
    for (const part of parts) {
      const share = part.match(SHARE);
      if (share) put(share[1], share[2], true);
      else if (part.includes("=")) for (const [, name, value, percent] of part.matchAll(EQUALS)) put(name, value, percent);
      else {
        const [, name, value, percent] = part.replace(/^.* - (?=[A-Za-z])/, "").match(NAMED) ?? [];
        if (name) put(name, value, percent);
      }
    }
    const cells = parts.map((part) => part.trim()).filter(Boolean);
    if (!pairs.length && cells.length === 2 && new RegExp(`^(?:${NUMBER})$`, "i").test(cells[1])) put(cells[0], cells[1]);
    if (!pairs.length) return false;
    const at = text.match(STEP_BEFORE);
    const measured = pairs.filter(([name]) => MEASURED.has(quantity(name).key)).length;
    if (measured > 1 || (measured === 1 && pairs.some(([name]) => name.includes("/"))) || (measured === 1 && at && pairs.length > 0 && quantity(pairs[0][0]).key !== "step")) {
      this.endBlock();
      return this.add(line, pairs, at ? Number(at[1]) : null);
    }
    this.intoBlock(line, pairs);
    return true;
  }

  intoBlock(line, pairs) {
    if (pairs.some(([name]) => this.block.some(([other]) => other === name))) this.endBlock();
    if (!this.block.length) this.blockLine = line;
    this.block.push(...pairs);
  }

  endBlock() {
    const measured = new Set(this.block.filter(([name]) => MEASURED.has(quantity(name).key)).map(([name]) => name));
    if (measured.size > 1) this.add(this.blockLine, this.block, this.blockAt);
    this.block = [];
    this.blockAt = null;
  }

  finished() {
    this.endBlock();
    this.open.forEach((left) => this.close(left)); // half a line is better than none
    return this.records.sort((a, b) => a.line - b.line);
  }
}

/** Joins what belongs to one step, keeps the last run of several, and takes empty cells out of tables. */
function arranged(all) {
  withoutEmptyCells(all.filter(({ tabular }) => tabular));
  const runs = [[]];
  const seen = new Map();
  for (const each of all) {
    const before = each.step === null ? null : seen.get(each.step);
    const names = [...each.values.keys()].filter((name) => !["step", "epoch"].includes(quantity(name)?.key));
    const last = runs.at(-1).at(-1);
    const partner = before ?? (last && (last.step === null) !== (each.step === null) ? last : null); // one of the two knows the step
    if (partner && names.length && names.every((name) => !partner.values.has(name)) && areRelated(partner, each)) {
      each.values.forEach((value, name) => partner.values.set(name, value));
      if (partner.step === null) seen.set(partner.step = each.step, partner);
      continue;
    }
    if (startsAgain(runs.at(-1), each)) {
      runs.push([]);
      seen.clear();
    } else if (before) { // repeated, or resumed from a checkpoint: the later one stands
      Object.assign(before, { values: new Map([...before.values, ...each.values]), line: each.line });
      continue;
    }
    runs.at(-1).push(each);
    if (each.step !== null) seen.set(each.step, each);
  }
  const records = runs.at(-1);
  const isNumbered = records.every(({ step }) => step !== null);
  if (isNumbered) records.sort((a, b) => a.step - b.step);
  else records.forEach((each, i) => (each.step = i + 1));
  return { records, runs: runs.length, unit: isNumbered ? "step" : "line" };
}

/** Whether one program may have printed both. */
function areRelated(...records) {
  const [one, other] = records.map(({ values }) => libraryOf(values.keys()));
  return one === null || other === null || areOneProgram(one, other);
}

const epochOf = ({ values }) => [...values].find(([name]) => quantity(name)?.key === "epoch")?.[1];

function startsAgain(run, next) {
  if (run.length < 5) return false;
  const [first, last] = [run[0], run.at(-1)];
  if (next.step !== null && first.step !== null) return next.step <= first.step && last.step > first.step + 3;
  const [from, to, now] = [first, last, next].map(epochOf);
  return next.step === null && now !== undefined && to > from && now <= from && to - now > 0.02;
}

/**
 * A table with several kinds of rows, such as training and evaluation, has NaN where a kind has no number. Those cells are
 * empty if another kind has numbers exactly where this one has none, and the other way round; else a NaN is a NaN.
 */
function withoutEmptyCells(records) {
  const kinds = new Map();
  for (const { values } of records) {
    const missing = [...values].filter(([, value]) => Number.isNaN(value)).map(([name]) => name);
    if (missing.length) kinds.set(missing.join("\n"), missing);
  }
  const lacks = (some, others) => some.some((name) => !others.includes(name));
  for (const { values } of records) {
    const missing = [...values].filter(([, value]) => Number.isNaN(value)).map(([name]) => name);
    if ([...kinds.values()].some((others) => lacks(missing, others) && lacks(others, missing))) missing.forEach((name) => values.delete(name));
  }
}
