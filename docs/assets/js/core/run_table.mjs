// Tables in pasted text: with tabs, pipes, commas, semicolons or blanks between their cells.
import { MEASURED, plainName, quantity } from "./run_metrics.mjs";

const WORDS = [[/Training Loss/gi, "training_loss"], [/Validation Loss/gi, "eval_loss"], [/\bGrad Norm\b/gi, "grad_norm"], [/\bLearning Rate\b/gi, "learning_rate"]];
const NUMERIC = /^[-+]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?%?$|^[-+]?(nan|inf(inity)?)$/i;
const EMPTY = /^(|-|–|—|no log|none|null|n\/a|\.\.\.)$/i;
const PIPES = /[|│┃║]/;
const SPLITS = {
  tab: (line) => line.split("\t"),
  pipe: (line) => line.replace(/^\s*[|│┃║]|[|│┃║]\s*$/g, "").split(PIPES),
  comma: quoted,
  semicolon: (line) => quoted(line, ";"),
  blanks: (line) => line.trim().split(/\s{2,}/),
  blank: (line) => line.trim().split(/\s+/),
};

/** The columns that a line names, or null if it is no head of a table. */
export function columnsOf(line) {
  if (line.length > 20_000 || !/[a-z]/i.test(line)) return null;
  const joined = WORDS.reduce((text, [pattern, name]) => text.replace(pattern, name), line.replace(/(?<=\S) +\/ +(?=\S)/g, "/"));
  for (const kind of kindsFor(joined)) {
    const names = SPLITS[kind](joined).map((cell) => cell.trim().replace(/^[*`"']+|[*`"']+$/g, ""));
    const named = names.map((name) => quantity(name)?.key);
    const known = named.filter(Boolean).length;
    if (names.length < 2 || names.some((name) => NUMERIC.test(name) || /[:=]\s*-?\d/.test(name) || name.length > 120)) continue;
    if (!named.some((key) => MEASURED.has(key)) || known < (kind.startsWith("blank") ? Math.max(2, 0.5 * names.length) : 1)) continue;
    if (kind === "comma" && known < 2 && !line.includes('"')) continue;
    return { kind, names: kept(names.map((name) => name.replace(/^training_loss$/, "Training Loss"))) };
  }
  return null;
}

function kindsFor(line) {
  if (line.includes("\t")) return ["tab"];
  if (PIPES.test(line)) return ["pipe"];
  if (line.includes(";")) return ["semicolon"];
  if (line.includes(",")) return ["comma"];
  return /\S\s{2,}\S/.test(line.trim()) ? ["blanks", "blank"] : ["blank"];
}

/** Extremes that wandb exports beside each curve are left out, and all runs but the first. */
function kept(names) {
  const seen = new Set();
  return names.map((name) => {
    const plain = plainName(name);
    if (/__(min|max)$/.test(plain) || seen.has(plain)) return null;
    seen.add(plain);
    return name.replace(/^.* - (?=\S+$)/, "");
  });
}

/** The pairs of a row of this table, or null if it is none. */
export function rowsOf(line, { kind, names }, toNumber) {
  if (/[{}]/.test(line) || !/\d|nan/i.test(line)) return null;
  let cells = SPLITS[kind](line).map((cell) => cell.trim().replace(/^"|"$/g, ""));
  if (kind === "blanks" && cells.length !== names.length) cells = SPLITS.blank(line);
  if (cells.length === names.length + 1) cells = cells.slice(1); // the index of a data frame
  if (cells.length < 2 || cells.length > names.length || (cells.length < names.length && kind.startsWith("blank"))) return null;
  if (kind !== "comma") cells = cells.map(withPoint);
  const numeric = cells.filter((cell) => NUMERIC.test(cell)).length;
  if (numeric < 1 || cells.some((cell, i) => names[i] && quantity(names[i]) && !NUMERIC.test(cell) && !EMPTY.test(cell))) return null;
  return cells.map((cell, i) => [names[i], cell]).filter(([name, cell]) => name && NUMERIC.test(cell))
    .map(([name, cell]) => [name, toNumber(cell.replace(/,(?=\d{3})|%$/g, "")) / (cell.endsWith("%") ? 100 : 1)]);
}

/** 0,31 is 0.31 in many countries; 1,234 is a thousand. */
const withPoint = (cell) => cell.replace(/^([-+]?)(\d+),(\d+)$/, (_, sign, whole, rest) => `${sign}${whole}${whole === "0" || rest.length !== 3 ? "." : ""}${rest}`);

/** Cells between commas, some of them in quotes. */
function quoted(line, separator = ",") {
  const cells = [""];
  let inside = false;
  for (const letter of line) {
    if (letter === '"') inside = !inside;
    else if (letter === separator && !inside) cells.push("");
    else cells[cells.length - 1] += letter;
  }
  return cells;
}
