// One token's term of the loss, with all its numbers: from log-probabilities to the push.
import { element } from "../../ui/element.mjs";
import { fixed, percent, signed } from "../../ui/format.mjs";
import { plain } from "./completions.mjs";

/** { node, draw(null, or { run, step, group, chosen }) }. */
export function termView() {
  const title = element("h2", { class: "grpo-title" }, "One token");
  const lines = element("dl", { class: "lm-lines" });
  const note = element("p", { class: "grpo-readout" });
  const node = element("section", { class: "lm-one", "aria-label": "Term of the loss of a token", "aria-live": "polite" }, title, note, lines);

  function draw(asked) {
    if (!asked) {
      title.textContent = "One token";
      note.textContent = "Press a letter of a completion: here stands its term of the loss, with every number.";
      return lines.replaceChildren();
    }
    const { run, step, group, chosen } = asked;
    const row = run.group(step, group)[chosen.row];
    const t = chosen.letter;
    title.textContent = `Step ${step}, completion ${chosen.row + 1}: “${plain(row.text[t])}” after “${row.prompt}${row.text.slice(0, t)}”`;
    const change = 100 * (Math.exp(row.after[t]) - Math.exp(row.old[t]));
    note.textContent = `The step takes it from ${percent(Math.exp(row.old[t]), 1)} to ${percent(Math.exp(row.after[t]), 1)} (${signed(change, 1)} points).`;
    lines.replaceChildren(...explained(run.state, row, t).flatMap(([name, formula, value]) =>
      [element("dt", {}, name), element("dd", {}, formula, value === undefined ? "" : element("b", {}, ` ${value}`))]));
  }
  return { node, draw };
}

/** Lines [name, formula, result] of a token's term. */
export function explained(state, { old, now, ref, advantage, tokens, text }, t) {
  const { ratio, bound, surrogate, k3, weight, term, push } = tokens[t];
  const high = state.high || state.eps;
  const n = (x, digits = 4) => fixed(x, digits);
  const bracketed = (x) => (x < 0 ? `(${n(x)})` : n(x));
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const sequence = state.ratio === "sequence";
  const weightOf = state.level === "token" ? "1 / all letters of the batch" : `1 / (${state.g * state.p} completions · ${text.length} letters)`;
  return [
    ["log π_old", "when it was drawn:", n(old[t])],
    ["log π_θ", "in the last update of the batch:", n(now[t])],
    ["log π_ref", "before all training:", n(ref[t])],
    ["ratio ρ", sequence ? `exp(mean of log π_θ − log π_old) = exp(${n(mean(now) - mean(old))}) =` : `exp(${n(now[t])} − ${bracketed(old[t])}) =`, n(ratio)],
    ["advantage A", "of the whole completion:", signed(advantage, 4)],
    ["clip", `from ${fixed(1 - state.eps)} to ${fixed(1 + high)}:`, bound ? "binds, no gradient from the reward" : "does not bind"],
    ["surrogate", bound ? `clipped ρ · A =` : `ρ · A = ${n(ratio)} · ${bracketed(advantage)} =`, n(surrogate)],
    ["k3", `exp(x) − 1 − x, with x = log π_ref − log π_θ = ${n(ref[t] - now[t])}:`, n(k3)],
    ["weight w", `${weightOf} =`, n(weight, 5)],
    ["loss term", `w · (β · k3 − surrogate) = ${n(weight, 5)} · (${state.beta} · ${n(k3)} − ${bracketed(surrogate)}) =`, n(term, 5)],
    ["push", `−∂loss / ∂log π_θ = w · (ρ · A + β · (exp(x) − 1)) = ${n(weight, 5)} · (${bound ? "0" : n(ratio * advantage)} + ${state.beta} · ${bracketed(k3 + ref[t] - now[t])}) =`, signed(push, 5)],
  ];
}
