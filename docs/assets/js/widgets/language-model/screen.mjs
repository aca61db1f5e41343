// What is loaded with the first Run: the curves, the group and the term of one token.
export { completions } from "./completions.mjs";
export { curves } from "./curves.mjs";
export { Run } from "./run.mjs";
export { termView } from "./term.mjs";
