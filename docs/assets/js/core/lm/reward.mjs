// Rewards that a reader builds from blocks. In a link a reward is a text such as `4*is(pizza.),-0.5*!ends(8)*has(z)`: terms that
// are added, each a number times blocks, `!` in front of a block meaning "not". It is read by the table below, never executed.
import { rightSum } from "./task.mjs";

const occurrences = (text, part) => (part ? text.split(part).length - 1 : 0);
const firstNumber = (text) => /\d+/.exec(text)?.[0] ?? null;

/**
 * Name to { text, takes, yesNo, of(prompt, completion, argument), python }: what the block is called, its argument ("word",
 * "number" or nothing), whether it is 1 or 0, its value, and the same as an expression of Python.
 */
export const BLOCKS = {
  is: { text: "is exactly", takes: "word", yesNo: true, of: (_, text, word) => Number(text === word), python: (word) => `float(text == ${word})` },
  has: { text: "contains", takes: "word", yesNo: true, of: (_, text, word) => Number(text.includes(word)), python: (word) => `float(${word} in text)` },
  count: { text: "how often it contains", takes: "word", of: (_, text, word) => occurrences(text, word), python: (word) => `text.count(${word})` },
  ends: {
    text: "ends within (characters)", takes: "number", yesNo: true,
    of: (_, text, most) => Number(text.endsWith(".") && text.length <= most), python: (most) => `float(text.endswith(".") and len(text) <= ${most})`,
  },
  length: { text: "length in characters", of: (_, text) => text.length, python: () => "len(text)" },
  repeats: {
    text: "letters like the one before",
    of: (_, text) => Array.from(text).filter((letter, i) => letter === text[i - 1]).length, python: () => "sum(a == b for a, b in zip(text, text[1:]))",
  },
  right: { text: "is the right sum", yesNo: true, of: (prompt, text) => Number(text === `${rightSum(prompt)}.`), python: () => "float(text == right_sum(prompt))" },
  close: {
    text: "close to the right sum",
    of: (prompt, text) => {
      const [right, said] = [rightSum(prompt), firstNumber(text)];
      return right === null || said === null ? 0 : Math.max(0, 1 - Math.abs(Number(said) - right) / 10);
    },
    python: () => "closeness(prompt, text)",
  },
};

export const MOST_TERMS = 4;
export const MOST_FACTORS = 3;
export const LONGEST_WORD = 24;
export const LARGEST = 100; // of a number in front of a term

/** The value of a reward [{ times, factors: [{ name, not, argument }] }] for a completion. */
export function rewardOf(terms, prompt, completion) {
  let total = 0;
  for (const { times, factors } of terms) {
    let value = times;
    for (const { name, not, argument } of factors) {
      const one = BLOCKS[name].of(prompt, completion, argument);
      value *= not ? 1 - one : one;
    }
    total += value;
  }
  return total;
}

/** The text of a reward, for a link. */
export const written = (terms) => terms.map(({ times, factors }) =>
  [times, ...factors.map(({ name, not, argument }) => `${not ? "!" : ""}${name}${BLOCKS[name].takes ? `(${argument})` : ""}`)].join("*")).join(",");

/** { terms, ignored }: what a text says, and the parts of it that say nothing; `ignored` is a list of texts. */
export function read(text) {
  const terms = [];
  const ignored = [];
  for (const part of text.split(",").filter(Boolean)) {
    const term = readTerm(part);
    if (term && terms.length < MOST_TERMS) terms.push(term);
    else ignored.push(part.length > 40 ? `${part.slice(0, 40)}…` : part);
  }
  return { terms, ignored };
}

function readTerm(text) {
  const [, number, rest] = /^([+-]?\d+(?:\.\d+)?)((?:\*[^*]+)+)$/.exec(text) ?? [];
  if (!number || Math.abs(Number(number)) > LARGEST) return null;
  const factors = rest.slice(1).split("*").map(readFactor);
  return factors.length <= MOST_FACTORS && factors.every(Boolean) ? { times: Number(number), factors } : null;
}

function readFactor(text) {
  const [, not, name, argument] = /^(!?)([a-z]+)(?:\(([a-z0-9 +=.]*)\))?$/.exec(text) ?? [];
  const block = Object.hasOwn(BLOCKS, name ?? "") ? BLOCKS[name] : null;
  if (!block || (not && !block.yesNo) || (argument !== undefined) !== Boolean(block.takes)) return null;
  if (block.takes === "word" && !(argument.length >= 1 && argument.length <= LONGEST_WORD)) return null;
  if (block.takes === "number" && !/^[1-9]\d?$/.test(argument)) return null;
  return { name, not: Boolean(not), argument: block.takes === "number" ? Number(argument) : argument };
}
