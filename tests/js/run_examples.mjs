// Writes docs/your-run-examples.md, the six runs that are read there: node tests/js/run_examples.mjs
// The logs were invented after public questions; the reading is what the site's scripts say about them.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { read } from "../../docs/assets/js/core/run_reading.mjs";

const at = (path) => new URL(path, import.meta.url);
const PAGE = at("../../docs/your-run-examples.md");
const EXAMPLES = [
  ["loss-zero", "The loss is 0.0000 and the run learns", "TRL 0.15 prints a loss of 0.0 for the first lines. Is the training broken?"],
  ["truncation", "Loss 0, reward 0, gradient 0", "TRL with transformers 5 prints zeros everywhere. The numbers are quoted, as this version does."],
  ["no-gradient", "Rewards differ, but the gradient is 0", "ms-swift prints a loss of −0.0 and a gradient norm of 0.0, although rewards differ."],
  ["collapse", "The reward collapses within three lines", "After 17 good lines the loss is 116 and the KL in the thousands."],
  ["held-out", "The training reward holds, the test score falls", "verl prints a held-out score now and then. The training score looks fine."],
  ["healthy", "A healthy start", "TRL 0.27 or later with vLLM, 20 lines. The clip ratio is 0, and a quarter of the groups tie."],
];
const LEVELS = { stop: "Stop", look: "Look", normal: "Normal" };

/** The page as it should be. */
export function page() {
  const { readings } = JSON.parse(readFileSync(at("../../docs/assets/readings.json"), "utf8"));
  const parts = EXAMPLES.map(([name, title, question]) => {
    const log = readFileSync(at(`../../docs/assets/run-logs/${name}.txt`), "utf8").trim();
    const { summary, findings, notes, unknown } = read(log);
    const found = findings.map(({ id, level, facts }) => [
      `**${LEVELS[level]}: [${readings[id].title}](your-run.md#${id}).** ${facts.join(" ")}`,
      ...(level === "normal" ? [readings[id].means] : [
        "Probable causes, in order:", readings[id].causes.map((cause, i) => `${i + 1}. ${cause}`).join("\n"),
        "Look at next:", readings[id].next.map((step) => `- ${step}`).join("\n"),
      ]),
    ].join("\n\n").replaceAll("](#", "](your-run.md#"));
    const rest = notes.map(({ facts }) => `- ${facts.join(" ")}`).join("\n");
    return [`## ${title} { #${name} }`, question, "??? example \"The log\"\n\n" + ["```text", `--8<-- "assets/run-logs/${name}.txt"`, "```"].map((line) => `    ${line}`).join("\n"),
      `**What it is:** ${summary}`, ...found, rest && `Also seen, and normal:\n\n${rest}`, unknown].filter(Boolean).join("\n\n");
  });
  return `---
description: Six training logs of GRPO runs with their readings - loss 0, truncation, no gradient, collapse, over-training, and a healthy start
---

# Six runs, read

Six logs, each with what [Read your run](your-run.md) says about it. Copy a log and paste it there to see its curves. We invented the numbers after public questions; the readings come from the site's own rules.

${parts.join("\n\n")}

## Your own run

[Paste a log](your-run.md), or choose what you see.
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, page());
export const written = () => readFileSync(PAGE, "utf8");
