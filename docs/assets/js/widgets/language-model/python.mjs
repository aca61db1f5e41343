// The same run in Python: the command of `run_charlm`, or a script where the reward is the reader's own.
import { BLOCKS } from "../../core/lm/reward.mjs";
import { element } from "../../ui/element.mjs";
import { SETTINGS, prompts, shown, usual } from "./settings.mjs";

/** Setting to [option of run_charlm, field of CharLMConfig]. */
const OPTIONS = {
  g: ["--group-size", "group_size"], p: ["--prompts-per-step", "prompts_per_step"], lr: ["--lr", "lr"], inner: ["--inner-steps", "inner_steps"],
  eps: ["--clip-eps", "clip_eps"], beta: ["--kl-coef", "kl_coef"], level: ["--level", "loss_level"], ratio: ["--ratio-level", "ratio_level"],
  tokens: ["--max-new-tokens", "max_new_tokens"], steps: ["--steps", "steps"],
};

/** Settings that exercise 5 does not have, in words; "" if all are there. */
export const missing = (state) => ["high", "t", "std"].filter((name) => state[name] !== SETTINGS[name].value)
  .map((name) => `${SETTINGS[name].label} ${shown(name, state[name])}`).join(", ");

/** The command of a run of one of the two tasks. */
export function command(state) {
  const changed = Object.entries(OPTIONS).filter(([name]) => state[name] !== usual(name, state.task)).map(([name, [option]]) => `${option} ${state[name]}`);
  const task = state.task === "sums" ? ["--task arithmetic"] : [];
  return ["python -m starter.run_charlm", ...task, ...changed, `--seed ${state.seed}`, "--out charlm-tab"].join(" ");
}

/** The reward as an expression of Python; without sums for prompts, no completion is near a right sum. */
export const expression = (terms, sums) => terms.map(({ times, factors }) => [times, ...factors.map(({ name, not, argument }) => {
  const known = sums || !["right", "close"].includes(name);
  const one = known ? BLOCKS[name].python(typeof argument === "string" ? JSON.stringify(argument) : argument) : "0.0";
  return not ? `(1 - ${one})` : one;
})].join(" * ")).join(" + ");

const HELPERS = {
  "right_sum(": ["from starter.given.charlm_task import right_sum", ""],
  "closeness(": ["import re", `

def closeness(prompt, text):
    """1 for the right sum, a tenth less for each one that it is off, 0 without a number."""
    right, found = sum(map(int, prompt[:-1].split("+"))), re.search(r"[0-9]+", text)
    return max(0.0, 1 - abs(int(found[0]) - right) / 10) if found else 0.0
`],
};

/** A script for a reader's own reward. */
export function script(state) {
  const sums = state.prompt === "sums";
  const sum = expression(state.terms, sums);
  const used = Object.entries(HELPERS).filter(([name]) => sum.includes(name)).map(([, parts]) => parts);
  const config = Object.entries(OPTIONS).map(([name, [, field]]) => `    ${field}=${JSON.stringify(state[name])},`).join("\n");
  return `"""Save as tab_run.py in the folder that contains starter/, then: python tab_run.py"""

import csv
${used.map(([line]) => line).filter((line) => line.startsWith("import")).map((line) => `${line}\n`).join("")}
import torch

from starter.charlm import train
from starter.given.charlm_model import load_model
from starter.given.charlm_sampling import make_generator
${sums ? "from starter.given.charlm_task import ADDITION_PROMPTS\n" : ""}${used.map(([line]) => line).filter((line) => line.startsWith("from")).map((line) => `${line}\n`).join("")}from starter.given.charlm_training import CharLMConfig
${used.map(([, code]) => code).join("")}

def reward(prompts, completions):
    return torch.tensor([one(prompt, text) for prompt, text in zip(prompts, completions)], dtype=torch.float32)


def one(prompt, text):
    return ${sum}


if __name__ == "__main__":
    config = CharLMConfig(
${config.replace(/^/gm, "    ")}
    )
    policy, ref_policy = load_model(), load_model()
    prompt = ${sums ? "ADDITION_PROMPTS" : JSON.stringify(prompts(state)[0])}
    history = train(policy, ref_policy, prompt, reward, config, generator=make_generator(${state.seed}))
    with open("metrics.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, history[0].keys())
        writer.writeheader()
        writer.writerows(history)
    print(f"mean reward {history[0]['mean_reward']:.2f} first, {history[-1]['mean_reward']:.2f} last; metrics.csv written")
`;
}

/** What the fold of the page shows. */
export function inPython(state, copyButton) {
  const own = state.task === "own";
  const text = own ? script(state) : command(state);
  const left = missing(state);
  return [
    element("p", {}, own ? "A script that trains with your reward and your own functions from the exercises:" : "The command that trains with these settings and your own functions from the exercises:"),
    element("pre", { tabindex: "0" }, element("code", {}, text)), copyButton(text),
    element("p", {}, `It draws other random numbers than the tab, so the curves differ as two seeds do.${left ? ` Exercise 5 has no setting for: ${left}. Python runs without it.` : ""}`),
  ];
}
