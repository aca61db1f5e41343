// <grpo-token-inspector>: the loss of a completion, token by token (catalogue W13).
import { tokenLoss } from "../core/loss.mjs";
import { barCell } from "../ui/bar_cell.mjs";
import { choice } from "../ui/controls.mjs";
import { Explorable } from "../ui/explorable.mjs";
import { fixed, signed } from "../ui/format.mjs";
import { table } from "../ui/table.mjs";
import { element } from "../ui/element.mjs";
import { picks } from "../ui/picks.mjs";

/** A completion with made-up probabilities: [token, old, now, ref]. */
const TOKENS = [
  ["The", 0.9, 0.92, 0.91], ["answer", 0.8, 0.8, 0.82], ["is", 0.95, 0.93, 0.95],
  ["1", 0.4, 0.62, 0.35], ["4", 0.5, 0.58, 0.45], [".", 0.7, 0.5, 0.72],
];
const ADVANTAGES = { right: Math.sqrt(5 / 3), wrong: -Math.sqrt(3 / 5) }; // three right samples of eight

class TokenInspector extends Explorable {
  static source = "Schematic: the probabilities are made up. What follows from them is computed here.";
  static controls = {
    token: { control: picks, label: "Token", options: TOKENS.map(([text], i) => [String(i), text]), initial: "3" },
    sample: {
      control: choice, label: "The answer is", initial: "right",
      options: [["right", "right, A = +1.291"], ["wrong", "wrong, A = −0.775"]],
    },
  };

  build() {
    this.one = table({ caption: "The chosen token", columns: ["Quantity", "Value"] });
    this.all = table({ caption: "All tokens", columns: ["Token", "ρ", "clip", "k3", "loss"] });
    return [element("div", { class: "grpo-pair" }, this.one.node, this.all.node)];
  }

  parts({ sample }) {
    return TOKENS.map(([, old, now, ref]) => tokenLoss({ old, now, ref, advantage: ADVANTAGES[sample] }));
  }

  draw(state) {
    const [, old, now, ref] = TOKENS[state.token];
    const parts = this.parts(state);
    const { ratio, surrogate, k3, penalty, loss } = parts[state.token];
    this.one.fill([
      ["π_old", barCell(fixed(old), old, "old")], ["π_θ", barCell(fixed(now), now)],
      ["π_ref", barCell(fixed(ref), ref, "reference")],
      ["ρ = π_θ / π_old", fixed(ratio, 3)],
      ["surrogate", signed(surrogate, 4)], ["k3", fixed(k3, 4)], ["β · k3", fixed(penalty, 4)],
      ["loss", signed(loss, 4)],
    ]);
    const mean = (name) => parts.reduce((total, part) => total + part[name], 0) / parts.length;
    this.all.fill([
      ...parts.map((part, i) => [`${TOKENS[i][0]}${String(i) === state.token ? " ◂" : ""}`,
        fixed(part.ratio, 3), part.bound ? "binds" : "–", fixed(part.k3, 4), signed(part.loss, 4)]),
      ["mean", "", "", fixed(mean("k3"), 4), signed(mean("loss"), 4)],
    ]);
  }

  lesson(state) {
    const { ratio, bound } = this.parts(state)[state.token];
    const outside = Math.abs(ratio - 1) > 0.2;
    const clip = bound ? "The clip binds: only the KL still moves it."
      : outside ? "It is outside the band, but on the side that does not pay, so the clip does nothing."
        : "It is inside the band, so the clip does nothing.";
    return `Token “${TOKENS[state.token][0]}” is ${fixed(ratio)} times as likely as when it was drawn. ${clip}`;
  }
}

customElements.define("grpo-token-inspector", TokenInspector);
