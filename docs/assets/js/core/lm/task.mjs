// What the language model is trained for: the alphabet, prompts and rewards of starter/given/charlm_task.py.
export const ALPHABET = ". abcdefghijklmnopqrstuvwxyz0123456789+=";
export const END = 0; // the token that ends a sentence
export const NAMES = ["ravin", "anna", "ben", "chloe", "dario", "emma", "felix", "grace"];
export const FOODS = ["apples", "ice cream", "lettuce", "cookies", "pizza", "donuts", "soda", "salad"];
export const SUMS = Array.from({ length: 100 }, (_, i) => `${Math.floor(i / 10)}+${i % 10}=`);
const CORPUS = new Set([...FOODS, ...Array.from({ length: 19 }, (_, i) => String(i))].map((text) => `${text}.`));

export const encode = (text) => Array.from(text, (letter) => ALPHABET.indexOf(letter));
export const decode = (tokens) => Array.from(tokens, (token) => ALPHABET[token]).join("");

/** Whether a completion could be from the corpus. */
export const isWellFormed = (completion) => CORPUS.has(completion);

/** The right sum of a prompt like "3+4=", or null. */
export function rightSum(prompt) {
  const numbers = /^(\d+)\+(\d+)=$/.exec(prompt);
  return numbers && Number(numbers[1]) + Number(numbers[2]);
}
